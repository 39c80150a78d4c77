"""`use`: a fragment's parts come into a flow under the name of what uses them.

It happens before a flow is validated, in its tree or its plain data, so that everything that reads
flows sees phases, keys and tools that an author could have written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import BaseModel

from flowengine.errors import GuardError
from flowengine.flow.diagnostic import Diagnostic, Finding, FlowFileError
from flowengine.flow.dump import plain
from flowengine.flow.fragment import Fragment
from flowengine.flow.instance import Instance, grown, guard_node
from flowengine.flow.library import Definition, Library, Open, marked
from flowengine.flow.model import Digression, Flow, Phase, Region
from flowengine.flow.parameters import faults
from flowengine.flow.renaming import USE, Scope
from flowengine.flow.roles import Types, section_types, walk_section
from flowengine.flow.shape import inside
from flowengine.flow.source import Node, Source, Span
from flowengine.guards import Guard, all_of

PLACES: Mapping[str, type[BaseModel]] = {
    "phases": Phase, "digressions": Digression, "monitors": Region, "regions": Region,
}  # fmt: skip
"""Where something may use a fragment."""

MOST_USES = 1_000
DEEPEST = 20


class Spliced(NamedTuple):
    """A flow's tree without `use` and without `fragments`."""

    root: Node
    diagnostics: list[Diagnostic]


def splice(root: Node, source: Source, open: Open | None = None) -> Spliced:
    """The whole flow; what cannot be used is reported and left out."""
    if "fragments" not in root.children and not _uses(root):
        return Spliced(root, [])
    splicing = _Splicing(marked(root, source, ()), open)
    source.spliced = splicing.flow()
    return Spliced(source.spliced, splicing.library.diagnostics)


def in_place(flow: Flow) -> Any:
    """The plain data of a flow that was built in Python, its fragments in place.

    Raises:
        FlowFileError: all that is wrong with fragments and their uses.
    """
    root = grown(plain(flow), Node("map", Span(0, 0)))
    spliced = splice(root, Source("", "", root))
    if spliced.diagnostics:
        raise FlowFileError(spliced.diagnostics)
    return spliced.root.plain()


def _uses(node: Node) -> bool:
    """Whether something in it uses a fragment."""
    for place in PLACES:
        holder = node.children.get(place)
        for part in holder.children.values() if holder else ():
            if "use" in part.children or _uses(part):
                return True
    return False


