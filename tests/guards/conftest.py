"""Random guards, and one moment of a session that tests set up by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import strategies as st

from flowengine import guards as g
from flowengine.inputs import Json
from flowengine.state import KEY_TYPES, KeySpec, KeyTable
from flowengine.state.evidence import Evidence

NAMES = st.one_of(
    st.sampled_from(["a", "b", "amount", "derived:x", "a.b", "o.p.0", "付款", "नाम", "not"]),
    st.sampled_from(["elapsed", "args.x", "end", "my phase", "`", 'a"b', "x:y", "f-1"]),
    st.sampled_from(["__class__", "a..b", "true", "1st"]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
)
NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.one_of(st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXTS, v, max_size=2), max_leaves=4
)
PATTERNS = st.sampled_from(
    ["^refund", r"\bno\b", '"', r"\"a\d", "a'b", "x\ny", r"\\", "(a|b)*", ""]
)
SPANS = st.sampled_from(["0s", "500ms", "30s", "90s", "1h30m", "1.5s", "2d"])
ORDERINGS = ["<", "<=", ">", ">="]


def _leaves() -> st.SearchStrategy[g.Guard]:
    one_name = [g.is_true, g.is_set, g.grounded, g.corrected, g.resolved, g.failed, g.called_ok]
    one_name += [g.done, g.in_phase, g.custom]
    return st.one_of(
        st.builds(g.always),
        st.builds(g.caller_spoke),
        st.builds(lambda make, name: make(name), st.sampled_from(one_name), NAMES),
        st.lists(NAMES, min_size=1, max_size=3).map(lambda names: g.captured(*names)),
        st.builds(g.decided, NAMES, st.none() | st.booleans() | NAMES),
        st.builds(
            lambda id, low, high: g.decided(id, at_least=low, at_most=high), NAMES, NUMBERS, NUMBERS
        ),
        st.builds(
            lambda op, span: g.compare(g.elapsed(), op, span), st.sampled_from(ORDERINGS), SPANS
        ),
        st.builds(lambda span: g.compare(span, "<", g.elapsed(), "<=", "9d"), SPANS),
        st.builds(g.eq, NAMES, VALUES),
        st.builds(
            lambda k, values: g.one_of(k, *values), NAMES, st.lists(VALUES, min_size=1, max_size=3)
        ),
        st.builds(lambda term, pattern: g.compare(term, "matches", pattern), _reads(), PATTERNS),
        st.builds(lambda left, right: g.compare(left, "in", right), _reads() | SCALARS, _reads()),
        _chains(ORDERINGS, NUMBERS | TEXTS),
        _chains(["==", "!="], VALUES),
    )


def _reads() -> st.SearchStrategy[g.Operand]:
    return st.one_of(
        st.builds(g.key, NAMES),
        st.builds(g.arg, NAMES),
        st.builds(g.confidence, NAMES),
        st.builds(g.turns_in_phase),
    )


def _chains(ops: list[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[g.Guard]:
    links = st.lists(st.tuples(st.sampled_from(ops), _reads() | values), min_size=1, max_size=3)
    return st.builds(
        lambda first, rest: g.compare(first, *(part for link in rest for part in link)),
        _reads() | values,
        links,
    )


def _joined(inner: st.SearchStrategy[g.Guard]) -> st.SearchStrategy[g.Guard]:
    several = st.lists(inner, max_size=3)
    return st.one_of(
        several.map(lambda parts: g.all_of(*parts)),
        several.map(lambda parts: g.any_of(*parts)),
        inner.map(g.not_),
    )


@dataclass
class Moment:
    """A view whose every answer is given."""

    values: dict[str, Json] = field(default_factory=dict)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    args: dict[str, Json] = field(default_factory=dict)
    state: Any = None
    holding: frozenset[str] = frozenset()
    yes: frozenset[tuple[str, str]] = frozenset()
    """What holds of progress, such as ("done", "greeting")."""
    decisions: dict[str, g.Decision] = field(default_factory=dict)
    spoke: dict[str | None, bool] = field(default_factory=dict)
    turns: dict[str | None, int] = field(default_factory=dict)
    times: dict[str | None, int] = field(default_factory=dict)

    def held(self, key: str) -> bool:
        return key in self.holding

    def resolved(self, name: str) -> bool:
        return ("resolved", name) in self.yes

    def failed(self, name: str) -> bool:
        return ("failed", name) in self.yes

    def called_ok(self, tool: str) -> bool:
        return ("called_ok", tool) in self.yes

    def done(self, phase: str) -> bool:
        return ("done", phase) in self.yes

    def in_phase(self, phase: str) -> bool:
        return ("in_phase", phase) in self.yes

    def corrected(self, key: str) -> bool:
        return ("corrected", key) in self.yes

    def decided(self, id: str) -> g.Decision | None:
        return self.decisions.get(id)

    def caller_spoke(self, phase: str | None) -> bool:
        return self.spoke.get(phase, False)

    def turns_in_phase(self, phase: str | None) -> int:
        return self.turns.get(phase, 0)

    def elapsed(self, phase: str | None) -> int:
        return self.times.get(phase, 0)


@pytest.fixture(scope="session")
def any_guard() -> st.SearchStrategy[g.Guard]:
    """Every kind of guard, with names and values that are hard to spell."""
    return st.recursive(_leaves(), _joined, max_leaves=6)


@pytest.fixture(scope="session")
def moment() -> type[Moment]:
    return Moment


@pytest.fixture(scope="session")
def keys() -> KeyTable:
    """Keys named after their types, one that never falls back to `derived:`, and the rest."""
    declared = {name: KeySpec(kind) for name, kind in KEY_TYPES.items()}
    return KeyTable({**declared, "trusted": KeySpec(trusted=True)})


@pytest.fixture(scope="session")
def ask(keys: KeyTable) -> Callable[..., bool | None]:
    """The truth of guard text now; `test` agrees with it or the question fails."""

    def ask(text: str | g.Guard, view: Moment | None = None, /, **values: Json) -> bool | None:
        guard = g.Guard.parse(text) if isinstance(text, str) else text
        compiled = g.compile_guard(guard, keys, phase="here")
        now = view or Moment(values=values)
        assert compiled.test(now) is (compiled.truth(now) is True)
        return compiled.truth(now)

    return ask
