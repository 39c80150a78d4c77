"""Questions and calls that the tests of decisions share."""

from __future__ import annotations

import pytest

from flowengine.decide import DecisionSpec, Question
from flowengine.transcript import Turn


@pytest.fixture
def agree() -> Question:
    criteria = {"yes": "says yes to the booking itself", "no": "turns the booking down"}
    return Question.of(
        "agree", DecisionSpec.model_validate({"question": "Book it?", "criteria": criteria})
    )


@pytest.fixture
def pick() -> Question:
    options = {"19:00": "the early table", "21:00": ""}
    return Question.of(
        "pick", DecisionSpec(question="Which?", type="choice", options=options, none=True)
    )


@pytest.fixture
def mood() -> Question:
    spec = DecisionSpec(question="How upset?", type="score", levels=("calm", "cross", "furious"))
    return Question.of("mood", spec)


@pytest.fixture
def call() -> tuple[Turn, ...]:
    return (
        Turn(1, "a table for two", "I have seven and nine o'clock."),
        Turn(2, "seven is fine"),
    )