class _Splicing:
    def __init__(self, root: Node, open: Open | None) -> None:
        self.library = Library(root.children.get("fragments"), open)
        self._uses = 0
        children = {step: node for step, node in root.children.items() if step != "fragments"}
        self._root = replace(root, children=children)

    def flow(self) -> Node:
        own = {s: node for s, node in self._root.children.items() if s in PLACES}
        for section, node in own.items():
            placed = self._places(str(section), node, ())
            later = self._root.children[section].children  # what fragments have put there
            added = {n: part for n, part in later.items() if n not in node.children}
            children = {**placed.children, **added}
            self._root.children[section] = replace(placed, children=children)
        return self._root

    def _places(self, section: str, node: Node, chain: tuple[str, ...]) -> Node:
        """Phases, digressions or regions, each with the fragment that it uses in place."""
        if node.kind != "map":
            return node
        children: dict[str | int, Node] = {}
        for name, part in node.children.items():
            placed = self._place(str(name), part, PLACES[section], chain)
            is_left = section == "phases" or "use" not in part.children
            if (
                is_left or "phases" in placed.children
            ):  # else it lacks them because its use is wrong
                children[name] = placed
        return replace(node, children=children)

    def _place(self, name: str, node: Node, model: Any, chain: tuple[str, ...]) -> Node:
        if "use" in node.children:
            node, chain = self._used(name, node, model, chain)
        inner = {
            step: self._places(str(step), child, chain)
            for step, child in node.children.items()
            if step in ("phases", "regions")
        }
        return replace(node, children={**node.children, **inner}) if inner else node

    def _used(
        self, name: str, node: Node, model: type[BaseModel], chain: tuple[str, ...]
    ) -> tuple[Node, tuple[str, ...]]:
        own = replace(node, children={s: c for s, c in node.children.items() if s not in USE})
        definition = self.library.find(node.children["use"])
        if definition is None or self._is_wrong(definition, node, model, chain):
            return own, chain
        chain = (*chain, definition.name)
        body = self._instance(definition, name, node)
        for section, part in body.items():
            if section not in ("phase", "digression", "phases"):
                self._contribute(section, part, name, chain)
        root = body.get("digression" if model is Digression else "phase")
        root = root or Node("map", node.span, origin=definition.node.origin)
        if phases := body.get("phases"):
            root = replace(root, children={**root.children, "phases": phases})
        return merged(own, root, [model]), chain

    def _is_wrong(
        self, definition: Definition, node: Node, model: type[BaseModel], chain: tuple[str, ...]
    ) -> bool:
        use, name = node.children["use"], definition.name
        self._uses += 1
        if self._uses > MOST_USES or len(chain) >= DEEPEST:
            words = f"more than {MOST_USES:,} uses of fragments, or {DEEPEST} within each other"
            self.library.report(use, Finding("too_large", words))
            return True
        if name in chain:
            circle = " -> ".join([*chain[chain.index(name) :], name])
            self.library.report(
                use, Finding("fragment_cycle", f"fragments use themselves: {circle}")
            )
            return True
        misplaced = _misplaced(definition.fragment, model)
        if misplaced:
            words = f"fragment {name!r} is not for {misplaced[0]}"
            found = [(use, Finding("wrong_place", words, suggestion=misplaced[1]))]
        else:
            found = [*faults(definition.fragment, name, node)]
        for at, finding in found:
            self.library.report(at, finding)
        return bool(found)

    def _instance(self, definition: Definition, name: str, node: Node) -> dict[str, Node]:
        """The sections of a fragment as this use has them."""
        leading = {str(e): n for e, n in _children(node, "exits").items()}
        exits = {
            e: str(leading[e].value) if e in leading else None for e in definition.fragment.exits
        }
        instance = Instance(
            definition.fragment,
            Scope(name, definition.declared, exits),
            leading,
            self.library.header,
        )
        given = _children(node, "with")
        defaults = _children(definition.node, "parameters")
        for parameter in definition.fragment.parameters:
            if parameter in given:
                instance.take(parameter, given[parameter])
            elif default := _children_of(defaults.get(parameter)).get("default"):
                instance.take_default(parameter, default)
        walked = ((s, walk_section(s, n, instance)) for s, n in definition.body.items())
        body = {section: part for section, part in walked if part is not None}
        for at, finding in instance.found:
            self.library.report(at, finding)
        return body

    def _contribute(self, section: str, part: Node, name: str, chain: tuple[str, ...]) -> None:
        """Put a section into the flow's own: what has the same name is merged, the flow's first."""
        if section in PLACES:
            part = self._places(section, part, chain)
        own = self._root.children.get(section)
        if own is None:
            self._root.children[section] = part
            return
        for taken in own.children.keys() & part.children.keys() if part.kind == "map" else ():
            if str(taken).rpartition(":")[2].startswith(f"{name}."):
                message = f"{taken!r} is a name of the fragment that {name!r} uses"
                cure = "give yours another name, or use the fragment under another"
                found = Finding("name_taken", message, suggestion=cure, on_key=True)
                self.library.report(own.children[taken], found)
        self._root.children[section] = merged(own, part, section_types(section))


def merged(own: Node, other: Node, types: Types) -> Node:
    """Two parts in one: keys of both, lists one after the other, conditions joined by `and`.

    Where they say different things the flow's own word counts.
    """
    if Guard in types:
        return _joined(own, other)
    if own.kind != other.kind or own.kind == "scalar":
        return own
    if own.kind == "list":
        known = [child.plain() for child in own.children.values()]
        added = [child for child in other.children.values() if child.plain() not in known]
        start = max((step for step in own.children if isinstance(step, int)), default=-1) + 1
        return replace(own, children={**own.children, **dict(enumerate(added, start))})
    children = dict(own.children)
    for step, part in other.children.items():
        mine = children.get(step)
        inner = [t for annotation in types for t in inside(annotation, step)]
        children[step] = part if mine is None else merged(mine, part, inner)
    return replace(own, children=children, keys={**other.keys, **own.keys})


def _joined(own: Node, other: Node) -> Node:
    try:
        guard = all_of(Guard.from_json(own.plain()), Guard.from_json(other.plain()))
    except GuardError:
        return own
    return guard_node(own, guard)


def _misplaced(fragment: Fragment, model: type[BaseModel]) -> tuple[str, str] | None:
    """What it is used for, and where it could be, if this is no place for it."""
    if fragment.digression is not None and model is not Digression:
        return "a phase" if model is Phase else "a region", "use it under `digressions:`"
    if fragment.phase is not None and model is not Phase:
        return "a digression" if model is Digression else "a region", "use it under `phases:`"
    return None


def _children(node: Node, step: str) -> dict[str | int, Node]:
    return _children_of(node.children.get(step))


def _children_of(node: Node | None) -> dict[str | int, Node]:
    return node.children if node is not None and node.kind == "map" else {}
