from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from flowengine.llm.align import align
from flowengine.llm.schema import target


class Line(BaseModel):
    item: str
    count: int = 1


class Order(BaseModel):
    first_name: str
    mood: Literal["very calm", "angry"] = "angry"
    paid: bool = False
    tags: list[str] = []
    lines: list[Line] = []
    note: str | None = None
    extra: dict[str, int] = {}


SCHEMA = target(Order).schema


@pytest.mark.parametrize(
    ("value", "aligned", "codes"),
    [
        ({"firstName": "A"}, {"first_name": "A"}, ["key_spelling"]),
        ({"FIRST-NAME": "A"}, {"first_name": "A"}, ["key_spelling"]),
        (
            {"first_name": "A", "mood": "Very_Calm"},
            {"first_name": "A", "mood": "very calm"},
            ["enum_spelling"],
        ),
        (
            {"first_name": "A", "paid": "TRUE"},
            {"first_name": "A", "paid": True},
            ["boolean_as_text"],
        ),
        ({"first_name": "A", "tags": "x"}, {"first_name": "A", "tags": ["x"]}, ["one_item"]),
        (
            {"first_name": "A", "lines": [{"item": "x", "count": "3"}]},
            {"first_name": "A", "lines": [{"item": "x", "count": 3}]},
            ["integer_as_text"],
        ),
        ({"order": {"first_name": "A"}}, {"first_name": "A"}, ["unwrapped"]),
        ('{"first_name": "A"}', {"first_name": "A"}, ["json_as_text"]),
        (
            {"first_name": "A", "lines": '[{"item": "x", "count": "3"}]'},
            {"first_name": "A", "lines": [{"item": "x", "count": 3}]},
            ["json_as_text", "integer_as_text"],
        ),
    ],
)
def test_a_near_miss_is_aligned_and_named(value: Any, aligned: Any, codes: list[str]) -> None:
    found, repairs = align(SCHEMA, value)
    assert found == aligned
    assert [repair.code for repair in repairs] == codes


@pytest.mark.parametrize(
    "value",
    [
        {"first_name": "A", "firstName": "B"},
        {"firstName": "A", "first-name": "B"},
        {"first_name": "A", "extra": {"Any Key": 1}},
        {"first_name": "A", "mood": "calm"},
        {"first_name": "36", "note": None},
        {"first_name": "{}", "note": "[1]"},
    ],
)
def test_a_tie_or_a_fit_is_left_alone(value: Any) -> None:
    assert align(SCHEMA, value) == (value, ())


def test_a_value_is_never_put_into_lists_without_end() -> None:
    schema: dict[str, Any] = {
        "$defs": {
            "J": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/J"}}, {"type": "string"}]}
        },
        "properties": {"a": {"$ref": "#/$defs/J"}},
    }
    assert align(schema, {"a": 1.5})[0] == {"a": [1.5]}


@given(st.builds(Order, lines=st.lists(st.builds(Line), max_size=3)))
def test_what_fits_is_never_changed(order: Order) -> None:
    dumped = order.model_dump(mode="json")
    assert align(SCHEMA, dumped) == (dumped, ())
