"""Going through a guard: its parts, the names in it, and the same guard under other names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from flowengine.guards.atoms import AllOf, AnyOf, Atom, Compare, Decided, Guard, Not
from flowengine.guards.lookup import DERIVED, bare, splits
from flowengine.guards.terms import Read, Term
from flowengine.guards.words import ATOMS, TERMS, NameKind


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


def names_of(guard: Guard, kind: NameKind) -> tuple[str, ...]:
    """The names of one kind as the guard writes them, each once: keys and paths, phases, tools."""
    return tuple(dict.fromkeys(name for leaf in atoms_of(guard) for name in _names(leaf, kind)))


def rename(guard: Guard, mapping: Mapping[str, str], kind: NameKind = "key") -> Guard:
    """The same guard with names of one kind replaced; a key keeps its path and `derived:`."""
    match guard:
        case AllOf(guards) | AnyOf(guards):
            return type(guard)(tuple(rename(part, mapping, kind) for part in guards))
        case Not(inner):
            return Not(rename(inner, mapping, kind))
        case Atom(word, names) if ATOMS[word] == kind:
            return Atom(word, tuple(_renamed(name, mapping, kind) for name in names))
        case Decided(id, answer, low, high) if kind == "decision":
            return Decided(mapping.get(id, id), answer, low, high)
        case Compare(terms, ops):
            return Compare(tuple(_renamed_term(term, mapping, kind) for term in terms), ops)
        case _:
            return guard


def _names(leaf: Guard, kind: NameKind) -> Iterable[str]:
    match leaf:
        case Atom(word, names) if ATOMS[word] == kind:
            return names
        case Decided(id) if kind == "decision":
            return (id,)
        case Compare(terms):
            return [t.name for t in terms if isinstance(t, Read) and TERMS[t.kind] == kind]
        case _:
            return ()


def _renamed_term(term: Term, mapping: Mapping[str, str], kind: NameKind) -> Term:
    if isinstance(term, Read) and TERMS[term.kind] == kind:
        return Read(term.kind, _renamed(term.name, mapping, kind))
    return term


def _renamed(name: str, mapping: Mapping[str, str], kind: NameKind) -> str:
    if kind != "key":
        return mapping.get(name, name)
    prefix = DERIVED if name.startswith(DERIVED) else ""
    for key, path in splits(bare(name)):
        if key in mapping:
            return prefix + ".".join((mapping[key], *path))
    return name
