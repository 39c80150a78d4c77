"""A flow's text as a tree of plain data that remembers where each part stands."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from flowengine.flow.diagnostic import Diagnostic, Finding, Patch, Path, pointer

EXCERPT_WIDTH = 100


class Span(NamedTuple):
    """Characters of the file's text, from `start` up to `end`."""

    start: int
    end: int


class Origin(NamedTuple):
    """Where a part was written, if it was not where it stands now."""

    source: Source
    path: Path


@dataclass(slots=True)
class Node:
    """A scalar, or a mapping or list of further nodes; an aliased node is shared."""

    kind: Literal["map", "list", "scalar"]
    span: Span
    value: Any = None
    style: str = ""
    """How a scalar is quoted (`'`, `"`, `|`, `>` or plain); `flow` for `{...}` and `[...]`."""
    children: dict[str | int, Node] = field(default_factory=dict["str | int", "Node"])
    """By key, or by the index that the item has in the file."""
    keys: dict[str | int, Span] = field(default_factory=dict["str | int", "Span"])
    size: int = 1
    height: int = 1
    origin: Origin | None = None
    """Known to the parts of a flow that uses fragments."""
    given: dict[str, Origin] = field(default_factory=dict[str, Origin])
    """Words in a text that stood for parameters, and where each was given."""

    def plain(self) -> Any:
        """The data alone."""
        if self.kind == "map":
            return {key: child.plain() for key, child in self.children.items()}
        if self.kind == "list":
            return [child.plain() for child in self.children.values()]
        return self.value

    def step(self, step: str | int) -> tuple[str | int, Node] | None:
        """The child at a key or a position, and the name it has in the file."""
        if self.kind == "list" and isinstance(step, int) and step < len(self.children):
            return list(self.children.items())[step]
        child = self.children.get(step) if self.kind == "map" else None
        return (step, child) if child else None


