"""The fields of a type, each checked by itself."""

from __future__ import annotations

from dataclasses import make_dataclass
from datetime import date
from decimal import Decimal
from enum import Enum

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator
from typing_extensions import TypedDict

from flowengine.errors import WrongTypeError
from flowengine.extract.typed import TypedFields, instance_of


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


class Guest(BaseModel):
    name: str
    plus: list[Guest] = []


class Booking(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    day: date
    size: Size
    deposit: Decimal = Decimal(0)
    party: Guest | None = None
    note: str = Field("none", alias="theNote")


def test_values_come_back_as_the_type_spells_them_and_nothing_is_made_up() -> None:
    given = {"day": "2026-03-01", "size": "l", "deposit": "12.50", "theNote": "hi"}
    assert TypedFields(Booking).check(given) == (given, ())
    assert TypedFields(Booking).check({}) == ({}, ())


def test_each_fault_costs_its_own_field_and_is_named_without_the_value() -> None:
    given = {"day": "someday", "size": "xl", "deposit": "1", "party": {"name": 5}}
    good, faults = TypedFields(Booking).check(given)
    assert good == {"deposit": "1"}
    assert [fault.partition(" ")[0] for fault in faults] == ["day", "size", "party"]
    assert "someday" not in str(faults)


def test_a_type_that_contains_itself_is_read_to_the_bottom() -> None:
    given = {"name": "Ada", "plus": [{"name": "Bo", "plus": []}]}
    assert TypedFields(Guest).check(given) == (given, ())
    good, faults = TypedFields(Guest).check({"name": "Ada", "plus": [{"plus": []}]})
    assert (good, faults) == ({"name": "Ada"}, ("plus (missing)",))


def test_a_validator_that_looks_at_a_dropped_field_is_asked_again_without_it() -> None:
    class Stay(BaseModel):
        nights: int
        guests: int

        @field_validator("guests")
        @classmethod
        def _fits(cls, guests: int, info: ValidationInfo) -> int:
            if "nights" not in info.data:
                raise ValueError("how long?")
            return guests

    assert TypedFields(Stay).check({"nights": "x", "guests": 2})[0] == {}
    assert TypedFields(Stay).check({"nights": 1, "guests": 2})[0] == {"nights": 1, "guests": 2}


class Trip(BaseModel):
    day: date
    size: Size | None
    deposit: Decimal = Decimal(1)
    note: str | None = Field(None, alias="theNote")

    @model_validator(mode="after")
    def _small_deposits_only(self) -> Trip:
        if self.deposit > 100:
            raise ValueError("secret")
        return self


class Place(TypedDict):
    city: str


def test_fields_read_back_as_an_instance_with_its_defaults_and_none_for_what_is_unknown() -> None:
    given = {"day": "2026-03-01", "theNote": "hi"}
    trip = instance_of(Trip, given)
    assert trip == Trip(day=date(2026, 3, 1), size=None, theNote="hi")
    assert instance_of(Trip, {**given, "size": "l", "deposit": "12.50"}) == Trip(
        day=date(2026, 3, 1), size=Size.LARGE, deposit=Decimal("12.50"), theNote="hi"
    )


@pytest.mark.parametrize("wanted", [Trip, Place, make_dataclass("Spot", [("city", str)])])
def test_there_is_no_instance_while_a_field_that_cannot_be_none_is_unknown(wanted: type) -> None:
    assert instance_of(wanted, {}) is None


def test_a_dictionary_type_and_a_dataclass_read_back_too() -> None:
    Spot = make_dataclass("Spot", [("city", str), ("floor", int | None)])
    assert instance_of(Place, {"city": "Rome"}) == {"city": "Rome"}
    assert instance_of(Spot, {"city": "Rome"}) == Spot("Rome", None)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"day": "2026-03-01", "deposit": "1000"}, r"no Trip: the whole \(value_error\)"),
        ({"day": "secret"}, r"no Trip: day \(date_from_datetime_parsing\)"),
    ],
)
def test_what_breaks_a_rule_of_the_type_is_an_error_without_values(
    fields: dict[str, str], told: str
) -> None:
    with pytest.raises(WrongTypeError, match=told) as caught:
        instance_of(Trip, fields)
    assert "secret" not in str(caught.value)
