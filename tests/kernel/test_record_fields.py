"""Fields that a resolver fills: asked for when their arguments are known, anew when they change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine.effects import Resolve, RunFunction, RunTool, Tell
from flowengine.facts import BarrierSettled, PromotionDecided, ResolverEnded
from flowengine.inputs import Heard, TurnEnded

Begin = Callable[..., Any]

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
KEPT_FRESH = BOOKING.replace("args: [slot]", "args: [slot], ttl: 30s")


def asked(call: Any) -> list[dict[str, Any]]:
    """The arguments of what this step asks a resolver for."""
    return [dict(effect.args) for effect in call.asked(Resolve)]


def answer(call: Any, value: Any = None, status: str = "ok", field: str = "booking.free") -> Any:
    return call.answer(call.run(field), value, status, "" if status == "ok" else "http_503")


# -- when it is asked ------------------------------------------------------------------------------


def test_nothing_is_asked_while_an_argument_is_missing(begin: Begin) -> None:
    call = begin(BOOKING.replace("args: [slot]", "args: [slot, size]"))
    call.turn("in the morning")
    assert asked(call) == []
    assert call.values["slot"] == "morning"
    call.turn("four people")
    assert asked(call) == [{"slot": "morning", "size": 4}]


def test_arguments_are_what_this_turn_says_then_what_state_holds(begin: Begin) -> None:
    call = begin(BOOKING.replace("args: [slot]", "args: [slot, branch]"), slot="morning", branch=7)
    call.turn("well")
    assert asked(call) == [{"slot": "morning", "branch": 7}]
    answer(call, True)
    call.turn("the afternoon")
    assert asked(call) == [{"slot": "afternoon", "branch": 7}]


def test_an_argument_is_the_key_that_a_field_goes_to(begin: Begin) -> None:
    text = BOOKING.replace("[morning, afternoon]}", "[morning, afternoon]}, to: 'booking:slot'")
    call = begin(text.replace("args: [slot]", "args: ['booking:slot']"))
    call.turn("in the morning")
    assert asked(call) == [{"booking:slot": "morning"}]


def test_it_needs_no_argument_at_all(begin: Begin) -> None:
    call = begin(BOOKING.replace(", args: [slot]", ""))
    call.turn("hello")
    assert asked(call) == [{}]
    answer(call, "yes")
    assert call.values["free"] == "yes"
    call.turn("hm")
    assert asked(call) == []


def test_equal_arguments_are_not_asked_again(begin: Begin) -> None:
    call = begin(BOOKING, slot="morning")
    call.turn("hello")
    answer(call, True)
    call.turn("in the morning, please")
    assert asked(call) == []
    assert call.values["free"] is True


def test_with_a_ttl_it_is_asked_on_every_due_turn(begin: Begin) -> None:
    call = begin(KEPT_FRESH, slot="morning")
    call.turn("hello")
    answer(call, True)
    call.turn("hm")
    assert asked(call) == [{"slot": "morning"}]
    assert call.values["free"] is True
    answer(call, False)
    assert call.values["free"] is False


def test_a_model_only_turn_asks_nothing(begin: Begin) -> None:
    call = begin(KEPT_FRESH, slot="morning")
    call.turn("", "Welcome.")
    assert asked(call) == []


def test_the_same_question_is_not_asked_twice_at_once(begin: Begin) -> None:
    call = begin(KEPT_FRESH, slot="morning")
    call.turn("hello")
    first = call.run("booking.free")
    call.turn("hm")
    assert asked(call) == []
    call.answer(first, True)
    assert call.values["free"] is True
    call.turn("so")
    assert asked(call) == [{"slot": "morning"}]


# -- what becomes of the answer --------------------------------------------------------------------


def test_an_argument_of_state_is_answered_with_the_turn(begin: Begin) -> None:
    call = begin(BOOKING, slot="morning")
    call.turn("four people")
    assert call.snapshot.wait.barrier is not None
    assert "size" not in call.values
    answer(call, {"open": True})
    assert (call.values["size"], call.values["free"]) == (4, {"open": True})
    assert [fact.reason for fact in call.happened(BarrierSettled)] == ["all runs landed"]
    evidence = call.snapshot.evidence["free"]
    assert (evidence.by, evidence.speaker, evidence.rule) == (
        "record:booking", "resolver", "availability",
    )  # fmt: skip


def test_an_answer_that_never_comes_holds_the_turn_no_longer_than_its_barrier(begin: Begin) -> None:
    call = begin(BOOKING, slot="morning")
    call.turn("four people")
    call.ring()
    assert call.values["size"] == 4
    assert call.snapshot.wait.barrier is None
    answer(call, True)
    assert call.values["free"] is True


def test_new_arguments_take_the_old_value_away_until_they_are_answered(begin: Begin) -> None:
    call = begin(BOOKING, slot="morning")
    call.turn("hello")
    answer(call, True)
    call.turn("no, the afternoon")
    assert asked(call) == [{"slot": "afternoon"}]
    assert "free" not in call.values


def test_an_answer_to_a_question_that_has_changed_is_dropped(begin: Begin) -> None:
    call = begin(BOOKING, slot="morning")
    call.turn("hello")
    call.set(slot="afternoon")
    answer(call, True)
    assert "free" not in call.values
    assert call.happened(PromotionDecided) == []
    call.turn("hm")
    assert asked(call) == [{"slot": "afternoon"}]
    answer(call, False)
    assert call.values["free"] is False


@pytest.mark.parametrize("status", ["failed", "timed_out", "cancelled"])
def test_a_failure_leaves_the_other_fields_alone(begin: Begin, status: str) -> None:
    status = status.replace("_", " ") if status == "timed_out" else status
    call = begin(BOOKING, slot="morning")
    call.turn("four people")
    answer(call, status=status)
    assert call.values["size"] == 4
    assert "free" not in call.values
    (ended,) = call.happened(ResolverEnded)
    assert (ended.name, ended.status, ended.error) == ("booking.free", status, "http_503")


def test_an_answer_of_null_says_nothing(begin: Begin) -> None:
    call = begin(KEPT_FRESH, slot="morning")
    call.turn("hello")
    answer(call, True)
    call.turn("four people")
    answer(call, None)
    assert (call.values["free"], call.values["size"]) == (True, 4)


@pytest.mark.parametrize(
    ("policy", "kept"),
    [("", "new"), (", policy: overwrite", "new"), (", policy: correct", "new"),
     (", policy: keep_known", "old")],
)  # fmt: skip
def test_a_newer_answer_replaces_the_last_one_unless_the_field_says_otherwise(
    begin: Begin, policy: str, kept: str
) -> None:
    call = begin(KEPT_FRESH.replace("ttl: 30s", f"ttl: 30s{policy}"), slot="morning")
    call.turn("hello")
    answer(call, "old")
    call.turn("hm")
    answer(call, "new")
    assert call.values["free"] == kept


def test_a_late_answer_overwrites_by_default_and_does_not_correct(begin: Begin) -> None:
    for policy, kept in (("", "new"), (", policy: correct", "old")):
        call = begin(KEPT_FRESH.replace("ttl: 30s", f"ttl: 30s{policy}"), slot="morning")
        call.turn("hello")
        answer(call, "old")
        call.turn("hm")
        late = call.run("booking.free")
        call.turn("well")
        call.answer(late, "new")
        assert call.values["free"] == kept


def test_a_field_declared_with_a_type_refuses_another(begin: Begin) -> None:
    call = begin("state: {free: boolean}" + BOOKING, slot="morning")
    call.turn("four people")
    answer(call, "open")
    assert "free" not in call.values
    assert call.values["size"] == 4


# -- several ---------------------------------------------------------------------------------------

TWO = BOOKING.replace(
    "phases:",
    """  bill:
    fields:
      amount: {recognize: money}
      fee: {resolve: fees, args: [slot]}
      free: {resolve: credit, to: credit}
