"""What a recognizer gives is of the type that it is said to be."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Annotated, Any, Literal

import pytest

from flowengine.extract.recognizers import KINDS, recognize
from flowengine.extract.record.value_types import disagreement, typed, value_types
from flowengine.extract.spec import FieldSpec
from flowengine.state.keys import KEY_TYPES, json_value

SAID: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "integer": [("twenty one", {})],
    "integer_near": [("I want four", {"anchors": ["want"]})],
    "number": [("two and a half", {}), ("seven", {})],
    "ordinal": [("the last one", {})],
    "percent": [("two and a half percent", {}), ("ten percent", {}), ("a quarter of it", {})],
    "money": [("a dollar twenty", {}), ("half of it", {"full": 99})],
    "yes_no": [("yes", {}), ("no", {})],
    "one_of": [("the second one", {"options": ["a", "b"]})],
    "fuzzy": [("johnson", {"options": ["Johnson"]})],
    "regex": [("order 77", {"pattern": r"order (\d+)"})],
    "datetime": [("tomorrow", {}), ("at half past three", {}), ("friday at six pm", {}),
                 ("tomorrow at six pm", {"form": "parts"})],
    "date": [("march third", {})],
    "time": [("quarter to nine", {})],
    "date_of_birth": [("three five eighty four", {})],
    "duration": [("two weeks", {}), ("an hour and a half", {}), ("a month", {})],
    "quantity": [("two puffs", {})],
    "digits": [("double five oh one", {})],
    "letters": [("b as in boy a n", {})],
    "phone": [("five five five one two three four five six seven", {})],
    "email": [("john dot smith at gmail dot com", {})],
    "postal_code": [("my zip is 94110", {})],
    "language": [("do you speak Spanish", {})],
}  # fmt: skip


def test_every_kind_is_looked_at() -> None:
    assert set(SAID) == set(KINDS)


@pytest.mark.parametrize("kind", SAID)
def test_what_is_recognized_is_of_the_types_it_is_said_to_be(kind: str) -> None:
    seen: set[str] = set()
    for words, options in SAID[kind]:
        types = value_types(FieldSpec.model_validate({"recognize": kind, **options}))
        ref = datetime(2026, 3, 4, 12, tzinfo=UTC)
        found = recognize(kind, words, ref=ref, asked=True, **options)
        assert found, words
        value = json_value("value", found[0].value)
        fits = [name for name in types if KEY_TYPES[name].accepts(value)]
        assert len(fits) == 1, (words, value)
        seen.update(fits)
    assert set(value_types(FieldSpec(recognize=kind))) <= seen


@pytest.mark.parametrize(
    ("types", "stored", "value"),
    [
        (("decimal",), "12.50", Decimal("12.50")),
        (("date", "time", "datetime"), "18:00", time(18)),
        (("date", "time", "datetime"), "2026-03-04", date(2026, 3, 4)),
        (("date", "time", "datetime"), "2026-03-04T18:00", datetime(2026, 3, 4, 18)),
        (("duration",), "P2W", timedelta(weeks=2)),
        (("string",), "2026-03-04", "2026-03-04"),
        ((), {"open": True}, {"open": True}),
        (("decimal",), ["no decimal"], ["no decimal"]),
    ],
)
def test_a_stored_value_is_read_as_its_type(types: Any, stored: Any, value: Any) -> None:
    got = typed(types, stored)
    assert (type(got), got) == (type(value), value)


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Number(Enum):
    ONE = 1


ONE_OF = {"recognize": {"one_of": ["small", "large"]}}
PARTS = {"recognize": "datetime", "form": "parts"}
Amount = Annotated[Decimal, "in dollars"]


@pytest.mark.parametrize(
    ("spec", "annotation"),
    [
        ("integer", int | None),
        ("integer", float | None),
        ("number", float | None),
        ("number", int | float | None),
        ("money", Decimal | None),
        ("money", Amount | None),
        ("money", str | None),
        ("yes_no", bool | None),
        ("date", date | None),
        ("datetime", date | time | datetime | None),
        ("datetime", str | None),
        ("duration", timedelta | None),
        ("digits", str | None),
        (PARTS, dict[str, Any] | None),
        (ONE_OF, str | None),
        (ONE_OF, Literal["small", "large", "other"] | None),
        (ONE_OF, Size | None),
        ("regex", Any),
        ({"resolve": "x"}, list[str] | None),
    ],
)
def test_an_annotation_that_can_hold_the_value_is_right(spec: Any, annotation: Any) -> None:
    assert disagreement(field(spec), annotation) == ""


@pytest.mark.parametrize(
    ("spec", "annotation", "cure"),
    [
        ("integer", str | None, "integer gives integer: write `int | None`, not `str | None`"),
        ("money", float | None, "write `Decimal | None`"),
        ("number", int | None, "write `float | None`"),
        ("yes_no", str | None, "write `bool | None`"),
        ("date", datetime | None, "write `date | None`, not `datetime | None`"),
        ("datetime", date | None, "write `date | time | datetime | None`"),
        (PARTS, str | None, "write `dict | None`"),
        ("digits", int | None, "write `str | None`"),
        ("regex", Literal["a"] | None, "write `str | None`"),
        (ONE_OF, Literal["small"] | None, "lacks 'large', which one_of may give"),
        (ONE_OF, Number | None, "lacks 'large', 'small'"),
        ("integer", int, "write `int | None`, not `int`"),
        ({"resolve": "x"}, bool, "write `bool | None`, not `bool`"),
    ],
)
def test_one_that_cannot_is_told_with_its_cure(spec: Any, annotation: Any, cure: str) -> None:
    assert cure in disagreement(field(spec), annotation)


def field(spec: Any) -> FieldSpec:
    return FieldSpec.model_validate({"recognize": spec} if isinstance(spec, str) else spec)
