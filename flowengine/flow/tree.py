"""Builds the tree of a file from parser events, one pass, bounded in depth and in size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flowengine.flow.diagnostic import Finding
from flowengine.flow.source import Node, Span

MAX_DEPTH = 100
MAX_NODES = 200_000
MAX_ALIASES = 1_000


NOWHERE = Span(0, 0)


class Unreadable(Exception):
    """Text that yields no tree at all; `finding` says why."""

    def __init__(self, code: str, message: str, start: int, end: int, suggestion: str = "") -> None:
        super().__init__(message)
        self.finding = Finding(code, message, suggestion=suggestion, span=(start, end))


@dataclass(slots=True)
class _Open:
    node: Node
    anchor: str | None
    key: str | None = None
    key_span: Span = NOWHERE


class TreeBuilder:
    """Takes the events of a parser in order; `root` is the tree, `findings` what was odd in it."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.findings: list[Finding] = []
        self._stack: list[_Open] = []
        self._anchors: dict[str, Node | None] = {}
        self._aliases = 0
        self._nodes = 0

    def open(self, kind: Any, span: Span, *, style: str = "", anchor: str | None = None) -> None:
        """A mapping or a list begins."""
        self._refuse_as_key(span)
        if len(self._stack) >= MAX_DEPTH:
            raise Unreadable("too_deep", f"more than {MAX_DEPTH} levels of nesting", *span)
        if anchor:
            self._anchors[anchor] = None
        self._stack.append(_Open(Node(kind, span, style=style), anchor))

    def close(self, end: int) -> None:
        """The innermost mapping or list ends."""
        opened = self._stack.pop()
        node = opened.node
        node.span = Span(node.span.start, end)
        self._put(node, opened.anchor)

    def scalar(
        self, value: Any, span: Span, *, text: str, style: str = "", anchor: str | None = None
    ) -> None:
        """A key, or a value; keys are always text."""
        holder = self._stack[-1] if self._stack else None
        if holder and holder.node.kind == "map" and holder.key is None:
            if text == "<<" and not style:
                raise Unreadable("merge_key", "`<<` does not exist in YAML 1.2", *span, _NO_MERGE)
            holder.key, holder.key_span = text, span
            return
        self._put(Node("scalar", span, value, style), anchor)

    def alias(self, anchor: str, span: Span) -> None:
        """`*anchor`: the very node that `&anchor` names."""
        self._refuse_as_key(span)
        node = self._anchors.get(anchor)
        if node is None:
            raise self._bad_alias(anchor, span)
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            raise Unreadable("too_many_aliases", f"more than {MAX_ALIASES:,} aliases", *span)
        if len(self._stack) + node.height > MAX_DEPTH:
            raise Unreadable("too_deep", f"`*{anchor}` nests deeper than {MAX_DEPTH} levels", *span)
        self._put(node, None, span)

    def _bad_alias(self, anchor: str, span: Span) -> Unreadable:
        if anchor in self._anchors:
            return Unreadable("recursive_alias", f"`*{anchor}` contains itself", *span)
        return Unreadable("unknown_alias", f"`&{anchor}` does not come before `*{anchor}`", *span)

    def _put(self, node: Node, anchor: str | None, alias: Span | None = None) -> None:
        if anchor:
            self._anchors[anchor] = node
        span = alias or node.span
        self._count(1 if alias is None else node.size, alias, span)
        if not self._stack:
            self.root = node
            return
        holder = self._stack[-1]
        self._insert(holder, node, span)
        holder.node.size += node.size
        holder.node.height = max(holder.node.height, node.height + 1)

    def _insert(self, holder: _Open, node: Node, span: Span) -> None:
        parent = holder.node
        step = holder.key if holder.key is not None else len(parent.children)
        where = holder.key_span if holder.key is not None else span
        holder.key = None
        if step in parent.children:
            line = "this key was given before, in the same mapping"
            self.findings.append(
                Finding("duplicate_key", f"{step!r} stands here twice", span=where, suggestion=line)
            )
            return
        parent.children[step] = node
        parent.keys[step] = where

    def _count(self, nodes: int, alias: Span | None, span: Span) -> None:
        """Aliases are counted as what they stand for: the readers of a tree walk them all."""
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            if alias:
                message = f"aliases that stand for more than {MAX_NODES:,} values"
                raise Unreadable("too_many_aliases", message, *span)
            raise Unreadable("too_large", f"more than {MAX_NODES:,} values", *span)

    def _refuse_as_key(self, span: Span) -> None:
        holder = self._stack[-1] if self._stack else None
        if holder and holder.node.kind == "map" and holder.key is None:
            raise Unreadable("key_not_text", "a key is text, not a list or a mapping", *span)


_NO_MERGE = "write the keys out; what every phase shares belongs in `phase_defaults`"
