"""The doors for files: a YAML or JSON text, or a folder with one, becomes a Flow.

`Flow` itself is the door for Python. A file that is wrong names all its mistakes at once.
"""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Literal, NamedTuple, TypeAlias

from flowengine.flow import json_text, yaml
from flowengine.flow.cut import cut_guards
from flowengine.flow.diagnostic import Finding, FlowFileError, Path, in_order
from flowengine.flow.files import flow_file, read_text
from flowengine.flow.fragment import Fragment
from flowengine.flow.fragments import splice
from flowengine.flow.functions import Declared, declared_functions
from flowengine.flow.library import Library, marked
from flowengine.flow.model import Flow
from flowengine.flow.problems import problems
from flowengine.flow.source import Node, Source
from flowengine.flow.tree import TreeBuilder, Unreadable
from flowengine.flow.validate import Validated, validate

Format: TypeAlias = Literal["yaml", "json"]


class Loaded(NamedTuple):
    """A flow with where each part of it stands."""

    flow: Flow
    source: Source
    functions: Declared | None
    """The names that its functions.py declares; None if there is none."""


def load(path: str | FilePath) -> Flow:
    """Read a flow from its folder (flow.yaml, flow.yml or flow.json) or from its file.

    Raises:
        FlowFileError: all that is wrong with it.
    """
    return read(path).flow


def loads(text: str, *, name: str = "flow.yaml", format: Format = "yaml") -> Flow:
    """Read a flow from text; `name` is what error messages call it.

    Raises:
        FlowFileError: all that is wrong with it.
    """
    return parse(text, file=name, format=format).flow


def read(path: str | FilePath) -> Loaded:
    """Like `load`, with positions and with the names that a functions.py beside it declares."""
    file = flow_file(FilePath(path))
    text = read_text(file)
    beside = file.parent / "functions.py"
    functions = declared_functions(beside) if beside.is_file() else None
    format: Format = "json" if file.suffix == ".json" else "yaml"
    return parse(text, file=str(file), format=format, functions=functions, beside=file.parent)


def read_fragments(path: str | FilePath) -> Source:
    """A file of fragments as a tree; its top has `fragments:`.

    Raises:
        FlowFileError: it is no YAML or JSON, or there is no such file.
    """
    file = FilePath(path)
    source = Source(str(file), read_text(file).removeprefix("\ufeff"))
    source.root, found = _tree(source, "json" if file.suffix == ".json" else "yaml")
    source.root, cut = cut_guards(source.root, source.text)
    if found or cut:
        raise FlowFileError(in_order(map(source.locate, [*found, *cut])))
    return source


def load_fragments(path: str | FilePath) -> dict[str, Fragment]:
    """The fragments of a file, for a flow that is built in Python.

    Raises:
        FlowFileError: all that is wrong with the file or with a fragment's own keys.
    """
    source = read_fragments(path)
    section = source.root.children.get("fragments") if source.root else None
    return Library(marked(section, source, ("fragments",)) if section else None).fragments()


def parse(
    text: str,
    *,
    file: str,
    format: Format = "yaml",
    functions: Declared | None = None,
    beside: FilePath | None = None,
) -> Loaded:
    """Text with its positions; without `functions`, names of functions are taken on trust.

    `beside` is the folder in which files of fragments are looked for.
    """
    source = Source(file, text.removeprefix("\ufeff"))
    source.root, found = _tree(source, format)
    tree, cut = cut_guards(source.root, source.text)
    spliced = splice(tree, source, lambda name: read_fragments((beside or FilePath()) / name))
    read = validate(spliced.root)
    found = [*found, *cut, *read.findings]
    further = _further(read, functions, found)
    found += [f for f in further if not spliced.diagnostics or _is_certain(f)]
    if read.flow is None or found or spliced.diagnostics:
        located = (source.locate(finding) for finding in found)
        raise FlowFileError(in_order([*located, *spliced.diagnostics]))
    return Loaded(read.flow, source, functions)


def _tree(source: Source, format: Format) -> tuple[Node, list[Finding]]:
    try:
        builder, cut = _build(source.text, format)
        return _mapping(builder), [*cut, *builder.findings]
    except Unreadable as unreadable:
        raise FlowFileError([source.locate(unreadable.finding)]) from None


def _build(text: str, format: Format) -> tuple[TreeBuilder, list[Finding]]:
    """Guards that stop the parser are taken for `always`, so that it gets beyond them."""
    cut: list[Finding] = []
    while True:
        try:
            return (json_text.build if format == "json" else yaml.build)(text), cut
        except Unreadable as unreadable:
            span = unreadable.finding.span
            if unreadable.finding.code != "guard_cut" or span is None or len(cut) == _MOST_CUTS:
                raise
            cut.append(unreadable.finding)
            text = text[: span[0]] + "always".ljust(span[1] - span[0]) + text[span[1] :]


def _mapping(builder: TreeBuilder) -> Node:
    root = builder.root
    if root is None or (root.kind == "scalar" and root.value is None):
        raise Unreadable("empty_file", "there is no flow in this file", 0, 0, _SMALLEST)
    if root.kind != "map":
        kind = "a list" if root.kind == "list" else "text"
        raise Unreadable("not_a_mapping", f"a flow is a mapping, not {kind}", *root.span, _SMALLEST)
    return root


_MOST_CUTS = 20
_SMALLEST = "the smallest flow is `flow: NAME` and `phases:` with one phase"


def _further(read: Validated, functions: Declared | None, found: list[Finding]) -> list[Finding]:
    """What is wrong although it has the right form; beside other errors, only what is certain."""
    if read.flow is None:
        return []
    errors = [f for f in problems(read.flow, functions) if f.severity == "error"]
    if found:
        errors = [f for f in errors if f.code != "no_initial" and f.word not in read.lost]
    return [finding._replace(path=_in_file(read.tree, finding.path)) for finding in errors]


def _is_certain(finding: Finding) -> bool:
    """Whether it is wrong whatever the fragments bring that could not be used."""
    return not finding.code.startswith(("unknown_", "no_initial"))


def _in_file(tree: Node, path: Path) -> Path:
    """The same place in the file, where a list may hold more than the flow has."""
    steps: list[str | int] = []
    node: Node | None = tree
    for step in path:
        name, node = (node.step(step) if node else None) or (step, None)
        steps.append(name)
    return tuple(steps)
