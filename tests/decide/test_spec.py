"""A question that could not be answered is refused when the flow is loaded."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from flowengine.decide import DecisionSpec


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"question": ""}, "at least 1 character"),
        ({"type": "choice"}, "either `options` or `options_from`"),
        ({"type": "choice", "options": ["a"], "options_from": "b"}, "either"),
        ({"type": "choice", "options": [str(n) for n in range(256)]}, "at most 255"),
        ({"type": "choice", "options": [""]}, "each with a name"),
        ({"type": "choice", "options": ["a"], "criteria": {"yes": "x"}}, "what yes and no mean"),
        ({"type": "score"}, "2 to 10"),
        ({"type": "score", "levels": ["a"]}, "2 to 10"),
        ({"type": "score", "levels": list("abcdefghijk")}, "2 to 10"),
        ({"type": "score", "levels": ["a", "b"], "none": True}, "no options"),
        ({"options": ["a"]}, "type: choice"),
        ({"levels": ["a", "b"]}, "type: score"),
        ({"at_least": 0.5}, "greater than 0.5"),
        ({"at_least": 1.1}, "less than or equal to 1"),
        ({"recognize": "one_of"}, "write `recognize: yes_no`"),
        ({"type": "score", "levels": ["a", "b"], "recognize": "yes_no"}, "use `run` or a model"),
        ({"run": "f", "recognize": "yes_no"}, "keep one"),
        ({"run": "f", "model": "m"}, "keep one"),
    ],
)
def test_what_does_not_fit_is_refused(fields: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        DecisionSpec.model_validate({"question": "?", **fields})


def test_the_certainty_by_type() -> None:
    def sure(**fields: Any) -> float:
        return DecisionSpec.model_validate({"question": "?", **fields}).sure

    assert sure() == 0.85
    assert sure(type="choice", options=["a"]) == 0.6
    assert sure(type="score", levels=["a", "b"]) == 0.6
    assert sure(at_least=0.9) == 0.9
