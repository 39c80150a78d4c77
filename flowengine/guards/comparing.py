"""Comparisons compiled to closures, with declared decimals and times compared as what they are."""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import Any, cast

from flowengine.clock import duration_ms
from flowengine.errors import GuardError
from flowengine.guards.atoms import Compare
from flowengine.guards.logic import Truth3
from flowengine.guards.lookup import argument_reader, evidence_reader, value_reader
from flowengine.guards.operands import is_elapsed
from flowengine.guards.regex import searcher
from flowengine.guards.relations import COMPARES, RELATIONS, Relation
from flowengine.guards.terms import Constant, Read, Term
from flowengine.guards.view import Keys, KeyType, View
from flowengine.guards.words import ORDERINGS

TYPED = frozenset({"decimal", "date", "time", "datetime", "duration"})
"""Types whose JSON text stands for another value."""

_UNREADABLE = (ValueError, TypeError, ArithmeticError)


def compare_truth(compare: Compare, keys: Keys, phase: str | None) -> Truth3:
    """One comparison of two terms, not a chain."""
    (left, right), (op,) = compare.terms, compare.ops
    if op == "matches":
        return _matching(term_reader(left, keys, phase), right)
    relation, read = RELATIONS[op], term_reader(left, keys, phase)
    timed = is_elapsed(left) or is_elapsed(right)
    kind = None if timed else _type_of(left, keys) or _type_of(right, keys)
    if kind is None:
        if isinstance(right, Constant):
            value: Any = duration_ms(str(right.value)) if timed else right.value
            return _with_constant(read, op, value)
        other = term_reader(right, keys, phase)
        if timed and isinstance(left, Constant):
            start = duration_ms(str(left.value))
            return lambda view: relation(start, other(view))
        return lambda view: relation(read(view), other(view))
    return _typed(relation, _typed_reader(left, kind, keys, phase),
                  _typed_reader(right, kind, keys, phase))  # fmt: skip


def _with_constant(read: Callable[[View], Any], op: str, value: Any) -> Truth3:
    relation = RELATIONS[op]
    if op == "==" and isinstance(value, str):
        return lambda view: read(view) == value
    if op not in ORDERINGS or isinstance(value, str):
        return lambda view: relation(read(view), value)
    compare = COMPARES[op]

    def truth(view: View) -> bool | None:
        found: object = read(view)
        sort = type(found)
        return compare(found, value) if sort is int or sort is float else None

    return truth


def _typed(relation: Relation, left: Callable[[View], Any], right: Callable[[View], Any]) -> Truth3:
    return lambda view: relation(left(view), right(view))


def term_reader(term: Term, keys: Keys, phase: str | None) -> Callable[[View], Any]:
    if isinstance(term, Constant):
        value = term.value
        return lambda view: value
    match term.kind:
        case "key":
            return value_reader(term.name, keys)
        case "arg":
            return argument_reader(term.name)
        case "confidence":
            evidence = evidence_reader(term.name, keys)
            return lambda view: None if (found := evidence(view)) is None else found.confidence
        case _:
            return methodcaller(term.kind, phase)


def _typed_reader(
    term: Term, kind: KeyType, keys: Keys, phase: str | None
) -> Callable[[View], Any]:
    """What the term reads, parsed as the type; what cannot be parsed reads as missing."""
    if isinstance(term, Constant):
        value = _typed_constant(term.value, kind)
        return lambda view: value
    read = term_reader(term, keys, phase)
    return lambda view: _parsed(read(view), kind)


def _parsed(value: Any, kind: KeyType) -> Any:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, list):
        return [_parsed(item, kind) for item in cast("list[Any]", value)]
    try:
        return kind.parse(value)
    except _UNREADABLE:
        return None


def _typed_constant(value: Any, kind: KeyType) -> Any:
    if isinstance(value, list):
        return [_typed_constant(item, kind) for item in cast("list[Any]", value)]
    parsed = _parsed(_iso(value) if kind.name == "duration" else value, kind)
    if parsed is None:
        raise GuardError(f"{value!r} is not a {kind.name}, as which it would be compared")
    return parsed


def _iso(value: Any) -> Any:
    """A duration as a guard spells it (`30s`) in the spelling that keys hold (`PT30.0S`)."""
    try:
        return f"PT{duration_ms(value) / 1_000}S"
    except _UNREADABLE:
        return value


def _type_of(term: Term, keys: Keys) -> KeyType | None:
    kind = keys.type_of(term.name) if isinstance(term, Read) and term.kind == "key" else None
    return kind if kind is not None and kind.name in TYPED else None


def _matching(read: Callable[[View], Any], pattern: Term) -> Truth3:
    found = searcher(str(cast("Constant", pattern).value))

    def truth(view: View) -> bool | None:
        value = read(view)
        return found(value) if isinstance(value, str) else None

    return truth
