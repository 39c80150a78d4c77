"""Which comparisons can hold at all; the others are errors with a cure, found when built."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from flowengine.clock import duration_ms, duration_text
from flowengine.errors import GuardError
from flowengine.guards.regex import searcher
from flowengine.guards.spelling import canonical
from flowengine.guards.terms import Constant, Read, Term, constant
from flowengine.guards.words import CHAINABLE, OPERATORS, ORDERINGS


def checked_terms(terms: Sequence[Term], ops: Sequence[str]) -> tuple[Term, ...]:
    """The terms, durations beside `elapsed` in their shortest spelling."""
    if not ops or len(terms) != len(ops) + 1:
        raise GuardError("a comparison alternates terms and operators, as in x >= 3")
    for op in ops:
        if op not in OPERATORS:
            raise GuardError(f"{op!r} compares nothing; write one of {' '.join(OPERATORS)}")
        if len(ops) > 1 and op not in CHAINABLE:
            raise GuardError(f"{op} is not part of a chain; join two comparisons by and")
    if any(is_elapsed(term) for term in terms):
        if not set(ops) <= set(ORDERINGS):
            raise GuardError("elapsed is a span that grows: compare it by < <= > >=")
        terms = [_span(term) for term in terms]
    for (left, right), op in zip(pairwise(terms), ops, strict=True):
        _check_pair(left, op, right)
    return tuple(terms)


def checked_bound(value: object) -> float | None:
    """A bound on a score, if it can be one."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise GuardError("at_least and at_most are numbers")
    canonical(value)
    return value


def is_elapsed(term: Term) -> bool:
    return isinstance(term, Read) and term.kind == "elapsed"


def _span(term: Term) -> Term:
    if is_elapsed(term):
        return term
    value = term.value if isinstance(term, Constant) else None
    try:
        return constant(duration_text(duration_ms(value if isinstance(value, str) else "")))
    except (ValueError, OverflowError):
        raise GuardError("elapsed is compared with a duration such as 30s or 1h30m") from None


def _check_pair(left: Term, op: str, right: Term) -> None:
    for term in (left, right):
        _check_value(term, op)
    if op == "matches":
        pattern = right.value if isinstance(right, Constant) else None
        if not isinstance(pattern, str):
            raise GuardError("matches is followed by a pattern, written as quoted text")
        _check_pattern(pattern)
    elif op == "in" and isinstance(right, Constant) and not isinstance(right.value, list):
        raise GuardError('in is followed by a list, as in x in ["a", "b"], or by a key')


def _check_value(term: Term, op: str) -> None:
    if not isinstance(term, Constant):
        return
    value = term.value
    if value is None or (op == "in" and isinstance(value, list) and None in value):
        raise GuardError(
            "null is no value, a key that holds it is not set: write is_set(x) or not is_set(x)"
        )
    if op in ORDERINGS and not (isinstance(value, int | float | str) and value is not True
                                and value is not False):  # fmt: skip
        raise GuardError(f"{term.text} has no order; compare numbers, text, dates or durations")


def _check_pattern(pattern: str) -> None:
    searcher(pattern)
    if (len(pattern) - len(pattern.rstrip("\\"))) % 2:
        raise GuardError("a pattern does not end in a single backslash")
