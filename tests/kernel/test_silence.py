"""Nobody speaks, or nothing fits: ladders; words to be spoken exactly; failures that escalate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine.facts import NoInput, VerbatimChecked
from flowengine.inputs import Heard, Said

Begin = Callable[..., Any]

FLOW = """
flow: silence
state: {size: integer}
records: {order: {fields: {size: {recognize: integer}}}}
tools: {look: {}}
phases:
  a:
    initial: true
    needs: [size]
    say: This call is recorded for quality.
    verbatim: 0.9
    no_input:
      - {after: 8s, do: [{say: Are you there?}]}
      - {after: 4s, do: [{say: Hello?}, {raise: lost}]}
    no_match:
      - {do: [{say: How many?}]}
      - {do: [{raise: lost}]}
    repair: {escalate_after_failures: 2, escalate_after_interruptions: 3}
    transitions: [{to: gone, on: lost}, {to: staff, when: "is_set(repair:unfulfilled)"}]
  staff: {}
  gone: {final: true}
"""


def test_silence_climbs_the_ladder_and_words_start_it_again(begin: Begin) -> None:
    call = begin(FLOW)
    call.ring()
    assert (call.at, call.said) == (8_000, ["Are you there?"])
    assert call.happened(NoInput) == [NoInput("a", 0)]
    call.at = 9_000
    call.send(Heard, "hm")
    assert call.snapshot.wait.timer is None, "nobody is silent while somebody speaks"
    call.turn("")
    call.ring()
    assert (call.at, call.said) == (17_000, ["Are you there?"])
    call.ring()
    assert (call.at, call.phase) == (21_000, "gone")


def test_the_models_words_and_noise_without_words(begin: Begin) -> None:
    call = begin(FLOW)
    call.at = 5_000
    call.send(Said, "Welcome.")
    call.turn("")
    call.at = 6_000
    call.send(Heard, "  ")
    call.ring()
    assert call.at == 13_000, "the model's words put it off, noise does not"


def test_silence_stands_still_while_a_tool_runs(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("")
    call.at = 5_000
    call.tool("look")
    assert call.snapshot.wait.timer is None
    call.at = 20_000
    call.answer(call.run("c"), {})
    call.ring()
    assert call.at == 28_000


def test_turns_that_bring_nothing_climb_a_ladder_of_their_own(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("hm")
    assert call.said == ["How many?"]
    call.turn("what")
    assert call.phase == "gone"


def test_a_turn_that_brings_what_is_needed_starts_it_again(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("hm")
    call.turn("four")
    assert (call.said, call.phase) == ([], "a")


@pytest.mark.parametrize(
    ("spoken", "passed"),
    [("This call is recorded, for quality!", True), ("This call may be recorded", False)],
)
def test_words_that_must_be_spoken_are_compared(begin: Begin, spoken: str, passed: bool) -> None:
    call = begin(FLOW)
    call.send(Said, spoken)
    (checked,) = call.happened(VerbatimChecked)
    assert checked.passed is passed
    assert (call.values.get("verbatim:a") is True) is passed


def test_failed_calls_escalate(begin: Begin) -> None:
    call = begin(FLOW)
    for name in ("c1", "c2"):
        assert call.phase == "a"
        call.tool("look", name)
        call.answer(call.run(name), None, "failed")
    assert call.phase == "staff"


def test_interruptions_escalate(begin: Begin) -> None:
    call = begin(FLOW)
    for _ in range(3):
        assert call.phase == "a"
        call.send(Said, "I", interrupted=True)
    assert call.phase == "staff"


SILENT = """
flow: s
extract: [{name: X, schema: {properties: {ok: {}}}, promote: [{field: ok}]}]
tools: {pay: {when: is_true(ok)}, ask: {confirm: Sure?}}
phases:
  a:
    initial: true
    no_input: [{after: 1s, do: [{say: Still there?}]}, {after: 1s, do: [{say: Bye}]}]
"""


def test_silence_goes_on_after_a_call_that_waited_was_denied(begin: Begin) -> None:
    call = begin(SILENT)
    call.turn("hm", "Hello")
    call.tool("pay", "c1")  # waits for X
    call.ring()  # its deadline
    assert [a.status for _, a in call.answers] == ["denied"]
    call.answer(call.run("X"), {})
    assert call.snapshot.wait.timer is not None


def test_silence_goes_on_after_a_confirmation_was_declined(begin: Begin) -> None:
    call = begin(SILENT)
    call.turn("", "Hello")
    call.tool("ask", "c1")
    run = call.run("c1")
    call.at += 60_000
    call.answer(run, False)
    assert call.snapshot.wait.timer is not None


def test_an_input_at_the_instant_of_the_timer_does_not_take_it_away(begin: Begin) -> None:
    call = begin(SILENT)
    call.turn("", "Hello")
    timer = call.snapshot.wait.timer
    call.at = timer[1]
    call.set(x=1)
    assert call.snapshot.wait.timer == timer
    call.ring()
    assert call.happened(NoInput)


def test_silence_is_counted_after_a_turn_that_failed(begin: Begin) -> None:
    call = begin("""
flow: s
state: {n: integer}
phases: {a: {initial: true, no_input: [{after: 1s, do: [{say: Still there?}]}]}}
""")
    call.turn("hello", n="x")
    assert call.snapshot.wait.timer is not None
