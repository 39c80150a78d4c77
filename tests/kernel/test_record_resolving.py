"""Resolved fields: when they are asked for, which answers count, and what follows a record."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine import Functions, loads
from flowengine.effects import Resolve, RunFunction, RunTool
from flowengine.flow.dump import dumps
from flowengine.inputs import Heard, TurnEnded
from flowengine.kernel.compiled import flow_hash

BOOKING = """
flow: booking
records:
  booking:
    fields:
      slot: {recognize: {one_of: [morning, afternoon]}}
      size: {recognize: {integer_near: [people]}}
      free: {resolve: availability, args: [slot]}
phases: {talk: {initial: true}}
"""


def asked(call: Any) -> list[dict[str, Any]]:
    return [dict(effect.args) for effect in call.asked(Resolve)]


def test_a_value_of_this_turn_as_argument_is_answered_with_the_turn(begin: Any) -> None:
    call = begin(BOOKING)
    call.turn("in the morning")
    call.answer(call.run("booking.free"), True)
    assert (call.values["slot"], call.values.get("free")) == ("morning", True)


def test_the_answer_for_the_slot_before_the_last_is_dropped(begin: Any) -> None:
    call = begin(BOOKING)
    call.turn("in the morning")
    first = call.run("booking.free")
    call.turn("no, the afternoon")
    second = call.run("booking.free")
    call.answer(first, "morning's")
    assert "free" not in call.values
    call.answer(second, "afternoon's")
    assert call.values["free"] == "afternoon's"


def test_a_resolver_that_failed_is_asked_again(begin: Any) -> None:
    call = begin(BOOKING, slot="morning")
    call.turn("hello")
    call.answer(call.run("booking.free"), None, "failed", "http_503")
    call.turn("hm")
    assert asked(call) == [{"slot": "morning"}]


def test_a_value_whose_argument_is_gone_is_gone(begin: Any) -> None:
    call = begin(BOOKING, slot="morning")
    call.turn("hello")
    call.answer(call.run("booking.free"), True)
    call.set(slot=None)
    call.turn("hm")
    assert "free" not in call.values


def test_going_back_to_the_first_argument_asks_anew(begin: Any) -> None:
    call = begin(BOOKING, slot="morning")
    call.turn("hello")
    call.answer(call.run("booking.free"), True)
    call.set(slot="afternoon")
    call.turn("hm")
    call.answer(call.run("booking.free"), None, "failed", "x")
    call.set(slot="morning")
    call.turn("hm")
    assert asked(call) == [{"slot": "morning"}]


def test_what_was_resolved_is_validated(begin: Any) -> None:
    text = BOOKING.replace("args: [slot]", "args: [slot], valid: value > 3")
    call = begin(text, slot="morning")
    call.turn("hello")
    call.answer(call.run("booking.free"), 2)
    assert "free" not in call.values


@pytest.mark.parametrize("trigger", ["after_tool_call", "on_phase_change"])
def test_fields_are_asked_for_at_the_records_own_moment(begin: Any, trigger: str) -> None:
    text = BOOKING.replace("    fields:", f"    trigger: {trigger}\n    fields:")
    text = text.replace(
        "phases: {talk: {initial: true}}",
        "tools: {look: {respond: ok}}\n"
        "phases: {talk: {initial: true, transitions: [{to: b, on: go}]}, b: {}}",
    )
    call = begin(text, slot="morning")
    call.turn("four people")
    if trigger == "on_phase_change":
        call.set(event="go")
    else:
        call.tool("look")
        call.answer(call.asked(RunTool)[0].id, "ok")
    assert call.values["size"] == 4
    assert asked(call) == [{"slot": "morning"}]


def test_a_call_waits_for_an_open_run_of_a_field_that_its_guard_reads(begin: Any) -> None:
    call = begin(BOOKING + "tools: {book: {respond: ok, when: is_true(free)}}\n", slot="morning")
    call.turn("hello")
    call.tool("book")
    assert call.answers == []
    call.answer(call.run("booking.free"), True)
    assert len(call.asked(RunTool)) == 1


def test_a_call_asks_for_a_field_whose_argument_was_just_said(begin: Any) -> None:
    call = begin(BOOKING + "tools: {book: {respond: ok, when: is_true(free)}}\n")
    call.send(Heard, "in the morning")
    call.tool("book")
    assert asked(call) == [{"slot": "morning"}]
    assert call.answers == []
    call.answer(call.run("booking.free"), True)
    assert len(call.asked(RunTool)) == 1


FOLLOWED = """
flow: followed
tools: {book: {respond: ok, when: is_true(agreed)}}
records:
  r:
    fields:
      agreed: {recognize: yes_no}
      size: {recognize: integer, accept_when: is_true(open)}
    on_complete: {run: router}
