"""An answer counts only where it is sure enough; nonsense is unsure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.decide import DecisionSpec
from flowengine.decide.judge import UNSURE, judge
from flowengine.guards.view import Decision

BOOLEAN = DecisionSpec(question="?")
CHOICE = DecisionSpec.model_validate(
    {"question": "?", "type": "choice", "options": ["a", "b", "5"], "none": True}
)
SCORE = DecisionSpec(question="?", type="score", levels=("low", "mid", "high"))
SPECS = [BOOLEAN, CHOICE, SCORE]


@pytest.mark.parametrize(
    ("raw", "outcome"),
    [
        ({"probability": 0.85}, "yes"),
        ({"probability": 0.849}, "unsure"),
        ({"probability": 0.15}, "no"),
        ({"probability": 0.151}, "unsure"),
        (0.9, "yes"),
        (True, "yes"),
        (False, "no"),
        ("yes", "unsure"),
        ({"probability": 1.2}, "unsure"),
        ({"probability": -0.1}, "unsure"),
        ({"probability": float("nan")}, "unsure"),
        ({"probability": "1"}, "unsure"),
        ({}, "unsure"),
        ([], "unsure"),
        (None, "unsure"),
    ],
)
def test_a_boolean_needs_its_certainty_on_either_side(raw: Any, outcome: str) -> None:
    assert judge(BOOLEAN, raw, {}).outcome == outcome


@pytest.mark.parametrize("sure", [0.51, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0])
def test_yes_and_no_need_the_same_certainty(sure: float) -> None:
    spec = DecisionSpec(question="?", at_least=sure)
    assert judge(spec, sure, {}).outcome == "yes"
    assert judge(spec, 1 - sure, {}).outcome == "no"


@pytest.mark.parametrize(
    ("raw", "judged"),
    [
        ({"option": "a", "probability": 0.6}, Decision("chosen", "a", 0.6)),
        ({"option": "a", "probability": 0.59}, Decision("unsure", None, 0.59)),
        ({"option": "a", "probability": 0.3, "confidence": 0.7}, Decision("chosen", "a", 0.7)),
        ({"option": "a", "probability": 0.9, "confidence": 0.5}, Decision("unsure", None, 0.5)),
        ({"option": "none", "probability": 0.9}, Decision("none", None, 0.9)),
        ({"option": "c", "probability": 1.0}, UNSURE),
        ({"option": ["a"], "probability": 1.0}, UNSURE),
        ({"option": {"a": 1}, "probability": 1.0}, UNSURE),
        ({"option": True, "probability": 1.0}, UNSURE),
        ({"option": "a", "probability": "sure"}, Decision("unsure", None, 0.0)),
        ("a", Decision("chosen", "a", 1.0)),
        (5, Decision("chosen", "5", 1.0)),
        (["a"], UNSURE),
    ],
)
def test_a_choice_needs_a_known_option_and_its_certainty(raw: Any, judged: Decision) -> None:
    assert judge(CHOICE, raw, CHOICE.options) == judged


def test_a_choice_without_options_is_unsure_whatever_was_answered() -> None:
    spec = DecisionSpec(question="?", type="choice", options_from="slots", none=True)
    for raw in ("none", "a", {"option": "none", "probability": 1.0}):
        assert judge(spec, raw, {}) == UNSURE


def test_none_is_an_answer_only_where_the_question_has_it() -> None:
    spec = DecisionSpec.model_validate({"question": "?", "type": "choice", "options": ["a"]})
    assert judge(spec, "none", spec.options) == UNSURE
    own = DecisionSpec.model_validate({"question": "?", "type": "choice", "options": ["none"]})
    assert judge(own, "none", own.options) == Decision("chosen", "none", 1.0)


@pytest.mark.parametrize(
    ("raw", "judged"),
    [
        ({"probabilities": [0.0, 0.95, 0.05]}, Decision("scored", 1, 0.95)),
        ({"probabilities": [0.1, 0.45, 0.45]}, Decision("scored", 1.5, 0.9)),
        ({"probabilities": [0.1, 0.3, 0.6]}, Decision("scored", 2, 0.6)),
        ({"probabilities": [0.5, 0.0, 0.5]}, Decision("unsure", None, 0.5)),
        ({"probabilities": [0.35, 0.3, 0.35]}, Decision("scored", 0.462, 0.65)),
        ({"level": 1.5, "probabilities": [0.2, 0.4, 0.4]}, Decision("scored", 1.5, 0.8)),
        ({"level": 1, "probabilities": [0.2, 0.4, 0.4]}, Decision("unsure", None, 0.4)),
        ({"level": 1.5, "confidence": 0.6}, Decision("scored", 1.5, 0.6)),
        ({"level": 1.5, "confidence": 0.5}, Decision("unsure", None, 0.5)),
        ({"level": 3, "confidence": 1.0}, UNSURE),
        ({"level": -1, "confidence": 1.0}, UNSURE),
        ({"probabilities": [1.0, 1.0, 1.0]}, UNSURE),
        ({"probabilities": [0.5, 0.5]}, UNSURE),
        ({"probabilities": [0, 0, 0]}, Decision("unsure", None, 0.0)),
        ({"probabilities": ["0.9", 0.1, 0.0]}, UNSURE),
        ({"probabilities": [True, False, False]}, UNSURE),
        ({"level": "2", "confidence": 1.0}, UNSURE),
        (2, Decision("scored", 2, 1.0)),
        (True, UNSURE),
    ],
)
def test_a_score_is_a_level_or_lies_between_two(raw: Any, judged: Decision) -> None:
    assert judge(SCORE, raw, {}) == judged


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["probability", "option", "level", "confidence", "probabilities", "x"]),
        inner,
    ),
    max_leaves=8,
)  # fmt: skip


@given(st.sampled_from(SPECS), json_values)
def test_whatever_is_answered_the_outcome_is_sure_enough_or_unsure(
    spec: DecisionSpec, raw: Any
) -> None:
    judged = judge(spec, raw, spec.options)
    assert (
        judged.outcome
        in {
            "boolean": {"yes", "no", "unsure"},
            "choice": {"chosen", "none", "unsure"},
            "score": {"scored", "unsure"},
        }[spec.type]
    )
    assert 0 <= judged.confidence <= 1
    if judged.outcome == "unsure":
        assert judged.value is None
    else:
        assert judged.confidence >= spec.sure - 1e-6


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_a_score_lies_on_its_levels(chances: list[float]) -> None:
    judged = judge(SCORE, {"probabilities": chances}, {})
    if judged.outcome == "scored":
        assert isinstance(judged.value, int | float)
        assert 0 <= judged.value <= 2
