"""What a guard depends on: keys, and progress as pseudo-keys that begin with `@`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

from flowengine.clock import duration_ms
from flowengine.guards.atoms import AllOf, AnyOf, Atom, Compare, Decided, Guard, Not
from flowengine.guards.lookup import bare, roots
from flowengine.guards.operands import is_elapsed
from flowengine.guards.terms import Constant, Read
from flowengine.guards.words import ATOMS

Functions: TypeAlias = Mapping[str, Callable[[Any], bool]]

_PROGRESS = {
    "caller_spoke": "@turn", "in_phase": "@phase", "resolved": "@resolved:", "failed": "@resolved:",
    "called_ok": "@called:", "done": "@done:", "corrected": "@corrected:",
}  # fmt: skip
_TERMS = {"turns_in_phase": "@turn", "elapsed": "@elapsed", "arg": "@args"}


def walk(guard: Guard) -> Iterator[Guard]:
    """The guard and every guard in it, outermost first."""
    yield guard
    match guard:
        case AllOf(guards) | AnyOf(guards):
            for part in guards:
                yield from walk(part)
        case Not(inner):
            yield from walk(inner)
        case _:
            pass


def atoms_of(guard: Guard) -> tuple[Guard, ...]:
    """The leaves, each once, in the order of the text."""
    leaves = [part for part in walk(guard) if isinstance(part, Atom | Decided | Compare)]
    return tuple(dict.fromkeys(leaves))


def key_names(guard: Guard) -> tuple[str, ...]:
    """Keys and paths as the guard writes them, each once."""
    return tuple(dict.fromkeys(name for leaf in atoms_of(guard) for name in _leaf_keys(leaf)))


def guard_reads(guard: Guard, functions: Functions) -> frozenset[str]:
    """Everything whose change may change the answer; a path reads each key it may start at."""
    return frozenset(read for leaf in atoms_of(guard) for read in _leaf_reads(leaf, functions))


def thresholds(guard: Guard) -> tuple[int, ...]:
    """The instants of `elapsed`, in milliseconds, at which an answer may change; rising."""
    instants = {at for leaf in atoms_of(guard) if isinstance(leaf, Compare) for at in _ticks(leaf)}
    return tuple(sorted(instants))


def _leaf_keys(leaf: Guard) -> Iterable[str]:
    match leaf:
        case Atom(kind, names) if ATOMS[kind] == "key":
            return names
        case Compare(terms):
            return [t.name for t in terms if isinstance(t, Read) and t.kind in _KEYED]
        case _:
            return ()


_KEYED = ("key", "confidence")


def _leaf_reads(leaf: Guard, functions: Functions) -> Iterator[str]:
    match leaf:
        case Decided(id):
            yield f"@decided:{id}"
        case Atom("custom", (name,)):
            declared = getattr(functions.get(name), "reads", None)
            yield from ["@any"] if declared is None else map(bare, declared)
        case Atom(kind, names) if kind in _PROGRESS:
            pseudo = _PROGRESS[kind]
            yield pseudo + bare(names[0]) if pseudo.endswith(":") else pseudo
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
