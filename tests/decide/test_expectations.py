"""A guard that no answer can meet is known before the call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from flowengine.decide import DecisionSpec, impossible
from flowengine.decide.judge import judge
from flowengine.guards import compile_guard, decided
from flowengine.state.keys import KeyTable

BOOLEAN = DecisionSpec(question="?")
CHOICE = DecisionSpec.model_validate(
    {"question": "?", "type": "choice", "options": ["red", "blue"]}
)
OPEN = DecisionSpec(question="?", type="choice", options_from="slots", none=True)
SCORE = DecisionSpec(question="?", type="score", levels=("calm", "cross", "furious"))


@pytest.mark.parametrize(
    ("spec", "expectation", "reason"),
    [
        (BOOLEAN, decided("q", "yes"), "`decided(q)` for yes"),
        (BOOLEAN, decided("q", at_least=1), "no at_least"),
        (CHOICE, decided("q", "bleu"), "blue"),
        (CHOICE, decided("q", "green"), "it has red, blue"),
        (CHOICE, decided("q", False), "give it `none: true`"),
        (CHOICE, decided("q", at_most=1), "no at_least"),
        (OPEN, decided("q", "none"), "decided(q, false)"),
        (SCORE, decided("q", "cross"), "at_least=1"),
        (SCORE, decided("q", False), "never no"),
        (SCORE, decided("q", at_least=3), "0 to 2"),
        (SCORE, decided("q", at_most=-1), "0 to 2"),
        (SCORE, decided("q", at_least=2, at_most=1), "no level"),
    ],
)
def test_what_can_never_be_is_named_with_its_cure(
    spec: DecisionSpec, expectation: Any, reason: str
) -> None:
    found = impossible(spec, expectation)
    assert found is not None
    assert reason in found


@pytest.mark.parametrize(
    ("spec", "expectation"),
    [
        (BOOLEAN, decided("q")),
        (BOOLEAN, decided("q", False)),
        (CHOICE, decided("q")),
        (CHOICE, decided("q", "red")),
        (OPEN, decided("q", False)),
        (OPEN, decided("q", "19:00")),
        (SCORE, decided("q")),
        (SCORE, decided("q", at_least=2)),
        (SCORE, decided("q", at_least=0.5, at_most=1.5)),
    ],
)
def test_what_may_be_is_let_pass(spec: DecisionSpec, expectation: Any) -> None:
    assert impossible(spec, expectation) is None


class _Answered:
    """A view in which one question was answered."""

    holding = ()

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def decided(self, id: str) -> Any:
        return self.answer


bounds = st.one_of(st.none(), st.integers(-2, 4))
raws = st.one_of(
    st.booleans(), st.floats(0, 2), st.sampled_from(["red", "blue", "none", "yes"]),
    st.integers(0, 2),
)  # fmt: skip


@given(
    st.sampled_from([BOOLEAN, CHOICE, SCORE]),
    st.sampled_from([True, False, "red", "none", "cross", None]), bounds, bounds, raws,
)  # fmt: skip
def test_no_answer_meets_an_impossible_expectation(
    spec: DecisionSpec, answer: Any, low: Any, high: Any, raw: Any
) -> None:
    if low is not None or high is not None:
        answer = None
        assume(spec.type != "boolean")  # bounds on yes and no are refused as meaningless
    expectation = decided("q", answer, at_least=low, at_most=high)
    if impossible(spec, expectation) is not None:
        guard = compile_guard(expectation, KeyTable())
        assert not guard.test(_Answered(judge(spec, raw, spec.options)))  # pyright: ignore
