"""One use of a fragment: its sections with the names and values of that use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from flowengine.errors import GuardError
from flowengine.flow.action import TextFunction
from flowengine.flow.diagnostic import Finding, unknown
from flowengine.flow.filling import Absent, GuardFiller
from flowengine.flow.fragment import Fragment
from flowengine.flow.parameters import MENTION, NAMES, mentioned, value_text
from flowengine.flow.renaming import Scope
from flowengine.flow.roles import EACH, walk
from flowengine.flow.source import Node, Origin
from flowengine.guards import Guard
from flowengine.guards.spelling import MAX_TEXT

_DOLLAR = re.compile(rf"\$\$|{MENTION.pattern}")
_WORD = re.compile(r"[\w.:-]+")
_SLOT = re.compile(r"(?<=\{)[^{}?\n]+")
_TYPES: dict[str, tuple[list[Any], str]] = {
    "guard": ([Guard], ""),
    "text": ([TextFunction, str], ""),
}


class Instance:
    """The visitor that renames what a fragment declares and fills in what a use gives."""

    def __init__(
        self,
        fragment: Fragment,
        scope: Scope,
        leading: Mapping[str, Node],
        find: Callable[[Node], Fragment | None],
    ) -> None:
        self.found: list[tuple[Node, Finding]] = []
        self._types: dict[str, str] = {n: spec.type for n, spec in fragment.parameters.items()}
        self._values: dict[str, Node | None] = {}
        self._scope, self._leading, self._find = scope, leading, find
        self._fill = GuardFiller(self._types, self._values)

    def take(self, name: str, node: Node | None) -> None:
        """A use gives this for a parameter."""
        is_null = node is None or (node.kind == "scalar" and node.value is None)
        self._values[name] = None if is_null else node

    def take_default(self, name: str, node: Node) -> None:
        """The fragment's own value: it may name what the fragment declares."""
        value = self.typed(node, self._types[name])
        if value and value.kind == "map" and self._types[name] == "keys":
            value = _keys(value)
        self.take(name, value)

    def typed(self, node: Node, kind: str) -> Node | None:
        """A value in the fragment for a parameter of that type."""
        if node.kind == "scalar" and node.value is None:
            return None
        types, role = _TYPES.get(kind, ([], NAMES.get(kind, "")))
        return walk(node, types, self, role)

    def given(self, node: Node) -> tuple[Node | None] | None:
        name = mentioned(node.value)
        return (self._values.get(name),) if name in self._types else None

    def name(self, node: Node, kind: str) -> Node | None:
        text, kind = str(node.value), kind.removeprefix("+")
        if "$" in text:
            return self.text(node, "")
        if kind.startswith("phase") and text in self._leading:
            return self._leading[text]
        if kind == "phase" and not self._scope.leads_to(text):
            known = self._scope.places()
            self.found.append(
                (node, unknown("unknown_phase", "phase", text, known, ())._replace(fix=()))
            )
            return None
        renamed = self._scope.renamed(text, kind)
        return None if renamed is None else replace(node, value=renamed)

    def key(self, text: str, kind: str, declared: bool) -> str | None:
        name = mentioned(text)
        if name in self._types:
            node = self._values.get(name)
            return None if node is None else value_text(node)
        return self._scope.renamed(text, kind) if kind else text

    def rounds(self, node: Node) -> Iterator[Node]:
        over = node.children.get(EACH)
        if over is None:
            yield node
            return
        one = replace(node, children={s: c for s, c in node.children.items() if s != EACH})
        types, values = dict(self._types), dict(self._values)
        given = walk(over, [], self)
        for step, child in given.children.items() if given else ():
            name = value_text(child) if isinstance(step, int) else step
            self._types |= {"key": "key", "value": "any"}
            self._values["key"] = replace(child, kind="scalar", value=name, children={})
            self.take("value", child)
            yield one
            self._rebind(types, values)

    def _rebind(self, types: dict[str, str], values: dict[str, Node | None]) -> None:
        for own, kept in ((self._types, types), (self._values, values)):
            own.clear()
            own.update(kept)  # pyright: ignore[reportArgumentType, reportCallIssue]

    def guard(self, node: Node, of_value: bool) -> Node | None:
        if of_value:  # `value` is the field's own
            scope = replace(self._scope, declared=_without_value(self._scope.declared))
        else:
            scope = self._scope
        strangers = [found for found in MENTION.finditer(str(node.value)) if not self._knows(found)]
        for found in strangers:
            self._unknown(node, found[1] or found[2], found[0])
        if strangers:
            return None
        try:
            read = self._fill.read if isinstance(node.value, str) else Guard.from_json
            guard = self._fill.fill(scope.guard(read(node.plain())))
        except GuardError:
            return self.text(node, "") if node.kind == "scalar" else node
        except Absent as absent:
            message = f"the condition asks about `{absent.name}`, for which nothing was given"
            self.found.append((node, Finding("missing_parameter", message)))
            return None
        return None if guard is None else self._noted(guard_node(node, guard), node.plain())

    def _knows(self, found: re.Match[str]) -> bool:
        return (found[1] or found[2]) in self._types

    def text(self, node: Node, role: str) -> Node:
        text = str(node.value)
        if role in ("template", "request"):
            text = _SLOT.sub(lambda slot: self._slot(slot[0], role), text)
        filled = _DOLLAR.sub(lambda found: self._dollar(node, found, role), text)
        return self._noted(replace(node, value=filled), text) if filled != node.value else node

    def _slot(self, name: str, role: str) -> str:
        stripped = name.strip()
        if "$" in name or stripped.startswith("args."):
            return name
        if role == "request":
            head, dot, key = stripped.partition(".")
            return f"{head}{dot}{self._scope.renamed(key, 'key')}" if head == "state" else name
        return self._scope.renamed(stripped, "key") or name

    def _dollar(self, node: Node, found: re.Match[str], role: str) -> str:
        name = found[1] or found[2]
        if not name:
            return "$"
        if name in self._types:
            value = self._values.get(name)
            return "" if value is None else value_text(value)
        if role == "json":
            return found[0]
        self._unknown(node, name, found[0])
        return found[0]

    def _unknown(self, node: Node, name: str, written: str) -> None:
        finding = unknown("unknown_parameter", "parameter", name, self._types, ())
        cure = finding.suggestion or "write `$$` for a dollar sign"
        self.found.append((node, finding._replace(suggestion=cure, fix=(), word=written)))

    def use(self, node: Node, model: type[BaseModel]) -> dict[str, Node]:
        """A fragment in a fragment: what it is given is named by its parameters' types."""
        parts: dict[str, Node] = {"use": node.children["use"]}
        inner = self._find(node.children["use"])
        if (given := node.children.get("with")) and inner:
            types = {name: spec.type for name, spec in inner.parameters.items()}
            values = {
                name: self.typed(child, types.get(str(name), "any"))
                for name, child in given.children.items()
            }
            kept = {name: value for name, value in values.items() if value is not None}
            parts["with"] = replace(given, children=kept)
        if exits := node.children.get("exits"):
            leading = {e: self._leads(child) for e, child in exits.children.items()}
            kept = {exit: phase for exit, phase in leading.items() if phase is not None}
            parts["exits"] = replace(exits, children=kept)
        return parts

    def _leads(self, node: Node) -> Node | None:
        replaced = self.given(node)
        return replaced[0] if replaced else self.name(node, "phase")

    def _noted(self, node: Node, before: Any) -> Node:
        """The node, with where the values in it were given."""
        origins: dict[str, Origin] = {}
        for found in MENTION.finditer(str(before)):
            value = self._values.get(found[1] or found[2])
            for part in (value, *value.children.values()) if value else ():
                if part.origin and isinstance(part.value, str):
                    origins |= dict.fromkeys(_words(part.value), part.origin)
        return replace(node, given=origins) if origins else node


