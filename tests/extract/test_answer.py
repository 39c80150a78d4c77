"""A recognizer answers a typed question from the caller's newest words."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine.extract.answer import recognized
from flowengine.transcript import Turn


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("yes", {"probability": 0.95}),
        ("no", {"probability": 0.05}),
        ("mm hmm", {"probability": 0.7}),
        ("what?", None),
    ],
)
def test_yes_and_no_come_as_the_probability_of_yes(said: str, answer: Any) -> None:
    assert recognized("yes_no", (Turn(1, said),), {}) == answer


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("the red one please", {"option": "red", "probability": 1.0}),
        ("red or blue", None),
        ("green", None),
    ],
)
def test_a_pick_comes_with_its_probability(said: str, answer: Any) -> None:
    assert recognized("one_of", (Turn(1, said),), {"red": "", "blue": ""}) == answer


def test_only_the_newest_words_of_the_caller_count() -> None:
    assert recognized("yes_no", (Turn(1, "yes"), Turn(2, "seven")), {}) is None
    said = (Turn(1, "no", "Yes?"), Turn(2, "", "Yes."))
    assert recognized("yes_no", said, {}) == {"probability": 0.05}
    assert recognized("yes_no", (), {}) is None
    assert recognized("one_of", (Turn(1, "red"),), {}) is None


def test_another_language_is_read_by_its_own_words() -> None:
    assert recognized("yes_no", (Turn(1, "claro que sí"),), {}, locale="es-MX") is not None
