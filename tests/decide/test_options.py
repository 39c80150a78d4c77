"""The options of a choice are those of the moment when it is asked."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine.decide import DecisionSpec, options_of

SPEC = DecisionSpec(question="?", type="choice", options_from="offer.slots")


@pytest.mark.parametrize(
    ("slots", "options"),
    [
        (["19:00", "21:00"], {"19:00": "", "21:00": ""}),
        ([7, 9.5], {"7": "", "9.5": ""}),
        ([{"id": 3, "name": "late"}], {"3": "late"}),
        ([{"value": "a", "description": "first", "name": "x"}], {"a": "first"}),
        ([{"name": "Ann"}], {"Ann": ""}),
        ([{"id": None, "value": "", "name": "Ann"}], {"Ann": ""}),
        ([{"id": {"no": "name"}}, ["a"], True, None, "", "  ", {}], {}),
        ([0, {"id": 0}], {"0": ""}),
        ([" a ", "a"], {"a": ""}),
        ("19:00", {}),
        (None, {}),
        ([], {}),
        ([str(n) for n in range(256)], {}),
    ],
)
def test_options_are_texts_numbers_or_objects_with_a_name(slots: Any, options: Any) -> None:
    assert options_of(SPEC, {"offer": {"slots": slots}}.get) == options


def test_a_question_with_options_of_its_own_looks_nothing_up() -> None:
    spec = DecisionSpec.model_validate({"question": "?", "type": "choice", "options": ["a", "b"]})
    assert options_of(spec, {}.__getitem__) == {"a": "", "b": ""}


def test_the_most_options_that_one_question_has() -> None:
    slots: Any = [str(n) for n in range(255)]
    assert len(options_of(SPEC, {"offer": {"slots": slots}}.get)) == 255
