"""When an answer is in doubt: by its certainty, by a band of probabilities, by several rules."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine.decide import (
    Question,
    confidence_below,
    doubted_by,
    probability_between,
    unsure,
)
from flowengine.errors import FlowError


def yes(probability: float) -> Any:
    return {"probability": probability}


@pytest.mark.parametrize(
    ("answer", "doubted"), [(yes(0.9), False), (yes(0.1), False), (yes(0.5), True), (None, True)]
)
def test_what_the_question_would_not_count_is_unsure(
    agree: Question, answer: Any, doubted: bool
) -> None:
    assert unsure(agree, answer) is doubted


@pytest.mark.parametrize(
    ("answer", "doubted"),
    [(yes(0.94), True), (yes(0.95), False), (yes(0.06), True), (yes(0.05), False), (None, True),
     (True, False), ("maybe", True)],
)  # fmt: skip
def test_confidence_is_that_of_what_was_answered(
    agree: Question, answer: Any, doubted: bool
) -> None:
    assert confidence_below(0.95)(agree, answer) is doubted


@pytest.mark.parametrize(
    ("answer", "doubted"),
    [(yes(0.29), False), (yes(0.3), True), (yes(0.9), True), (yes(0.91), False), (None, True),
     (True, False), (False, False), ("maybe", True)],
)  # fmt: skip
def test_a_band_of_probabilities_is_about_the_yes(
    agree: Question, answer: Any, doubted: bool
) -> None:
    assert probability_between(0.3, 0.9)(agree, answer) is doubted


def test_a_band_is_about_the_option_or_level_that_was_taken(pick: Question, mood: Question) -> None:
    doubt = probability_between(0.5, 0.8)
    assert doubt(pick, {"option": "19:00", "probability": 0.7})
    assert not doubt(pick, "19:00")
    assert doubt(mood, {"level": 1, "confidence": 0.8})


@pytest.mark.parametrize("answer", [{"option": "zzz", "confidence": 0.95}, "gibberish", {}, 5])
def test_what_is_no_answer_is_in_doubt_however_sure_it_sounds(pick: Question, answer: Any) -> None:
    assert probability_between(0.3, 0.7)(pick, answer)
    assert confidence_below(0.5)(pick, answer)


@pytest.mark.parametrize(("least", "doubted"), [(1, True), (2, True), (3, False)])
def test_so_many_rules_must_doubt(agree: Question, least: int, doubted: bool) -> None:
    rules = (confidence_below(0.95), probability_between(0.85, 0.94), unsure)
    assert doubted_by(least, *rules)(agree, yes(0.9)) is doubted


@pytest.mark.parametrize(
    "make",
    [lambda: confidence_below(1.2), lambda: confidence_below(0),
     lambda: probability_between(0.8, 0.2),
     lambda: probability_between(-0.1, 0.2), lambda: doubted_by(0, unsure),
     lambda: doubted_by(2, unsure)],
)  # fmt: skip
def test_a_rule_that_makes_no_sense_cannot_be_made(make: Any) -> None:
    with pytest.raises(FlowError):
        make()
