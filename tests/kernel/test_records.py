"""Records in a call: each turn is read once, and what is complete goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine.inputs import Said

Begin = Callable[..., Any]

CALL = """
flow: records
records:
  order:
    window: 2
    fields:
      size: {recognize: integer, to: "order:size", confirm_below: 0.99}
      agreed: {recognize: yes_no, when_asked: true, asks: [is that right]}
    on_complete: {run: booked}
phases: {a: {initial: true, needs: ["order:size"]}}
"""


def test_a_turn_is_read_once_so_an_old_yes_answers_no_new_question(
    begin: Callable[..., Any],
) -> None:
    call = begin(CALL)
    call.turn("yes", "Is that right?")
    assert "agreed" not in call.values
    call.turn("hm")
    assert "agreed" not in call.values
    call.turn("hm", "Is that right?")
    call.turn("yes")
    assert call.values["agreed"] is True


def test_what_is_completed_runs_its_function(begin: Callable[..., Any]) -> None:
    call = begin(CALL)
    call.turn("for four")
    assert call.values["order:size"] == 4
    (effect,) = [e for e in call.effects if type(e).__name__ == "RunFunction"]
    assert (effect.name, effect.values["order:size"]) == ("booked", 4)
    call.answer(effect.id, {"id": 9})
    assert call.values["order:result"] == {"id": 9}


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc", ""])
def test_a_time_zone_that_does_not_exist_fails_the_turn_and_says_so(
    begin: Callable[..., Any], zone: str
) -> None:
    call = begin(CALL, **{"session:timezone": zone or "/"})
    step = call.turn("for four")
    assert "no time zone" in str(step.error)
    assert call.snapshot.transcript.turns[-1].user == "for four"


def test_a_change_of_what_others_depend_on_is_a_correction(begin: Begin) -> None:
    call = begin("""
flow: f
state: {day: string, agreed: {type: boolean, depends_on: [day]}}
records: {r: {fields: {day: {recognize: {one_of: [monday, friday]}}}}}
phases: {a: {initial: true}}
""")
    call.turn("monday")
    call.set(agreed=True)
    call.turn("no, friday")
    assert "agreed" not in call.values


def test_a_day_counts_from_when_the_caller_spoke_not_from_the_greeting(begin: Any) -> None:
    call = begin("""
flow: p
state: {day: date}
records: {r: {fields: {day: {recognize: date}}}}
phases: {a: {initial: true}}
""")
    call.send(Said, "Hello, when do you want to come?")
    call.at = 3 * 86_400_000
    call.turn("tomorrow")
    assert call.values["day"] == "1970-01-05"


@pytest.mark.parametrize("at", [2 * 10**15, -7 * 10**15])
def test_a_time_that_is_none_fails_its_turn_and_no_other(begin: Any, at: int) -> None:
    call = begin("""
flow: p
state: {day: date}
records: {r: {window: 3, fields: {day: {recognize: date}}}}
phases: {a: {initial: true}}
""")
    call.at = at
    step = call.turn("tomorrow")
    assert "milliseconds" in str(step.error)
    call.at = 86_400_000
    assert call.turn("I mean tomorrow").error is None
    assert call.values["day"] == "1970-01-03"