phases: {a: {initial: true}}
"""


def test_what_lands_nothing_is_followed_by_nothing(begin: Any) -> None:
    call = begin(FOLLOWED)
    call.turn("four")
    assert "size" not in call.values
    assert call.asked(RunFunction) == []


def test_what_was_read_for_a_call_is_followed_too(begin: Any) -> None:
    call = begin(FOLLOWED)
    call.send(Heard, "yes")
    call.tool("book")
    followed = call.asked(RunFunction)
    call.send(TurnEnded, {})
    assert len([*followed, *call.asked(RunFunction)]) == 1


def test_what_a_late_field_lands_is_followed_too(begin: Any) -> None:
    text = BOOKING.replace("phases:", "    on_complete: {run: router}\nphases:")
    call = begin(text, slot="morning")
    call.turn("hello")
    call.ring()
    assert call.asked(RunFunction) == []
    call.answer(call.run("booking.free"), True)
    assert len(call.asked(RunFunction)) == 1


def test_an_amount_is_compared_as_one_when_it_is_offered(begin: Any) -> None:
    call = begin(
        "flow: f\nrecords: {r: {fields: {amount: {recognize: money, accept_when: value > 10}}}}\n"
        "phases: {a: {initial: true}}"
    )
    call.turn("two hundred dollars")
    assert call.values["amount"] == "200"


def test_a_registered_validator_judges_a_field(begin: Any) -> None:
    functions = Functions()

    @functions.validator
    def is_even(value: int) -> bool:
        return value % 2 == 0

    call = begin(
        "flow: f\nrecords: {r: {fields: {size: {recognize: integer, valid: custom(is_even)}}}}\n"
        "phases: {a: {initial: true}}", functions,
    )  # fmt: skip
    call.turn("five")
    assert "size" not in call.values
    call.turn("four")
    assert call.values["size"] == 4


def test_a_policy_that_was_written_survives_a_file_and_counts_for_the_hash() -> None:
    plain = loads(BOOKING)
    kept = loads(BOOKING.replace("args: [slot]", "args: [slot], policy: correct"))
    again = loads(dumps(kept))
    assert "policy" in again.records["booking"].fields["free"].model_fields_set
    assert flow_hash(kept, Functions()) != flow_hash(plain, Functions())


def test_the_order_of_options_counts_for_the_hash() -> None:
    """ "The second one" is another option."""
    fields = "{x: {recognize: {one_of: {%s}}}}"
    text = f"flow: f\nrecords: {{r: {{fields: {fields}}}}}\nphases: {{a: {{initial: true}}}}"
    one = loads(text % "a: [c], b: [d]")
    two = loads(text % "b: [d], a: [c]")
    assert flow_hash(one, Functions()) != flow_hash(two, Functions())


def test_a_question_of_one_record_is_not_answered_in_another(begin: Any) -> None:
    call = begin("""
flow: f
records:
  a: {fields: {member: {recognize: yes_no, when_asked: true, asks: [are you a member]}}}
  b: {fields: {agreed: {recognize: yes_no, when_asked: true}}}
phases: {talk: {initial: true, needs: [agreed, member]}}
""")
    call.turn("hello", "Are you a member?")
    call.turn("yes")
    assert call.values.get("member") is True
    assert "agreed" not in call.values


def test_an_argument_of_a_refused_value_is_not_asked_with(begin: Any) -> None:
    text = BOOKING.replace("[morning, afternoon]}", "[morning, afternoon]}, policy: keep_known")
    call = begin(text, slot="morning")
    call.turn("hello")
    call.answer(call.run("booking.free"), True)
    call.turn("the afternoon")
    assert call.values["slot"] == "morning"
    assert asked(call) == []
    assert call.values["free"] is True
