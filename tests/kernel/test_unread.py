"""A call that only a guard refuses: the words of the turn in progress are read for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flowengine.effects import RunExtractor, RunTool
from flowengine.facts import BarrierOpened, PromotionDecided
from flowengine.inputs import Heard, Said, TurnEnded

Begin = Callable[..., Any]

FLOW = """
flow: unread
state: {agreed: boolean, again: boolean, name: string}
records:
  answer: {fields: {agreed: {recognize: yes_no, accept_when: in_phase(confirm)}}}
  other: {fields: {again: {recognize: yes_no, accept_when: in_phase(booked)}}}
extract:
  - {name: Name, schema: {properties: {name: {type: string}}}, promote: [{field: name, policy: overwrite}]}
  - {name: Slow, trigger: {interval: 1}, schema: {properties: {name: {type: string}}}, promote: [{field: name}]}
  - {name: Mood, schema: {properties: {mood: {}}}}
tools:
  book: {when: is_true(agreed), set: {booked: true}}
  greet: {when: is_set(name)}
phases:
  confirm:
    initial: true
    transitions: [{to: booked, when: is_true(booked)}]
  booked:
    transitions: [{to: twice, when: is_true(again)}]
  twice: {}
"""  # noqa: E501


def test_a_yes_said_in_this_turn_opens_the_call_at_once(begin: Begin) -> None:
    call = begin(FLOW)
    call.send(Heard, "yes please")
    call.tool("book")
    assert [effect.tool for effect in call.asked(RunTool)] == ["book"]
    assert call.snapshot.evidence["agreed"].turn == 1


def test_what_was_read_early_is_not_read_again_at_the_end_of_the_turn(begin: Begin) -> None:
    call = begin(FLOW)
    call.send(Heard, "yes please")
    call.tool("book")
    call.answer(call.run("c"), {})
    assert call.phase == "booked"
    call.send(TurnEnded)
    for name in ("Name", "Slow", "Mood"):
        call.answer(call.run(name), {})
    assert (call.phase, call.values.get("again")) == ("booked", None), "the yes was for the booking"


def test_words_that_come_after_are_read_with_their_own_place(begin: Begin) -> None:
    call = begin(FLOW)
    call.send(Heard, "hold on")
    call.tool("book", "c1")
    assert [answer.kind for _, answer in call.answers] == ["guard"]
    call.send(Heard, "okay yes")
    call.tool("book", "c2")
    assert call.asked(RunTool)
    start, end = call.snapshot.evidence["agreed"].span
    assert "hold on okay yes"[start:end] in ("okay yes", "okay", "yes")


def test_only_extractors_of_every_turn_that_may_write_the_keys_are_started(begin: Begin) -> None:
    call = begin(FLOW)
    call.send(Heard, "this is Jane")
    call.tool("greet")
    (run,) = call.asked(RunExtractor)
    assert (run.name, run.turn, run.window[-1].user) == ("Name", 1, "this is Jane")
    assert call.answers == []
    call.answer(run.id, {"name": "Jane"})
    assert call.asked(RunTool)
    assert call.values["name"] == "Jane"


def test_its_answer_is_good_for_the_end_of_the_turn(begin: Begin) -> None:
    call = begin(FLOW)
    call.send(Heard, "this is Jane")
    call.tool("greet")
    call.answer(call.run("Name"), {"name": "Jane"})
    call.send(Said, "Hello Jane.")
    call.send(TurnEnded)
    assert {effect.name for effect in call.asked(RunExtractor)} == {"Slow", "Mood"}


def test_an_open_run_of_the_same_words_is_awaited_by_the_turn(begin: Begin) -> None:
    call = begin(FLOW)
    call.send(Heard, "this is Jane")
    call.tool("greet")
    early = call.run("Name")
    call.send(TurnEnded)
    (opened,) = call.happened(BarrierOpened)
    assert early in opened.runs
    assert len(call.asked(RunExtractor)) == 2


def test_more_words_are_read_anew(begin: Begin) -> None:
    call = begin(FLOW)
    call.send(Heard, "this is")
    call.tool("greet")
    call.answer(call.run("Name"), {})
    assert [answer.kind for _, answer in call.answers] == ["guard"]
    call.send(Heard, "Jane")
    call.send(TurnEnded)
    names = [effect.name for effect in call.asked(RunExtractor)]
    assert "Name" in names


def test_a_failed_early_run_is_made_again_at_the_end_of_the_turn(begin: Begin) -> None:
    call = begin(FLOW)
    call.send(Heard, "this is Jane")
    call.tool("greet")
    call.answer(call.run("Name"), None, "failed")
    assert [answer.kind for _, answer in call.answers] == ["guard"]
    call.send(TurnEnded)
    assert "Name" in {effect.name for effect in call.asked(RunExtractor)}


def test_without_an_answer_in_time_the_call_is_denied(begin: Begin) -> None:
    call = begin(FLOW)
    call.send(Heard, "this is Jane")
    call.tool("greet")
    call.ring()
    assert (call.at, [answer.kind for _, answer in call.answers]) == (1_500, ["guard"])


def test_phases_do_not_move_on_what_was_read_before_the_call_is_decided(begin: Begin) -> None:
    text = FLOW.replace("when: is_true(booked)", "when: is_true(agreed)")
    text = text.replace("  booked:\n", "  booked:\n    tools: []\n")
    call = begin(text)
    call.send(Heard, "yes")
    call.tool("book")
    assert call.asked(RunTool), "it was asked where it was allowed"
    assert call.phase == "booked"
    assert call.happened(PromotionDecided)


def test_what_a_record_heard_and_the_barrier_holds_counts_for_a_call(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("yes please")
    assert "agreed" not in call.values, "the turn waits for its models"
    call.tool("book")
    assert [effect.tool for effect in call.asked(RunTool)] == ["book"]
    for name in ("Name", "Slow", "Mood"):
        call.answer(call.run(name), {})
    assert call.values["agreed"] is True
