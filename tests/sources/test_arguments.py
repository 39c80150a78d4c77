"""Typed arguments: the schema that annotations ask for, and calls held to it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field

from flowengine.errors import FlowError
from flowengine.sources.arguments import ArgumentError, arguments_of, schema_of


class Injected:
    pass


class Guest(BaseModel):
    name: str
    age: int = Field(default=30, ge=0)


class Area(Enum):
    INSIDE = "inside"
    TERRACE = "terrace"


@dataclass
class Span:
    start: date
    nights: int


def book(
    day: date,
    party: Annotated[int, Field(ge=1, le=20, description="how many people")] = 2,
    area: Area = Area.INSIDE,
    guest: Guest | None = None,
    kind: Literal["dinner", "lunch"] = "dinner",
) -> None:
    """Reserve a table.

    It is kept for a quarter of an hour.

    Args:
        day: the day, as the caller
            said it
        kind (str): which meal
    """


def never_leaks(error: ArgumentError, *words: str) -> None:
    told = f"{error} {error!r} {error.problems!r}"
    assert [word for word in words if word in told] == []


def test_annotations_defaults_and_docstring_make_the_schema() -> None:
    schema = schema_of(book)
    assert schema["required"] == ["day"]
    assert schema["properties"]["day"] == {
        "type": "string", "format": "date", "description": "the day, as the caller said it",
    }  # fmt: skip
    assert schema["properties"]["party"] == {
        "type": "integer", "minimum": 1, "maximum": 20, "default": 2,
        "description": "how many people",
    }  # fmt: skip
    assert schema["properties"]["area"] == {"$ref": "#/$defs/Area", "default": "inside"}
    assert schema["properties"]["kind"] == {
        "type": "string", "enum": ["dinner", "lunch"], "default": "dinner",
        "description": "which meal",
    }  # fmt: skip
    assert schema["$defs"]["Guest"]["properties"]["age"]["minimum"] == 0
    assert "title" not in str(schema)
    assert arguments_of(book).description == "Reserve a table."


def test_arguments_arrive_as_the_types_that_are_asked_for() -> None:
    bound = arguments_of(book).bind(
        {"day": "2026-03-04", "party": "4", "area": "terrace", "guest": {"name": "Jo"}}, "t"
    )
    assert bound == {
        "day": date(2026, 3, 4), "party": 4, "area": Area.TERRACE, "guest": Guest(name="Jo"),
    }  # fmt: skip


def test_a_null_for_an_argument_with_a_default_is_the_default() -> None:
    bound = arguments_of(book).bind({"day": "2026-03-04", "party": None, "guest": None}, "t")
    assert bound == {"day": date(2026, 3, 4), "guest": None}


@pytest.mark.parametrize(
    ("args", "problems"),
    [
        ({}, [("day", "is missing")]),
        ({"day": "s3cret"}, [("day", "should be a valid date or datetime")]),
        ({"day": "2026-03-04", "party": 99}, [("party", "should be less than or equal to 20")]),
        ({"day": "2026-03-04", "kind": "s3cret"}, [("kind", "should be 'dinner' or 'lunch'")]),
        (
            {"day": "2026-03-04", "guest": {"name": "Jo", "age": "s3cret"}},
            [("guest.age", "should be a valid integer")],
        ),
        (
            {"dayy": "2026-03-04", "s3cret": 1},
            [
                ("*", "no such argument: it takes day, party, area, guest, kind (meant: day?)"),
                ("*", "no such argument: it takes day, party, area, guest, kind"),
                ("day", "is missing"),
            ],
        ),
    ],
)
def test_a_misfit_names_its_argument_and_never_its_value(
    args: dict[str, Any], problems: list[tuple[str, str]]
) -> None:
    with pytest.raises(ArgumentError) as caught:
        arguments_of(book).bind(args, "tool 't'")
    assert [tuple(problem) for problem in caught.value.problems] == problems
    assert caught.value.code == "invalid_arguments"
    never_leaks(caught.value, "s3cret", "99")


def test_a_validators_own_words_are_not_repeated() -> None:
    def refuse(value: str) -> str:
        raise ValueError(f"{value} is known to us")

    class Card(BaseModel):
        kind: Literal["card"]

    class Cash(BaseModel):
        kind: Literal["cash"]

    def pay(who: Any) -> None: ...
    def by(means: Any) -> None: ...
    def count(seats: dict[str, int]) -> None: ...

    pay.__annotations__ = {"who": Annotated[str, AfterValidator(refuse)]}
    by.__annotations__ = {"means": Annotated[Card | Cash, Field(discriminator="kind")]}
    for function, args, place in (
        (pay, {"who": "jane"}, "who"),
        (by, {"means": {"kind": "jane"}}, "means"),
        (count, {"seats": {"jane": "x"}}, "seats.*"),
    ):
        with pytest.raises(ArgumentError) as caught:
            arguments_of(function).bind(args, "tool 't'")
        assert caught.value.problems[0].argument == place
        never_leaks(caught.value, "jane")


def test_a_parameter_of_the_callers_is_no_argument() -> None:
    def tool(x: int, context: Injected | None = None) -> None: ...

    taken = arguments_of(tool, Injected)
    assert (taken.names, taken.injected) == (("x",), "context")
    assert "context" not in taken.schema["properties"]


def test_an_object_that_cannot_be_hashed_is_a_function_too() -> None:
    @dataclass
    class Desk:
        name: str

        def __call__(self, day: date) -> None: ...

    assert schema_of(Desk("a"))["required"] == ["day"]


def test_names_that_libraries_use_themselves_are_fine() -> None:
    def tool(schema: str, json: int, model_config: bool, self_: str, copy: str = "") -> None: ...

    args = {"schema": "a", "json": 1, "model_config": True, "self_": "b"}
    assert arguments_of(tool).bind(args, "tool 't'") == args


def test_a_function_without_annotations_takes_any_json() -> None:
    assert arguments_of(lambda a, b=1: a).bind({"a": [1, {"b": None}]}, "t") == {
        "a": [1, {"b": None}]
    }
    assert schema_of(lambda: None) == {"type": "object", "properties": {}}


def test_open_ended_keywords_take_whatever_comes() -> None:
    def tool(day: date, **rest: Any) -> None: ...

    bound = arguments_of(tool).bind({"day": "2026-03-04", "more": [1]}, "t")
    assert bound == {"day": date(2026, 3, 4), "more": [1]}


def test_methods_partials_and_callable_objects_have_arguments_too() -> None:
    class Desk:
        def slots(self, day: date) -> None: ...
        async def __call__(self, day: date, span: Span) -> None: ...

    def tool(day: date, n: int) -> None: ...

    for function in (Desk().slots, functools.partial(tool, n=1)):
        assert arguments_of(function).bind({"day": "2026-03-04"}, "t") == {"day": date(2026, 3, 4)}
    bound = arguments_of(Desk()).bind(
        {"day": "2026-03-04", "span": {"start": "2026-03-05", "nights": 2}}, "t"
    )
    assert bound["span"] == Span(date(2026, 3, 5), 2)


def test_what_cannot_be_passed_by_name_or_described_is_an_error_of_the_flow() -> None:
    def by_place(day: str, /) -> None: ...
    def many(*days: str) -> None: ...
    def odd(it: Injected) -> None: ...
    def unread(it: Gone) -> None: ...  # noqa: F821

    for function, words in (
        (by_place, "parameter 'day' cannot be passed by name"),
        (many, "parameter 'days' cannot be passed by name"),
        (odd, "an annotation has no schema"),
        (unread, "an annotation cannot be read"),
    ):
        with pytest.raises(FlowError, match=words):
            arguments_of(function)


@given(
    st.integers(-(10**12), 10**12),
    st.booleans(),
    st.decimals(allow_nan=False, allow_infinity=False, places=2),
    st.dates(),
)
def test_whatever_fits_arrives_unchanged(n: int, flag: bool, amount: Decimal, day: date) -> None:
    def tool(n: int, flag: bool, amount: Decimal, day: date) -> None: ...

    args = {"n": n, "flag": flag, "amount": str(amount), "day": day.isoformat()}
    assert arguments_of(tool).bind(args, "tool 't'") == {
        "n": n,
        "flag": flag,
        "amount": amount,
        "day": day,
    }
