"""The builder: each step another one, and every mistake with its place."""

from __future__ import annotations

from typing import Any, cast

import pytest

from flowengine import FlowError
from flowengine.extract import Interval, Record, RecordSpec, kinds, resolve

SLOT = Record.named("booking").field("slot", kinds.one_of("morning", "afternoon"))


def test_it_says_what_a_file_says() -> None:
    made = (
        SLOT.resolve("availability", args=["slot"], ttl="30s")
        .window(5)
        .trigger(Interval(interval=2))
        .on_complete("router", mode="dispatch")
    )
    assert made.record_name == "booking"
    assert made.spec() == RecordSpec.model_validate(
        {
            "window": 5,
            "trigger": {"interval": 2},
            "fields": {
                "slot": {"recognize": {"one_of": ["morning", "afternoon"]}},
                "availability": {"resolve": "availability", "args": ["slot"], "ttl": "30s"},
            },
            "on_complete": {"run": "router", "mode": "dispatch"},
        }
    )


def test_a_field_may_be_filled_by_a_resolver_of_another_name() -> None:
    made = SLOT.field("free", resolve("availability", "slot"), to="booking:free").spec()
    assert (made.fields["free"].resolve, made.fields["free"].to) == ("availability", "booking:free")


def test_one_builder_is_the_beginning_of_several_records() -> None:
    table, room = SLOT.field("size", kinds.integer()), SLOT.window(1)
    assert list(SLOT.spec().fields) == ["slot"]
    assert list(table.spec().fields) == ["slot", "size"]
    assert (room.spec().window, SLOT.spec().window) == (1, 3)


@pytest.mark.parametrize(
    ("make", "cure"),
    [
        (lambda: SLOT.field("slot", kinds.integer()), "record booking, field 'slot': given twice"),
        (lambda: SLOT.field("x"), "field 'x': nothing fills it"),
        (lambda: SLOT.field("x", kinds.integer(), vaild="a"), "Did you mean 'valid'?"),
        (lambda: SLOT.window(0).spec(), "record booking: window: Input should be greater"),
        (lambda: SLOT.trigger(cast("Any", "every_trun")).spec(), "Did you mean 'every_turn'?"),
        (lambda: SLOT.on_complete("r", mode=cast("Any", "cal")), "Did you mean 'call'?"),
        (lambda: Record.named("empty").spec(), "record empty: fields: "),
    ],
)
def test_a_mistake_is_told_with_its_place(make: Any, cure: str) -> None:
    with pytest.raises(FlowError) as raised:
        make()
    assert cure in str(raised.value)
