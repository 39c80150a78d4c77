"""A guard that a flow mapping cuts in two, as in `{to: x, when: captured([a, b])}`."""

from __future__ import annotations

import re

from flowengine.flow.diagnostic import Finding, Path
from flowengine.flow.source import Node

CUT = "inside `{...}` a comma or a bracket ends the expression"
_LONGEST = 2_000
_VALUE = re.compile(r"[\w-]+\s*:\s+(?=[^\s\"'{\[])")


def cut_at(text: str, at: int) -> tuple[int, int] | None:
    """The expression around a place where the parser stopped, if braces cut one there."""
    line = text.rfind("\n", 0, at) + 1
    starts = [match.end() for match in _VALUE.finditer(text, line, at)]
    if not starts or "{" not in text[line : starts[-1]] or "(" not in text[starts[-1] : at]:
        return None
    end = _balanced_end(text, starts[-1])
    return (starts[-1], end) if end is not None and end > at else None


def quoted(expression: str) -> str:
    """The cure: the same expression, in quotes that it does not hold itself."""
    quote = "'" if '"' in expression else '"'
    return f"put it in quotes: {quote}{expression}{quote}"


def cut_guards(tree: Node, text: str, path: Path = ()) -> tuple[Node, list[Finding]]:
    """The tree without expressions that were cut at a comma, and a finding for each."""
    found: list[Finding] = []
    children = dict(tree.children)
    if tree.kind == "map" and tree.style == "flow":
        for key, child in tree.children.items():
            if key in children and (end := _cut_end(child, text)) is not None:
                found.append(_finding(child, text, end, (*path, key)))
                children = _without_pieces(tree, children, child.span.start, end)
    for key, child in children.items():
        if child.children:
            children[key], inner = cut_guards(child, text, (*path, key))
            found += inner
    if not found:
        return tree, found
    return Node(tree.kind, tree.span, tree.value, tree.style, children, tree.keys), found


def _cut_end(node: Node, text: str) -> int | None:
    """Where the expression really ends, if this plain value is only its beginning."""
    value = node.value
    if node.kind != "scalar" or node.style or not isinstance(value, str):
        return None
    if value.count("(") <= value.count(")"):
        return None
    end = _balanced_end(text, node.span.start)
    return end if end is not None and end > node.span.end else None


def _finding(node: Node, text: str, end: int, path: Path) -> Finding:
    span = (node.span.start, end)
    return Finding("guard_cut", CUT, path, suggestion=quoted(text[slice(*span)]), span=span)


def _without_pieces(
    tree: Node, children: dict[str | int, Node], start: int, end: int
) -> dict[str | int, Node]:
    """What is left once the value and the keys that were its rest are gone."""
    kept: dict[str | int, Node] = {}
    for key, child in children.items():
        at_value, at_key = child.span.start, tree.keys[key].start
        if at_value != start and not start <= at_key < end:
            kept[key] = child
    return kept


def _balanced_end(text: str, start: int) -> int | None:
    """Where the brackets of the expression that starts here are closed, before `,` or `}`."""
    depth, opened = 0, False
    for at in range(start, min(len(text), start + _LONGEST)):
        char = text[at]
        if char in "([":
            depth, opened = depth + 1, True
        elif char in ")]":
            depth -= 1
        elif char == "\n" or (char in ",}" and depth == 0):
            return at if depth == 0 and opened else None
    return None