def guard_node(node: Node, guard: Guard) -> Node:
    """The guard as text, or in its JSON form where the text would be longer than is read."""
    text = str(guard)
    if len(text) <= MAX_TEXT:
        return replace(node, kind="scalar", value=text, children={}, keys={})
    return grown(guard.to_json(), node)


def grown(data: Any, node: Node) -> Node:
    """Plain data as a tree that stands where `node` does."""
    children: dict[str | int, Node] = {}
    if isinstance(data, dict):
        children = {str(k): grown(v, node) for k, v in data.items()}  # pyright: ignore
        return replace(node, kind="map", value=None, children=children, keys={})
    if isinstance(data, list | tuple):
        children = {at: grown(item, node) for at, item in enumerate(data)}  # pyright: ignore
        return replace(node, kind="list", value=None, children=children, keys={})
    return replace(node, kind="scalar", value=data, style="", children={}, keys={})


def _keys(fields: Node) -> Node:
    """The keys that the fields of a record fill."""
    children: dict[str | int, Node] = {}
    for at, (name, spec) in enumerate(fields.children.items()):
        to = spec.children.get("to")
        children[at] = to or replace(spec, kind="scalar", value=str(name), children={}, keys={})
    return replace(fields, kind="list", children=children, keys={})


def _words(text: str) -> set[str]:
    """What may be named in a value: all of it, and each word of a condition."""
    return {text, *_WORD.findall(text)}


def _without_value(declared: Mapping[str, set[str]]) -> Mapping[str, set[str]]:
    return {kind: names - {"value"} for kind, names in declared.items()}
