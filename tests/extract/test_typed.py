"""The fields of a type, each checked by itself."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import Enum

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from flowengine.extract.typed import TypedFields


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
