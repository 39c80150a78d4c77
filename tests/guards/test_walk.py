"""Going through guards and giving their names others."""

import pytest

from flowengine import guards as g
from flowengine.guards import Guard

GUARD = Guard.parse(
    "captured([a, o.p]) and (done(a) or not derived:o.p.q == args.a) and decided(a) and is_set(a)"
)


def test_walk_goes_outermost_first():
    guard = g.is_set("a") & ~g.is_set("b")
    assert list(g.walk(guard)) == [guard, g.is_set("a"), ~g.is_set("b"), g.is_set("b")]


def test_atoms_are_the_leaves_each_once():
    guard = Guard.parse("is_set(a) and (x > 1 or not is_set(a)) and decided(d)")
    assert list(map(str, g.atoms_of(guard))) == ["is_set(a)", "x > 1", "decided(d)"]


@pytest.mark.parametrize(
    ("kind", "names"),
    [("key", ("a", "o.p", "derived:o.p.q")), ("phase", ("a",)), ("decision", ("a",)), ("tool", ())],
)
def test_names_of_one_kind(kind, names):
    assert g.names_of(GUARD, kind) == names


@pytest.mark.parametrize(
    ("kind", "mapping", "text"),
    [
        ("key", {"a": "f.a", "o": "f.o"},
         "captured([f.a, f.o.p]) and (done(a) or not (derived:f.o.p.q == args.a)) and decided(a)"
         " and is_set(f.a)"),
        ("key", {"o.p": "x", "o": "never"},
         "captured([a, x]) and (done(a) or not (derived:x.q == args.a)) and decided(a)"
         " and is_set(a)"),
        ("phase", {"a": "b"},
         "captured([a, o.p]) and (done(b) or not (derived:o.p.q == args.a)) and decided(a)"
         " and is_set(a)"),
        ("decision", {"a": "b"},
         "captured([a, o.p]) and (done(a) or not (derived:o.p.q == args.a)) and decided(b)"
         " and is_set(a)"),
    ],
)  # fmt: skip
def test_rename_touches_one_kind_of_name_and_keeps_paths(kind, mapping, text):
    assert str(g.rename(GUARD, mapping, kind)) == text


def test_renaming_nothing_changes_nothing():
    assert g.rename(GUARD, {}) == GUARD