phases:""",
)


def test_two_records_ask_side_by_side_and_land_together(begin: Begin) -> None:
    call = begin(TWO, slot="morning")
    call.turn("four people for 20 dollars")
    assert [(e.name, dict(e.args)) for e in call.asked(Resolve)] == [
        ("availability", {"slot": "morning"}),
        ("fees", {"slot": "morning"}),
        ("credit", {}),
    ]
    answer(call, 5, field="bill.fee")
    answer(call, True, field="booking.free")
    assert "size" not in call.values
    answer(call, "good", field="bill.free")
    assert {k: v for k, v in call.values.items() if ":" not in k} == {
        "slot": "morning", "size": 4, "amount": "20", "fee": 5, "free": True, "credit": "good",
    }  # fmt: skip


def test_of_two_fields_the_one_that_fails_takes_nothing_from_the_other(begin: Begin) -> None:
    call = begin(TWO, slot="morning")
    call.turn("20 dollars")
    answer(call, status="failed", field="bill.fee")
    answer(call, True, field="booking.free")
    answer(call, status="failed", field="bill.free")
    assert call.values["free"] is True
    assert "fee" not in call.values
    assert call.values["amount"] == "20"


def test_an_argument_that_changes_asks_only_the_fields_that_read_it(begin: Begin) -> None:
    call = begin(TWO, slot="morning")
    call.turn("hello")
    for field in ("booking.free", "bill.fee", "bill.free"):
        answer(call, 1, field=field)
    call.set(slot="afternoon")
    call.turn("hm")
    assert [effect.name for effect in call.asked(Resolve)] == ["availability", "fees"]
    assert call.values["credit"] == 1
    assert "fee" not in call.values


# -- resuming --------------------------------------------------------------------------------------


def test_a_resumed_call_asks_again_under_the_same_id(begin: Begin) -> None:
    call = begin(KEPT_FRESH, slot="morning")
    call.turn("hello")
    (effect,) = call.asked(Resolve)
    (again,) = [e for e in call.kernel.reopen(call.snapshot) if isinstance(e, Resolve)]
    assert again == effect
    call.answer(again.id, True)
    call.answer(again.id, False)
    assert call.values["free"] is True


# -- when a record reads ---------------------------------------------------------------------------


def test_by_interval_the_words_of_the_turns_between_are_read_too(begin: Begin) -> None:
    text = KEPT_FRESH.replace("    fields:", "    trigger: {interval: 2}\n    fields:")
    call = begin(text, slot="morning")
    call.turn("four people")
    assert (asked(call), "size" in call.values) == ([], False)
    call.turn("hm")
    assert asked(call) == [{"slot": "morning"}]
    answer(call, True)
    assert (call.values["size"], call.values["free"]) == (4, True)
    call.turn("five people")
    assert (asked(call), call.values["size"]) == ([], 4)


def test_a_window_bounds_how_far_back_it_reads(begin: Begin) -> None:
    for window, size in ((1, None), (2, 4)):
        text = BOOKING.replace(
            "    fields:", f"    window: {window}\n    trigger: {{interval: 2}}\n    fields:"
        )
        call = begin(text)
        call.turn("four people")
        call.turn("hm")
        assert call.values.get("size") == size


def test_the_newest_turn_wins_over_an_older_one_of_the_window(begin: Begin) -> None:
    text = BOOKING.replace("    fields:", "    trigger: {interval: 2}\n    fields:")
    call = begin(text)
    call.turn("four people")
    call.turn("five people")
    assert call.values["size"] == 5
    assert call.snapshot.evidence["size"].turn == 2


MOMENTS = """
flow: moments
tools: {look: {respond: ok}}
records:
  r:
    trigger: MOMENT
    fields: {size: {recognize: integer}}
