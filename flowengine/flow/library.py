"""Where fragments come from: a flow, files beside it, the motifs that flowengine brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path as FilePath
from typing import NamedTuple, get_origin

from pydantic import ValidationError

from flowengine.flow.diagnostic import Diagnostic, Finding, FlowFileError, Path, in_order, unknown
from flowengine.flow.fragment import Fragment
from flowengine.flow.invalid import finding, placed
from flowengine.flow.renaming import HERE, declared_in
from flowengine.flow.roles import section_types
from flowengine.flow.source import Node, Origin, Source

MOTIFS = FilePath(__file__).parent / "motifs"
SECTIONS = tuple(
    name for name in Fragment.model_fields if name not in ("description", "parameters", "exits")
)

Open = Callable[[str], Source]
"""Reads a file of fragments, by its path beside the flow."""


class Definition(NamedTuple):
    """A fragment with where its parts stand."""

    name: str
    fragment: Fragment
    node: Node
    body: dict[str, Node]
    """Its sections, with every name in them written out."""
    declared: dict[str, set[str]]


class Library:
    """The fragments that a flow may use; `diagnostics` is what is wrong with them."""

    def __init__(self, section: Node | None, open: Open | None = None) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._open = open
        self._nodes: dict[str, Node] = {}
        self._read: dict[str, Definition | None] = {}
        if section is not None:
            self._add(section)

    def _add(self, section: Node) -> None:
        for child in section.children.values() if section.kind == "list" else [section]:
            if isinstance(child.value, str):
                self._add_file(child)
            elif child.kind == "map":
                self._nodes |= {str(name): node for name, node in child.children.items()}
            else:
                message = "`fragments` is a mapping, or a list of files"
                self.report(child, Finding("wrong_type", message))

    def _add_file(self, node: Node) -> None:
        if self._open is None:
            message = f"the file {node.value!r} is not looked for: this flow has no folder"
            cure = "in Python give `fragments=load_fragments(path)`"
            self.report(node, Finding("no_file", message, suggestion=cure))
            return
        try:
            source = self._open(str(node.value))
        except FlowFileError as error:
            [problem, *_] = error.diagnostics
            placed = problem.line is not None
            if placed:
                self.diagnostics += error.diagnostics
            else:
                found = Finding(problem.code, problem.message, suggestion=problem.suggestion)
                self.report(node, found)
            return
        fragments = source.root.children.get("fragments") if source.root else None
        if fragments is None or fragments.kind != "map":
            message = f"{node.value!r} has no `fragments:` in it"
            self.report(node, Finding("missing", message))
            return
        self._add(marked(fragments, source, ("fragments",)))

    def names(self) -> list[str]:
        """All there are, the flow's own first."""
        return [*dict.fromkeys([*self._nodes, *motif_names()])]

    def find(self, use: Node) -> Definition | None:
        """The fragment that is meant; None, with the reason reported, if it cannot be used."""
        if use.kind == "map":
            return self._define("fragment", use)
        name = str(use.value)
        if name not in self._read:
            node = self._nodes.get(name) or _motif(name)
            if node is None:
                found = unknown("unknown_fragment", "fragment", name, self.names(), _path(use))
                self.report(use, found)
                return None
            self._read[name] = self._define(name, node)
        return self._read[name]

    def fragments(self) -> dict[str, Fragment]:
        """All that were given.

        Raises:
            FlowFileError: all that is wrong with them.
        """
        found = {name: self._define(name, node) for name, node in self._nodes.items()}
        if self.diagnostics:
            raise FlowFileError(in_order(self.diagnostics))
        return {name: each.fragment for name, each in found.items() if each}

    def header(self, use: Node) -> Fragment | None:
        definition = self.find(use)
        return definition.fragment if definition else None

    def _define(self, name: str, node: Node) -> Definition | None:
        own = {step: n for step, n in node.children.items() if not str(step).startswith("x-")}
        try:
            fragment = Fragment.model_validate(replace(node, children=own).plain())
        except ValidationError as error:
            details = [dict(detail) for detail in error.errors(include_url=False)]
            for place in placed(node, details):
                if node.origin:
                    found = finding(place._replace(path=(*node.origin.path, *place.path)))
                    self.report(node, found, path=found.path)
            return None
        body = {str(k): explicit(str(k), n) for k, n in node.children.items() if k in SECTIONS}
        if not self._is_sound(body):
            return None
        defaults = {n: spec.default for n, spec in fragment.parameters.items()}
        declared = declared_in(body, defaults)
        for taken in declared.get("phase", set()) & {*fragment.exits, HERE}:
            message = f"{taken!r} is an exit, or the phase that uses the fragment"
            self.report(node, Finding("name_taken", message, word=taken))
        return Definition(name, fragment, node, body, declared)

    def _is_sound(self, body: dict[str, Node]) -> bool:
        """Every section is a mapping or a list, as in a flow."""
        sound = True
        for section, node in body.items():
            is_list = any(get_origin(t) is tuple for t in section_types(section))
            if node.kind != ("list" if is_list else "map"):
                kind = "a list" if is_list else "a mapping"
                self.report(node, Finding("wrong_type", f"`{section}` takes {kind}"))
                sound = False
        return sound

    def report(self, node: Node, found: Finding, path: Path | None = None) -> None:
        """Place a finding where the node was written."""
        source, own = node.origin or Origin(_NOWHERE, ())
        self.diagnostics.append(source.locate(found._replace(path=own if path is None else path)))


