"""What a guard depends on: keys, and progress as pseudo-keys that begin with `@`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

from flowengine.clock import duration_ms
from flowengine.guards.atoms import Atom, Compare, Decided, Guard
from flowengine.guards.lookup import bare, roots
from flowengine.guards.operands import is_elapsed
from flowengine.guards.terms import Constant, Read
from flowengine.guards.walk import atoms_of
from flowengine.guards.words import ATOMS

Functions: TypeAlias = Mapping[str, Callable[[Any], bool]]

_PROGRESS = {
    "caller_spoke": "@turn", "in_phase": "@phase", "resolved": "@resolved:", "failed": "@resolved:",
    "called_ok": "@called:", "done": "@done:",
}  # fmt: skip
_TERMS = {"turns_in_phase": "@turn", "elapsed": "@elapsed", "arg": "@args"}


def guard_reads(guard: Guard, functions: Functions) -> frozenset[str]:
    """Everything whose change may change the answer; a path reads each key it may start at."""
    return frozenset(read for leaf in atoms_of(guard) for read in _leaf_reads(leaf, functions))


def thresholds(guard: Guard) -> tuple[int, ...]:
    """The instants of `elapsed`, in milliseconds, at which an answer may change; rising."""
    instants = {at for leaf in atoms_of(guard) if isinstance(leaf, Compare) for at in _ticks(leaf)}
    return tuple(sorted(instants))


def _leaf_reads(leaf: Guard, functions: Functions) -> Iterator[str]:
    match leaf:
        case Decided(id):
            yield f"@decided:{id}"
        case Atom("custom", (name,)):
            declared = getattr(functions.get(name), "reads", None)
            yield from ["@any"] if declared is None else map(bare, declared)
        case Atom(kind, names) if kind in _PROGRESS:
            yield _PROGRESS[kind] + (names[0] if names and kind != "in_phase" else "")
        case Atom("corrected", (name,)):
            yield f"@corrected:{bare(name)}"
        case Atom("grounded", (name,)):
            yield from _evidence(name)
        case Atom(kind, names) if ATOMS[kind] == "key":
            yield from (root for name in names for root in roots(name))
        case Compare(terms):
            for term in terms:
                yield from _term_reads(term) if isinstance(term, Read) else ()
        case _:
            pass


def _term_reads(term: Read) -> Iterator[str]:
    if term.kind == "key":
        yield from roots(term.name)
    elif term.kind == "confidence":
        yield from _evidence(term.name)
    else:
        yield _TERMS[term.kind]


def _evidence(name: str) -> Iterator[str]:
    """Evidence follows the value: another stored name may come to hold it."""
    for root in roots(name):
        yield root
        yield f"@evidence:{root}"


def _ticks(compare: Compare) -> Iterator[int]:
    """`elapsed > 30s` first holds a millisecond after `elapsed >= 30s`."""
    for (left, right), op in zip(pairwise(compare.terms), compare.ops, strict=True):
        if is_elapsed(left) and isinstance(right, Constant):
            yield duration_ms(str(right.value)) + (op in (">", "<="))
        elif is_elapsed(right) and isinstance(left, Constant):
            yield duration_ms(str(left.value)) + (op in ("<", ">="))
