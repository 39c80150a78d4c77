"""The model's words are complete before the caller has heard them: what waits for that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine.effects import RunExtractor
from flowengine.facts import BarrierOpened, KeyWritten, RunEnded
from flowengine.inputs import Generated, Heard, Said, TurnEnded

Begin = Callable[..., Any]

FLOW = """
flow: generation
state: {amount: decimal}
records:
  early: {trigger: on_generation_complete, fields: {amount: {recognize: money}}}
extract:
  - name: Promise
    trigger: on_generation_complete
    schema: {properties: {promised: {}, note: {}}}
    promote: [{field: promised, policy: overwrite}, {field: note, to: "turn:note"}]
  - name: Mood
    schema: {properties: {mood: {}}}
    promote: [{field: mood, policy: overwrite}]
phases:
  a: {initial: true, transitions: [{to: b, when: is_set(promised)}]}
  b: {}
"""


def asked(call: Any) -> list[tuple[str, int, str]]:
    return [(run.name, run.turn, run.window[-1].model) for run in call.asked(RunExtractor)]


def complete(begin: Begin, words: str = "I send it tomorrow. Anything else?") -> Any:
    """A call in which the model has just finished its words, and the caller hears them."""
    call = begin(FLOW)
    call.send(Heard, "I want the letter")
    call.send(Generated, words)
    return call


def test_the_run_starts_when_the_models_words_are_complete_and_reads_them(begin: Begin) -> None:
    call = complete(begin)
    assert asked(call) == [("Promise", 1, "I send it tomorrow. Anything else?")]
    assert call.snapshot.transcript.current.model == ""


def test_what_it_brings_moves_the_call_before_the_turn_ends(begin: Begin) -> None:
    call = complete(begin)
    call.answer(call.run("Promise"), {"promised": "tomorrow", "note": "n"})
    assert [fact.status for fact in call.happened(RunEnded)] == ["ok"]
    assert (call.values["promised"], call.values["turn:note"], call.phase) == ("tomorrow", "n", "b")


@pytest.mark.parametrize("heard", ["I send it tomorrow. Anything else?", "I send it"])
def test_the_turns_end_asks_for_nothing_that_has_been_read(begin: Begin, heard: str) -> None:
    call = complete(begin)
    call.answer(call.run("Promise"), {})
    call.send(Said, heard, len(heard) < 20)
    call.send(TurnEnded)
    assert [name for name, *_ in asked(call)] == ["Mood"]


def test_the_turn_waits_for_a_run_that_is_still_open(begin: Begin) -> None:
    call = complete(begin)
    run = call.run("Promise")
    call.send(Said, "I send it tomorrow. Anything else?")
    call.send(TurnEnded)
    [opened] = call.happened(BarrierOpened)
    assert opened.runs[0] == run
    assert len(opened.runs) == 2


def test_without_the_moment_it_runs_at_the_turns_end(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("I want the letter", "I send it")
    assert asked(call) == [("Promise", 1, "I send it"), ("Mood", 1, "I send it")]


def test_words_of_the_caller_that_come_afterwards_are_read_at_the_turns_end(begin: Begin) -> None:
    call = complete(begin)
    call.answer(call.run("Promise"), {})
    call.send(Said, "I send it tomorrow. Anything else?")
    call.send(Heard, "and the other")
    call.send(TurnEnded)
    assert [name for name, *_ in asked(call)] == ["Promise", "Mood"]


def test_a_failed_run_is_made_up_for_at_the_turns_end(begin: Begin) -> None:
    call = complete(begin)
    call.answer(call.run("Promise"), None, "failed", "x")
    call.send(Said, "I send it tomorrow. Anything else?")
    call.send(TurnEnded)
    assert [name for name, *_ in asked(call)] == ["Promise", "Mood"]


def test_more_words_in_the_turn_are_read_once_the_open_run_has_ended(begin: Begin) -> None:
    """Before and after a tool call: two answers of the model, one turn."""
    call = complete(begin, "Let me look.")
    call.send(Said, "Let me look.")
    call.send(Generated, "You get it tomorrow.")
    assert asked(call) == []
    call.send(Said, "You get it")
    call.answer(call.run("Promise"), {})
    assert asked(call) == [("Promise", 1, "Let me look. You get it")]
    call.answer(call.run("Promise"), {})
    call.send(Said, "tomorrow.")
    call.send(TurnEnded)
    assert asked(call)[0] == ("Promise", 1, "Let me look. You get it tomorrow.")


def test_words_after_the_turns_end_belong_to_it(begin: Begin) -> None:
    """The model speaks of a tool's result: the caller has said nothing new."""
    call = begin(FLOW)
    call.turn("I want the letter", "Let me look.")
    for name in ("Promise", "Mood"):
        call.answer(call.run(name), {})
    call.send(Generated, "You get it tomorrow.")
    assert asked(call) == [("Promise", 1, "Let me look. You get it tomorrow.")]
    call.answer(call.run("Promise"), {"promised": "tomorrow"})
    assert call.values["promised"] == "tomorrow"


def test_a_greeting_starts_nothing(begin: Begin) -> None:
    call = begin(FLOW)
    call.send(Generated, "Good morning.")
    assert asked(call) == []


def test_few_words_start_no_run(begin: Begin) -> None:
    call = begin(
        FLOW.replace(
            "on_generation_complete\n    schema",
            "on_generation_complete\n    min_words: 3\n    schema",
        )
    )
    call.send(Heard, "uh huh")
    call.send(Generated, "Good.")
    assert asked(call) == []


def test_a_record_of_that_moment_reads_the_turn_in_progress(begin: Begin) -> None:
    call = begin(FLOW)
    call.send(Heard, "I pay fifty dollars")
    assert "amount" not in call.values
    call.send(Generated, "Fifty dollars, very well.")
    assert [(f.key, f.new) for f in call.happened(KeyWritten)] == [("amount", "50")]
