"""A tree into a Flow: all that does not fit is named, and what does fit is kept to be read on."""

from __future__ import annotations

import json
from typing import NamedTuple

from pydantic import ValidationError

from flowengine.flow.diagnostic import Finding, Path
from flowengine.flow.invalid import Placed, finding, placed
from flowengine.flow.model import Flow, Phase
from flowengine.flow.shape import model_at
from flowengine.flow.source import Node, Span

ROUNDS = 4


class Validated(NamedTuple):
    """`flow` lacks what the findings are about; it is None if nothing sensible remains."""

    flow: Flow | None
    findings: list[Finding]
    tree: Node
    """What the flow was made of."""
    lost: frozenset[str]
    """Names that may have been declared in what was left out."""


def validate(root: Node) -> Validated:
    """Read a whole flow; with findings, `flow` is good for naming further mistakes only."""
    tree = _without_extensions(root, ())
    found: list[Finding] = []
    lost: set[str] = set()
    for attempt in range(ROUNDS):
        errors = _errors(tree)
        if isinstance(errors, Flow):
            return Validated(errors, found, tree, frozenset(lost))
        places = placed(tree, errors)
        if attempt == 0:
            found = [finding(place) for place in places]
        for place in places:
            tree, names = _left_out(tree, place)
            lost |= names
    return Validated(None, found, tree, frozenset(lost))


def _errors(tree: Node) -> Flow | list[dict[str, object]]:
    """Strict, so that the text `no` is not taken for false, nor `5` in quotes for a number.

    Behind a model's own validator strictness takes offence at lists, too: there they are judged
    by the second, lenient reading.
    """
    data = tree.plain()
    try:
        return Flow.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        details = [dict(detail) for detail in error.errors(include_url=False)]
    strict = [d for d in details if d["type"] != "tuple_type" or not isinstance(d["input"], list)]
    if strict:
        return strict
    try:
        return Flow.model_validate(data)
    except ValidationError as error:
        return [dict(detail) for detail in error.errors(include_url=False)]


def _left_out(tree: Node, place: Placed) -> tuple[Node, set[str]]:
    """The tree without the smallest part that is wrong, and the names that went with it."""
    kind = place.error["type"]
    path = place.path[:-1] if kind == "missing" else place.path
    if kind == "missing" and place.path == ("flow",):
        name = Node("scalar", Span(0, 0), "flow")
        return _replaced(tree, place.path, name), set()
    part = _at(tree, path)
    if part is None or not path:
        return tree, set()
    stand_in = Node("map", part.span) if model_at(path) is Phase else None
    return _replaced(tree, path, stand_in), {str(path[-1]), *_names(part)}


def _at(tree: Node, path: Path) -> Node | None:
    here: Node | None = tree
    for step in path:
        here = here.children.get(step) if here else None
    return here


def _names(node: Node) -> set[str]:
    names = {key for key in node.children if isinstance(key, str)}
    if (name := node.children.get("name")) and isinstance(name.value, str):
        names.add(name.value)
    return names.union(*(_names(child) for child in node.children.values()))


def _replaced(node: Node, path: Path, part: Node | None) -> Node:
    """A copy with another part at `path`, or without it."""
    step, rest = path[0], path[1:]
    children = dict(node.children)
    if rest:
        children[step] = _replaced(children[step], rest, part)
    elif part:
        children[step] = part
    else:
        children.pop(step, None)
    return Node(node.kind, node.span, node.value, node.style, children, node.keys)


def _without_extensions(node: Node, path: Path) -> Node:
    """`x-...` keys are the author's own, wherever the other keys are ours."""
    children = {
        step: _without_extensions(child, (*path, step)) for step, child in node.children.items()
    }
    if any(str(step).startswith("x-") for step in children):
        model = model_at(path)
        if model is not None:
            children = {k: v for k, v in children.items() if not str(k).startswith("x-")}
    return Node(node.kind, node.span, node.value, node.style, children, node.keys)