phases:
  a: {initial: true, transitions: [{to: b, on: go}]}
  b: {}
"""


def test_after_a_tool_call_it_reads_what_was_said_before(begin: Begin) -> None:
    call = begin(MOMENTS.replace("MOMENT", "after_tool_call"))
    call.turn("four")
    assert "size" not in call.values
    call.tool("look")
    (ran,) = call.asked(RunTool)
    call.answer(ran.id, "ok")
    assert call.values["size"] == 4
    call.set(size=9)
    call.tool("look", "d")
    call.answer(call.asked(RunTool)[0].id, "ok")
    assert call.values["size"] == 9


def test_on_a_change_of_phase_it_reads_what_was_said_before(begin: Begin) -> None:
    call = begin(MOMENTS.replace("MOMENT", "on_phase_change"))
    call.turn("four")
    assert "size" not in call.values
    call.set(event="go")
    assert call.values["size"] == 4


# -- what follows ----------------------------------------------------------------------------------

FOLLOWED = BOOKING.replace(
    "phases:", "    on_complete: {run: router, mode: MODE}\nphases:"
).replace("      free: {resolve: availability, args: [slot]}\n", "")


@pytest.mark.parametrize("mode", ["call", "dispatch", "background"])
def test_what_follows_runs_on_what_has_landed_and_leaves_its_result(
    begin: Begin, mode: str
) -> None:
    call = begin(FOLLOWED.replace("MODE", mode))
    call.turn("hello")
    assert call.asked(RunFunction) == []
    call.turn("in the morning")
    (effect,) = call.asked(RunFunction)
    assert (effect.name, effect.values["slot"]) == ("router", "morning")
    assert call.snapshot.wait.runs[effect.id].waits is (mode == "call")
    assert call.snapshot.wait.barrier is None
    call.answer(effect.id, {"desk": 3})
    assert call.values["booking:result"] == {"desk": 3}
    assert len(call.asked(Tell)) == (mode == "background")


def test_what_follows_and_fails_leaves_its_error(begin: Begin) -> None:
    call = begin(FOLLOWED.replace("MODE", "background"))
    call.turn("in the morning")
    call.answer(call.asked(RunFunction)[0].id, None, "failed", "KeyError")
    assert call.values["booking:error"] == "KeyError"
    assert call.asked(Tell) == []


def test_what_follows_waits_for_the_fields_that_are_asked_for(begin: Begin) -> None:
    call = begin(BOOKING.replace("phases:", "    on_complete: {run: router}\nphases:"),
                 slot="morning")  # fmt: skip
    call.turn("four people")
    assert call.asked(RunFunction) == []
    answer(call, True)
    (effect,) = call.asked(RunFunction)
    assert (effect.values["size"], effect.values["free"]) == (4, True)


# -- a call that cannot wait for the turn's end ----------------------------------------------------

CONSENT = """
flow: consent
tools: {book: {respond: ok, when: is_true(agreed)}}
records:
  r:
    fields:
      agreed: {recognize: yes_no}
      size: {recognize: integer}
phases: {a: {initial: true}}
"""


def heard(call: Any, words: str) -> None:
    call.send(Heard, words)


def end(call: Any) -> None:
    call.send(TurnEnded, {})


def test_a_yes_that_a_call_has_read_is_not_read_again_at_the_turns_end(begin: Begin) -> None:
    call = begin(CONSENT)
    heard(call, "yes")
    call.tool("book")
    assert len(call.asked(RunTool)) == 1
    assert call.values["agreed"] is True
    call.set(agreed=None)
    end(call)
    assert "agreed" not in call.values
    call.turn("hm")
    assert "agreed" not in call.values


def test_words_that_follow_a_call_are_read_alone_and_keep_their_place(begin: Begin) -> None:
    call = begin(CONSENT)
    heard(call, "yes")
    call.tool("book")
    call.set(agreed=None)
    heard(call, "four")
    end(call)
    assert "agreed" not in call.values
    assert call.values["size"] == 4
    span = call.snapshot.evidence["size"].span
    assert call.snapshot.transcript.turns[-1].user[slice(*span)] == "four"


def test_an_old_yes_opens_no_later_call(begin: Begin) -> None:
    call = begin(CONSENT)
    call.turn("yes")
    call.set(agreed=None)
    heard(call, "let me see")
    call.tool("book")
    assert call.asked(RunTool) == []
    assert "agreed" not in call.values