_NOWHERE = Source("", "")


def _path(node: Node) -> Path:
    return node.origin.path if node.origin else ()


def marked(node: Node, source: Source, path: Path) -> Node:
    """The part, each node of which knows where it was written."""
    children = {s: marked(child, source, (*path, s)) for s, child in node.children.items()}
    return replace(node, children=children, origin=Origin(source, path))


@cache
def motif_names() -> list[str]:
    """The fragments that flowengine brings."""
    return sorted(file.stem for file in MOTIFS.glob("*.yaml"))


@cache
def _motif(name: str) -> Node | None:
    from flowengine.flow.load import read_fragments  # loading stands on this file

    if name not in motif_names():
        return None
    source = read_fragments(MOTIFS / f"{name}.yaml")
    fragments = source.root.children["fragments"] if source.root else None
    return marked(fragments.children[name], source, ("fragments", name)) if fragments else None


def explicit(section: str, node: Node) -> Node:
    """A section in which defaults that are names are written out, so that renaming keeps them."""
    if node.kind == "map" and section == "records":
        return _each(node, lambda _, record: _inside(record, "fields", _with_target))
    if node.kind == "list" and section == "extract":
        return _each(node, lambda _, extract: _with_promotions(extract))
    if node.kind == "map" and section in ("tools", "resolvers"):
        return _each(node, _with_function)
    return node


def _each(node: Node, make: Callable[[str, Node], Node]) -> Node:
    if node.kind == "scalar":
        return node
    return replace(node, children={k: make(str(k), child) for k, child in node.children.items()})


def _inside(node: Node, step: str, make: Callable[[str, Node], Node]) -> Node:
    if step not in node.children:
        return node
    return replace(node, children={**node.children, step: _each(node.children[step], make)})


def _with(node: Node, key: str, value: str) -> Node:
    span = node.span
    text = Node("scalar", span, value, origin=node.origin)
    return replace(node, children={**node.children, key: text})


def _with_target(name: str, field: Node) -> Node:
    if field.kind != "map" or "to" in field.children or name.startswith("$"):
        return field
    return _with(field, "to", name)


def _with_promotions(extract: Node) -> Node:
    if "promote" in extract.children:
        return _inside(extract, "promote", _with_promoted)
    schema = extract.children.get("schema")
    fields = schema.children.get("properties") if schema else None
    if fields is None or fields.kind != "map":
        return extract
    rules = Node("list", fields.span, origin=fields.origin)
    for at, (name, field) in enumerate(fields.children.items()):
        rule = Node("map", field.span, origin=field.origin)
        for key, value in (("field", str(name)), ("to", str(name)), ("policy", "overwrite")):
            rule = _with(rule, key, value)
        rules.children[at] = rule
    return replace(extract, children={**extract.children, "promote": rules})


def _with_promoted(_: str, rule: Node) -> Node:
    field = rule.children.get("field")
    if field is None or "to" in rule.children or not isinstance(field.value, str):
        return rule
    return rule if "$" in field.value else _with(rule, "to", field.value)


_SOURCES = ("run", "http", "mcp", "respond", "prompt")


def _with_function(name: str, spec: Node) -> Node:
    is_plain = spec.kind == "map" and not name.startswith("$")
    if not is_plain or any(source in spec.children for source in _SOURCES):
        return spec
    return _with(spec, "run", name)
