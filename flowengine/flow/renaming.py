"""The names that a fragment declares, and what each is called under a use's namespace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import get_args

from pydantic import BaseModel

from flowengine.flow.roles import walk_section
from flowengine.flow.source import Node
from flowengine.guards import Guard, names_of, rename
from flowengine.guards.lookup import splits
from flowengine.guards.words import NameKind
from flowengine.inputs import Json

HERE = "here"
"""What a fragment calls the phase that uses it."""

_PREFIXED = {"repair": "phase", "verbatim": "phase", "compensated": "tool", "decision": "decision"}
"""Prefixes that are followed by a name of another kind than a key's."""

_PLACES = ("phase", "digression", "region")
"""What may use a fragment, whose names then begin with it."""

_HOLDERS = ("record", "extractor", "resolver", *_PLACES)
"""What keys may be called after: `{record}.{field}`, `{resolver}:result`, names of inner uses."""

_WRITERS = ("record", "extractor", "tool", "decision", "resolver", "phase")


@dataclass(frozen=True)
class Scope:
    """What the names of a fragment mean where it is used."""

    namespace: str
    declared: Mapping[str, set[str]]
    exits: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Exit -> phase of the flow; None if it is left out."""

    def renamed(self, name: str, kind: str) -> str | None:
        """The name in the flow; None for an exit that is left out."""
        match kind:
            case "key":
                return self._key(name)
            case "phase":
                return self._phase(name)
            case "writer":
                return self._writer(name)
            case "phase or tool":
                is_phase = name in self.exits or self._is_local(name, "phase")
                return self.renamed(name, "phase" if is_phase else "tool")
            case "callable":
                kinds = (k for k in ("resolver", "tool", "extractor") if self._is_local(name, k))
                return self.spaced(name) if next(kinds, None) else name
            case _:
                return self.spaced(name) if self._is_local(name, kind) else name

    def places(self) -> list[str]:
        """What its transitions may lead to."""
        return [*sorted(self.declared.get("phase", ())), *self.exits, HERE]

    def leads_to(self, phase: str) -> bool:
        return phase in self.places() or self._is_local(phase, "phase")

    def spaced(self, name: str) -> str:
        """`ask` -> `ns.ask`."""
        return f"{self.namespace}.{name}"

    def guard(self, guard: Guard) -> Guard:
        """The guard with the flow's names."""
        kinds: tuple[NameKind, ...] = get_args(NameKind)
        for kind in kinds:
            names = {n.removeprefix("derived:"): n for n in names_of(guard, kind)}
            mapping = {bare: self.renamed(bare, kind) or bare for bare in names}
            guard = rename(guard, mapping, kind)
        return guard

    def _is_local(self, name: str, kind: str) -> bool:
        """Declared here, or by a fragment that is used inside: `confirm.ask` within `confirm`."""
        head, dot, _ = name.partition(".")
        inner = dot and any(head in self.declared.get(k, ()) for k in _PLACES)
        return bool(inner) or name in self.declared.get(kind, ())

    def _phase(self, name: str) -> str | None:
        if name == HERE:
            return self.namespace
        if name in self.exits:
            return self.exits[name]
        return self.spaced(name) if self._is_local(name, "phase") else name

    def _key(self, name: str) -> str:
        for head, rest in splits(name):
            if head in self.declared.get("key", ()):
                prefix, colon, last = head.rpartition(
                    ":"
                )  # a prefix is a lifetime: it stays in front
                return ".".join((f"{prefix}{colon}{self.spaced(last)}", *rest))
        if self._is_holder(name.partition(".")[0]):
            return self.spaced(name)
        prefix, colon, rest = name.partition(":")
        if not colon:
            return name
        if self._is_holder(prefix):
            return f"{self.spaced(prefix)}:{rest}"
        if prefix in _PREFIXED and rest:
            inner, sign, signal = rest.partition(":")
            return f"{prefix}:{self.renamed(inner, _PREFIXED[prefix]) or inner}{sign}{signal}"
        return f"{prefix}:{self._key(rest)}"

    def _is_holder(self, name: str) -> bool:
        return any(name in self.declared.get(kind, ()) for kind in _HOLDERS)

    def _writer(self, name: str) -> str:
        kind, colon, rest = name.partition(":")
        return f"{kind}:{self.renamed(rest, kind)}" if colon and kind in _WRITERS else name


def declared_in(body: Mapping[str, Node], defaults: Mapping[str, Json]) -> dict[str, set[str]]:
    """Kind -> the names that the sections of a fragment declare.

    A parameter is none of them, but its default is where the fragment declares what it names.
    """
    found = _Declared(defaults)
    for section, node in body.items():
        walk_section(section, node, found)
    return dict(found.names)


class _Declared:
    """A visitor that changes nothing and takes note of what is declared."""

    def __init__(self, defaults: Mapping[str, Json]) -> None:
        self._defaults = defaults
        self.names: dict[str, set[str]] = defaultdict(set)

    def given(self, node: Node) -> tuple[Node | None] | None:
        return None

    def name(self, node: Node, kind: str) -> Node | None:
        if kind.startswith("+"):
            self.key(str(node.value), kind[1:], True)
        return node

    def key(self, text: str, kind: str, declared: bool) -> str | None:
        name = self._defaults.get(text.removeprefix("$")) if text.startswith("$") else text
        if kind and declared and isinstance(name, str):
            self.names[kind].add(name)
        return text

    def rounds(self, node: Node) -> Iterator[Node]:
        yield node

    def guard(self, node: Node, of_value: bool) -> Node | None:
        return node

    def text(self, node: Node, role: str) -> Node:
        return node

    def use(self, node: Node, model: type[BaseModel]) -> dict[str, Node]:
        return used(node)


def used(node: Node) -> dict[str, Node]:
    """The keys by which a phase, a digression or a region uses a fragment."""
    return {step: node.children[step] for step in USE if step in node.children}


USE = ("use", "with", "exits")