class Source:
    """The text of one file, and the tree that was read from it (None if it could not be).

    Without a name it stands for data that was built in Python: nothing in it has a line.
    """

    def __init__(self, file: str, text: str, root: Node | None = None) -> None:
        self.file = file
        self.text = text
        self.root = root
        self.spliced: Node | None = None
        """The tree of the whole flow, where fragments of this and of other files are in place."""

    @cached_property
    def _starts(self) -> list[int]:
        ends = [i + 1 for i, char in enumerate(self.text) if char == "\n"]
        return [0, *ends]

    def node(self, path: Path) -> Node | None:
        """The node at a path of the file, or None."""
        here = self.root
        for step in path:
            here = here.children.get(step) if here else None
        return here

    def in_file(self, path: Path) -> Path:
        """A path of the flow as the file spells it, where a short form leaves steps out."""
        here, spelled = self.root, list[str | int]()
        for step in path:
            if here and here.kind == "list" and isinstance(step, str):
                continue
            spelled.append(step)
            here = here.children.get(step) if here else None
        return tuple(spelled)

    def locate(self, finding: Finding) -> Diagnostic:
        """The finding in its place: line, column and excerpt."""
        source, finding = self._written(finding)
        return source._locate(finding)

    def _written(self, finding: Finding) -> tuple[Source, Finding]:
        """A finding about a spliced part as one about the text that the part was written in."""
        here, depth = self.spliced, 0
        for step in finding.path if here else ():
            child = here.children.get(step) if here else None
            short = child is None and here and here.kind == "list" and isinstance(step, str)
            if child is None and not short:
                break
            here, depth = child or here, depth + 1
        if here is None or here.origin is None or here.origin == (self, finding.path[:depth]):
            return self, finding
        if finding.word in here.given:
            source, path = here.given[finding.word]
            return source, finding._replace(path=path, fix=(), within=None, on_key=False)
        source, path = here.origin
        told = finding.word.rpartition(".")[2]
        path = (*path, *finding.path[depth:])
        written = source.node(path)
        same = written is not None and written.value == here.value
        within = finding.within if same else None
        return source, finding._replace(path=path, fix=(), word=told, within=within)

    def _locate(self, finding: Finding) -> Diagnostic:
        written = self.in_file(finding.path)
        fix = _moved(finding.fix, pointer(finding.path), pointer(written))
        finding = finding._replace(path=written)
        span = finding.span or self._span(finding)
        line, column = self.position(span[0])
        return Diagnostic(
            code=finding.code,
            message=finding.message,
            path=pointer(finding.path),
            severity=finding.severity,
            file=self.file,
            line=line if self.file else None,
            column=column if self.file else None,
            excerpt=self.excerpt(*span) if self.file else "",
            suggestion=finding.suggestion,
            fix=fix,
        )

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def _span(self, finding: Finding) -> tuple[int, int]:
        here = parent = self.root
        for depth, step in enumerate(finding.path):
            parent, here = here, here.children.get(step) if here else None
            if here is None:
                return self._word(parent, finding) or self._nearest(parent, finding.path[:depth])
        if here is None:
            return (0, 0)
        if finding.on_key and parent and finding.path[-1] in parent.keys:
            return parent.keys[finding.path[-1]]
        return self._part(here, finding)

    def _nearest(self, node: Node | None, path: Path) -> tuple[int, int]:
        """What stands for something absent: the key of the mapping it is missing from."""
        if node is None:
            return (0, 0)
        holder = self.node(path[:-1]) if path else None
        if holder and path[-1] in holder.keys:
            return holder.keys[path[-1]]
        return (node.span.start, self._line_end(node.span.start))

    def _part(self, node: Node, finding: Finding) -> tuple[int, int]:
        if node.kind != "scalar":
            return self._first_line(node)
        if finding.within:
            return self._inside(node, *finding.within)
        return self._word(node, finding) or self._first_line(node)

    def _first_line(self, node: Node) -> tuple[int, int]:
        return (node.span.start, min(node.span.end, self._line_end(node.span.start)))

    def _word(self, node: Node | None, finding: Finding) -> tuple[int, int] | None:
        at = self.text.find(finding.word, *node.span) if node and finding.word else -1
        return (at, at + len(finding.word)) if at >= 0 else None

    def _inside(self, node: Node, offset: int, length: int) -> tuple[int, int]:
        """Where character `offset` of a scalar's value stands in the text."""
        start, end = node.span
        text = self.text[start:end]
        if node.style == "|":
            return self._inside_block(node, offset, length)
        if node.style == ">" or "\n" in text or (node.style == '"' and "\\" in text):
            return (start, self._line_end(start))
        if node.style == "'":
            quoted = node.value[:offset].count("'")
            return (start + 1 + offset + quoted, start + 1 + offset + quoted + length)
        start += offset + (1 if node.style == '"' else 0)
        return (start, start + length)

    def _inside_block(self, node: Node, offset: int, length: int) -> tuple[int, int]:
        before = str(node.value)[:offset]
        line = bisect_right(self._starts, node.span.start) + before.count("\n")
        if line >= len(self._starts):
            return (node.span.start, node.span.end)
        first = self._starts[line]
        own = self.text[first : self._line_end(first)]
        written = str(node.value).split("\n")[before.count("\n")]
        at = first + max(own.find(written), 0) + offset - (before.rfind("\n") + 1)
        return (at, at + length)

    def _line_end(self, offset: int) -> int:
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end

    def excerpt(self, start: int, end: int) -> str:
        """The line before, the line itself underlined, the line after."""
        line, column = self.position(start)
        gutter = len(str(line + 1)) + 1
        shown: list[str] = []
        for number in (line - 1, line, line + 1):
            if not 1 <= number <= len(self._starts):
                continue
            text, cut = self._shown(number, column if number == line else 1)
            if number == line or text.strip():
                shown.append(f"{number:>{gutter}} | {text}".rstrip())
            if number == line:
                before = text[: column - 1 - cut]
                length = max(1, min(end, self._line_end(start)) - start)
                under = text[column - 1 - cut :][:length] or "^"
                shown.append(f"{'':>{gutter}} | {_blank(before)}{'^' * _width(under)}")
        return "\n".join(shown)

    def _shown(self, number: int, column: int) -> tuple[str, int]:
        start = self._starts[number - 1]
        cut = max(0, column - EXCERPT_WIDTH // 2) if column > EXCERPT_WIDTH else 0
        line = self.text[start : self._line_end(start)].rstrip("\r")
        return line[cut : cut + EXCERPT_WIDTH], cut


def _moved(fix: Patch, path: str, written: str) -> Patch:
    return tuple({**op, "path": written} if op["path"] == path else op for op in fix)


def _blank(text: str) -> str:
    return "".join("\t" if char == "\t" else " " * _width(char) for char in text)


def _width(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide
