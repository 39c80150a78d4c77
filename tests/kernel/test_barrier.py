"""Values of a turn wait for its model extractors; nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine.effects import RunExtractor
from flowengine.facts import BarrierOpened, BarrierSettled, KeyWritten, PromotionDecided, RunEnded
from flowengine.inputs import Heard

Begin = Callable[..., Any]

FLOW = """
flow: barrier
state: {amount: decimal}
records: {promise: {fields: {amount: {recognize: money}}}}
extract:
  - name: Mood
    window: 1
    schema: {type: object, properties: {mood: {}, note: {}}}
    promote: [{field: mood, policy: overwrite}, {field: note, to: "turn:note", policy: overwrite}]
    ON_FAILURE
  - name: Plan
    schema: {properties: {plan: {}, mood: {}}}
    promote: [{field: plan, policy: overwrite}, {field: mood, policy: overwrite}]
resolvers: {look: {}}
phases:
  a:
    initial: true
    transitions:
      - {to: b, when: plan == 'pay'}
      - {to: c, when: is_true(jump)}
      - {to: d, on: lost}
      - {to: e, when: not is_true(mood) and mood != 'calm'}
  b: {}
  c: {}
  d: {}
  e: {}
"""


def flow(on_failure: str = "") -> str:
    return FLOW.replace("ON_FAILURE", on_failure).replace(
        "      - {to: e, when: not is_true(mood) and mood != 'calm'}\n", ""
    )


def test_it_waits_for_every_run_and_lands_all_values_together(begin: Begin) -> None:
    call = begin(flow())
    call.turn("two hundred dollars")
    assert call.happened(BarrierOpened) == [BarrierOpened(1, ("2.0", "2.1"))]
    assert "amount" not in call.values
    call.answer(call.run("Plan"), {"plan": "pay", "mood": "tense"})
    assert (call.phase, "plan" in call.values) == ("a", False)
    call.answer(call.run("Mood"), {"mood": "calm"})
    assert call.happened(BarrierSettled) == [BarrierSettled(1, "all runs landed")]
    decided = [(fact.source, fact.field) for fact in call.happened(PromotionDecided)]
    assert decided == [("record:promise", "amount"), ("extractor:Mood", "mood"),
                       ("extractor:Plan", "plan"), ("extractor:Plan", "mood")]  # fmt: skip
    assert (call.phase, call.values["mood"], call.values["amount"]) == ("b", "tense", "200")


def test_other_inputs_move_phases_meanwhile(begin: Begin) -> None:
    call = begin(flow())
    call.turn()
    call.set(jump=True)
    assert call.phase == "c"
    assert call.snapshot.wait.barrier is not None


def test_a_timer_ends_the_wait_and_what_comes_then_is_late(begin: Begin) -> None:
    call = begin(flow())
    call.turn("two hundred dollars")
    run = call.run("Mood")
    call.answer(call.run("Plan"), {"mood": "tense"})
    call.ring()
    assert call.at == 5_000
    assert call.happened(BarrierSettled) == [BarrierSettled(1, "timed out")]
    assert (call.values["amount"], call.values["mood"]) == ("200", "tense")
    call.answer(run, {"mood": "calm", "note": "x"})
    assert [fact.status for fact in call.happened(RunEnded)] == ["late"]
    assert call.values["mood"] == "tense", "a later extractor of the same turn has spoken"
    assert "turn:note" not in call.values, "its turn is over"


def test_the_next_turns_end_closes_it_and_one_follow_up_covers_what_was_missed(
    begin: Begin,
) -> None:
    call = begin(flow())
    call.turn("one")
    first = call.run("Mood")
    call.answer(call.run("Plan"), {})
    call.turn("two")
    call.turn("three")
    assert [e.name for e in call.asked(RunExtractor)] == []
    assert call.snapshot.wait.queued == {"Mood", "Plan"}
    call.answer(first, {"mood": "calm"})
    (again,) = call.asked(RunExtractor)
    assert (again.name, [turn.user for turn in again.window]) == ("Mood", ["two", "three"])
    call.answer(again.id, {"mood": "angry"})
    assert call.values["mood"] == "angry"
    assert call.asked(RunExtractor) == []


def test_a_second_turn_end_settles_the_first_turn_before_its_own(begin: Begin) -> None:
    call = begin(flow())
    call.turn("two hundred dollars")
    call.turn("well")
    assert [fact.reason for fact in call.happened(BarrierSettled)] == ["next turn"]
    assert call.values["amount"] == "200"


def test_a_late_result_never_overwrites_newer_words(begin: Begin) -> None:
    call = begin(flow())
    call.turn("one")
    old = call.run("Mood")
    call.ring()
    call.set(mood="written since")
    call.turn("two")
    call.answer(old, {"mood": "old"})
    assert call.values["mood"] == "written since"
    assert [fact.reason for fact in call.happened(PromotionDecided)] == ["newer value kept"]


def test_the_words_of_a_failed_run_are_covered_by_the_next_one(begin: Begin) -> None:
    call = begin(flow())
    call.turn("one")
    call.answer(call.run("Plan"), {})
    call.answer(call.run("Mood"), status="failed", error="boom")
    assert (call.values["Mood:status"], call.values["Mood:error"]) == ("failed", "boom")
    call.turn("two")
    window = next(e.window for e in call.asked(RunExtractor) if e.name == "Mood")
    assert [turn.user for turn in window] == ["one", "two"]


def test_a_run_that_had_nothing_to_ask_is_skipped_and_its_turn_is_still_unread(
    begin: Begin,
) -> None:
    call = begin(flow())
    call.turn()
    call.answer(call.run("Mood"), None)
    assert [fact.status for fact in call.happened(RunEnded)] == ["skipped"]
    assert "Mood:status" not in call.values
    assert "Mood" not in call.snapshot.wait.ran


@pytest.mark.parametrize("value", ["text", 3, [1]])
def test_an_answer_that_is_no_object_is_a_failure(begin: Begin, value: Any) -> None:
    call = begin(flow())
    call.turn()
    call.answer(call.run("Mood"), value)
    assert (call.values["Mood:status"], call.values["Mood:error"]) == ("failed", "not_an_object")


def test_on_failure_raise_offers_its_event(begin: Begin) -> None:
    call = begin(flow("on_failure: {raise: lost}"))
    call.turn()
    call.answer(call.run("Plan"), {})
    call.answer(call.run("Mood"), status="timed_out")
    assert call.phase == "d"


def test_on_failure_hold_makes_guards_over_its_keys_unknown_until_it_succeeds(
    begin: Begin,
) -> None:
    call = begin("""
flow: hold
extract:
  - {name: Risk, schema: {properties: {risk: {}}}, promote: [{field: risk, policy: overwrite}],
     on_failure: hold}
phases:
  a: {initial: true, transitions: [{to: b, when: is_true(go) and risk != 'high'}]}
  b: {}
""", risk="low")  # fmt: skip
    call.turn()
    call.answer(call.run("Risk"), status="failed")
    call.set(go=True)
    assert call.phase == "a"
    call.turn()
    call.answer(call.run("Risk"), {"risk": "low"})
    assert call.phase == "b"


def test_a_slow_turn_counts_for_edges_that_wait_for_the_caller(begin: Begin) -> None:
    call = begin("""
flow: waits
extract: [{name: E, schema: {properties: {x: {}}}}]
phases: {a: {initial: true, transitions: [{to: b}]}, b: {}}
""")
    call.turn()
    assert call.phase == "a"
    call.answer(call.run("E"), {})
    assert call.phase == "b"


def test_few_words_and_intervals_start_no_run(begin: Begin) -> None:
    call = begin("""
flow: triggers
extract:
  - {name: Long, min_words: 3, schema: {properties: {x: {}}}}
  - {name: Second, trigger: {interval: 2}, schema: {properties: {y: {}}}}
phases: {a: {initial: true}}
""")
    asked = []
    for words in ("one", "one two three", "one", "one"):
        call.turn(words)
        asked.append([effect.name for effect in call.asked()])
        for effect in call.asked():
            call.answer(effect.id, {})
    assert asked == [[], ["Long", "Second"], [], ["Second"]]


MOMENTS = """
flow: moments
extract:
  - {name: After, trigger: after_tool_call, schema: {properties: {x: {}}}}
  - {name: Enter, trigger: on_phase_change, schema: {properties: {y: {}}}}
tools: {note: {}}
phases:
  a: {initial: true, transitions: [{to: b, on: go}]}
  b: {transitions: [{to: c, immediately: true}]}
  c: {transitions: [{to: a, on: go}]}
"""


def test_an_extractor_can_run_after_a_tool_and_lands_on_arrival(begin: Begin) -> None:
    call = begin(MOMENTS)
    call.turn("one")
    call.send(Heard, "two")
    call.tool("note")
    call.answer(call.run("c"), {})
    (run,) = call.asked()
    assert (run.name, [turn.user for turn in run.window]) == ("After", ["one", "two"])
    assert call.snapshot.wait.barrier is None
    call.answer(run.id, {"x": 1})
    assert call.values["derived:x"] == 1
    assert [fact.status for fact in call.happened(RunEnded)] == ["ok"]


def test_an_extractor_can_run_on_a_phase_change_once_a_turn(begin: Begin) -> None:
    call = begin(MOMENTS)
    call.set("go")
    assert call.asked() == [], "nothing has been said yet"
    call.turn("one")
    call.set("go")
    (run,) = call.asked()
    call.answer(run.id, {"y": 1})
    call.set("go")
    assert (call.phase, call.asked()) == ("c", [])
    call.turn("two")
    call.set("go")
    assert [effect.name for effect in call.asked()] == ["Enter"]


def test_channel_values_are_written_at_once_and_live_through_the_wait(begin: Begin) -> None:
    call = begin(flow())
    call.turn("one", **{"turn:key": "5"})
    assert [f.key for f in call.happened(KeyWritten)] == ["turn:key"]
    call.answer(call.run("Plan"), {})
    assert call.values["turn:key"] == "5"
    call.answer(call.run("Mood"), {})
    assert call.values["turn:key"] == "5"
    call.send(Heard, "two")
    assert "turn:key" not in call.values


def test_barrier_closed_by_next_turn_keeps_a_correction_of_its_own_turn(begin: Begin) -> None:
    call = begin("""
flow: t
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
extract: [{name: Mood, schema: {properties: {mood: {}}}}]
phases: {a: {initial: true, needs: [amount]}}
""")
    call.turn("fifty dollars")
    call.answer(call.run("Mood"), {})
    assert call.values["amount"] == "50"
    call.turn("no, eighty dollars")  # its barrier waits for Mood
    call.turn("thank you")  # closes it
    assert call.values["amount"] == "80"


def test_a_barrier_is_settled_even_if_another_input_comes_at_its_instant(begin: Begin) -> None:
    call = begin("""
flow: s
extract: [{name: X, schema: {properties: {ok: {}}}}]
phases: {a: {initial: true}}
""")
    call.turn("well")
    assert call.snapshot.wait.barrier
    call.at = call.snapshot.wait.barrier.due_at
    call.set(x=1)
    call.ring()
    assert call.snapshot.wait.barrier is None
