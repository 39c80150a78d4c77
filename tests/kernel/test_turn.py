"""A turn in its order, and what begins and ends with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine.facts import (
    KeyWritten,
    PatternFired,
    PhaseDone,
    PhaseEntered,
    TransitionTaken,
    TurnClosed,
    WatcherFired,
)  # fmt: skip
from flowengine.inputs import Heard, Said, TurnEnded

Begin = Callable[..., Any]


def test_a_turn_goes_from_records_to_computed_keys_to_watchers_to_patterns_to_phases(
    begin: Begin,
) -> None:
    call = begin("""
flow: order
state: {amount: decimal}
records: {promise: {fields: {amount: {recognize: money}}}}
computed: {large: {cases: [{when: amount > 100, value: true}], else: false}}
watch: [{key: large, became_true: true, do: [{set: {alerted: true}}]}]
patterns: [{name: big, when: is_true(alerted), turns: 1, do: [{set: {patient: true}}]}]
phases:
  a: {initial: true, transitions: [{to: b, when: is_true(patient)}]}
  b: {}
""")
    call.turn("I pay two hundred dollars")
    kinds = (TurnClosed, KeyWritten, WatcherFired, PatternFired, TransitionTaken)
    seen = [getattr(f, "key", type(f).__name__) for f in call.facts if isinstance(f, kinds)]
    assert seen == ["TurnClosed", "amount", "derived:large", "large", "alerted", "PatternFired",
                    "patient", "TransitionTaken"]  # fmt: skip
    assert call.phase == "b"


def test_a_greeting_is_a_turn_of_its_own_and_asks_what_is_answered_first(begin: Begin) -> None:
    call = begin("""
flow: greeting
state: {adult: boolean}
records:
  age: {fields: {adult: {recognize: yes_no, when_asked: by_words, asks: [over eighteen]}}}
phases: {a: {}}
""")
    call.send(Said, "Hello, are you over eighteen?")
    heard = call.send(Heard, "yes I am")
    assert [f for f in heard.facts if isinstance(f, TurnClosed)] == [TurnClosed(1, False)]
    call.send(Said, "Thank you.")
    call.send(TurnEnded)
    assert call.snapshot.values["adult"] is True
    said = [(turn.number, turn.user, turn.model) for turn in call.snapshot.transcript.turns]
    assert said == [
        (1, "", "Hello, are you over eighteen?"),
        (2, "yes I am", "Thank you."),
    ]
    assert call.snapshot.turns == 1


LIFETIMES = """
flow: lifetimes
computed: {shout: {of: "turn:mood", map: {angry: 1}, else: 0}}
watch: [{key: "turn:mood", changed: true, do: [{set: {noticed: true}}]}]
phases:
  a: {initial: true, transitions: [{to: b, on: go}]}
  b: {transitions: [{to: a, on: go}]}
"""


@pytest.mark.parametrize(("kind", "args"), [(Heard, ("hm",)), (Said, ("hm",)), (TurnEnded, ())])
def test_turn_keys_end_with_the_first_input_after_their_turn(
    begin: Begin, kind: Any, args: Any
) -> None:
    call = begin(LIFETIMES)
    call.turn("what", **{"turn:mood": "angry"})
    assert call.values["turn:mood"] == "angry"
    assert call.values["derived:shout"] == 1
    call.set(noticed=False)
    call.turn("what", **{"turn:mood": "angry"})
    call.send(kind, *args)
    assert "turn:mood" not in call.values
    assert call.values["derived:shout"] == 0
    assert not call.happened(WatcherFired)


LATE = """
flow: late
extract: [{name: X, schema: {properties: {ok: {}}}, promote: [{field: ok}]}]
patterns: [{name: often, when: is_true(x), turns: 2, do: [{set: {twice: true}}]}]
phases: {a: {initial: true, transitions: [EDGE]}, b: {}}
"""
QUIET = (
    "not is_true('turn:busy')", "caller_spoke and not is_true('turn:busy')", "elapsed >= 5s",
    "is_true(ok)", "is_true(twice)",
)  # fmt: skip


@pytest.mark.parametrize("guard", QUIET)
def test_words_after_the_turn_settle_nothing(begin: Begin, guard: str) -> None:
    call = begin(LATE.replace("EDGE", f'{{to: b, when: "{guard}"}}'), **{"turn:busy": True})
    call.turn("well", "ok", x=True, **{"turn:busy": True})
    call.at = 10_000
    for words in ("One", "more", "thing."):
        call.send(Said, words)
    assert call.phase == "a"
    assert call.snapshot.transcript.turns[-1].model == "ok One more thing."
    assert not call.happened(TransitionTaken)


def test_what_ended_before_late_words_moves_phases_with_the_next_input(begin: Begin) -> None:
    call = begin(
        LATE.replace("EDGE", "{to: b, when: \"not is_true('turn:busy')\"}"), **{"turn:busy": True}
    )
    call.turn("well", "ok", **{"turn:busy": True})
    call.answer(call.run("X"), {})
    call.send(Said, "One more thing.")
    assert (call.phase, "turn:busy" in call.values) == ("a", False)
    call.send(Heard, "yes?")
    assert call.phase == "b"


def test_late_words_that_are_watched_for_still_tell(begin: Begin) -> None:
    """What is asked of the words themselves is settled; the turn that they belong to is not."""
    call = begin("""
flow: told
tools: {refill: {claims: [refill is submitted]}}
phases:
  a: {initial: true, transitions: [{to: b, on: "claim:refill"}, {to: c, when: caller_spoke}]}
  b: {}
  c: {}
""")
    call.turn("", "Hello.")
    call.send(Said, "Your refill is submitted.")
    assert call.phase == "b"


def test_opening_words_begin_a_turn_of_their_own(begin: Begin) -> None:
    call = begin(LIFETIMES)
    call.send(TurnEnded, {"turn:mood": "angry"})
    call.send(Said, "Hello.")
    assert "turn:mood" not in call.values
    assert call.snapshot.transcript.current.model == "Hello."
    assert not call.snapshot.settled


def test_a_turn_key_written_between_turns_lives_until_the_next_turn_has_settled(
    begin: Begin,
) -> None:
    call = begin(LIFETIMES)
    call.turn("one")
    call.set(**{"turn:mood": "calm"})
    call.send(Heard, "two")
    assert call.values["turn:mood"] == "calm"
    call.send(TurnEnded)
    assert call.values["turn:mood"] == "calm"
    call.send(Heard, "three")
    assert "turn:mood" not in call.values


def test_phase_keys_end_with_the_phase(begin: Begin) -> None:
    call = begin(LIFETIMES, **{"phase:tries": 2})
    call.set("go")
    assert "phase:tries" not in call.values


def test_an_edge_without_condition_waits_until_the_caller_has_spoken(begin: Begin) -> None:
    call = begin("""
flow: greeting
phases:
  greet: {initial: true, say: Hello., transitions: [{to: on}]}
  on: {transitions: [{to: off, immediately: true}]}
  off: {}
""")
    call.turn("", "Hello, who is there?")
    assert call.phase == "greet"
    call.turn("it's me")
    assert call.phase == "off"


def test_words_are_said_once_and_only_where_the_call_comes_to_rest(begin: Begin) -> None:
    call = begin("""
flow: chain
phases:
  a: {initial: true, say: A., transitions: [{to: b, on: go}]}
  b: {say: B., transitions: [{to: c, immediately: true}]}
  c: {say: C., enter_prompt: Go on., prompt_on_enter: true}
""")
    assert call.said == ["A."]
    call.set("go")
    assert call.said == ["C."]
    assert [(e.text, e.respond) for e in call.effects[1:]] == [("Go on.", True)]


def test_done_latches_while_active_and_is_taken_back_by_reset(begin: Begin) -> None:
    call = begin("""
flow: done
phases:
  a:
    initial: true
    needs: [x]
    transitions: [{to: b, when: done(a)}]
  b:
    transitions:
      - {to: a, on: again, do: [{reset: [a]}, {clear: [x]}]}
""")
    call.set(x=1)
    assert call.phase == "b"
    assert call.happened(PhaseDone) == [PhaseDone("a", True)]
    call.set("again")
    assert call.phase == "a"
    assert PhaseDone("a", False) in call.facts


def test_a_global_edge_fires_on_the_rise_of_its_guard_and_rearms_when_it_falls(
    begin: Begin,
) -> None:
    call = begin("""
flow: wide
global_transitions: [{to: stop, when: is_true(upset)}]
phases:
  a: {initial: true}
  stop: {transitions: [{to: a, on: back}]}
""")
    call.set(upset=True)
    assert call.phase == "stop"
    call.set("back")
    assert call.phase == "a"
    call.set(upset=True, other=1)
    assert call.phase == "a"
    call.set(upset=False)
    call.set(upset=True)
    assert call.phase == "stop"


def test_a_global_edge_goes_alone_in_the_main_region_and_monitors_hear_the_event_too(
    begin: Begin,
) -> None:
    call = begin("""
flow: alone
global_transitions: [{to: stop, on: alarm}]
phases:
  a: {initial: true}
  stop: {}
monitors:
  watch:
    phases:
      calm: {initial: true, transitions: [{to: alert, on: alarm}]}
      alert: {}
""")
    call.set("alarm")
    assert call.snapshot.place.active == ("stop", "alert")


def test_an_entry_guard_keeps_every_edge_out(begin: Begin) -> None:
    call = begin("""
flow: entry
phases:
  a: {initial: true, transitions: [{to: b, on: go}, {to: c, on: go}]}
  b: {entry: is_true(allowed)}
  c: {transitions: [{to: b, on: go}]}
""")
    call.set("go")
    assert call.phase == "c"
    call.set("go", allowed=True)
    assert call.phase == "b"


def test_time_in_a_phase_opens_edges_at_the_very_instant(begin: Begin) -> None:
    call = begin("""
flow: times
phases:
  a: {initial: true, transitions: [{to: b, after: 30s}]}
  b: {transitions: [{to: c, when: elapsed() > 10s}]}
  c: {}
""")
    assert call.snapshot.wait.timer[1] == 30_000
    call.ring()
    assert call.phase == "b"
    call.ring()
    if call.phase == "b":
        call.ring()
    assert (call.phase, call.at) == ("c", 40_001)
    assert call.snapshot.wait.timer is None


def test_a_sustained_pattern_fires_once_an_episode(begin: Begin) -> None:
    call = begin("""
flow: patterns
patterns: [{name: long, when: is_true(x), sustained: 20s, do: [{set: {late: true}}]}]
phases: {a: {initial: true, transitions: [{to: b, when: is_true(late)}]}, b: {}}
""")
    call.set(x=True)
    call.ring()
    assert (call.phase, call.at) == ("b", 20_000)
    call.turn()
    assert not call.happened(PatternFired)


def test_counters_of_turns_move_once_a_turn_even_if_an_extractor_is_slow(begin: Begin) -> None:
    call = begin("""
flow: counting
extract: [{name: Mood, schema: {properties: {mood: {}}}}]
patterns: [{name: twice, when: mood == 'angry', turns: 2, do: [{set: {calm: true}}]}]
phases: {a: {initial: true, transitions: [{to: b}]}, b: {}}
""")
    call.turn("grr", x=1)
    assert call.phase == "a"
    call.answer(call.run("Mood"), {"mood": "angry"})
    assert call.phase == "b"
    call.set(y=2)
    assert "calm" not in call.values
    call.turn("grr", y=3)
    call.answer(call.run("Mood"), {"mood": "angry"})
    assert call.values["calm"] is True


def test_a_cycle_of_eventless_edges_is_an_error_that_prints_it(begin: Begin) -> None:
    call = begin("""
flow: cycle
phases:
  a: {initial: true, transitions: [{to: b, when: is_true(x)}]}
  b: {transitions: [{to: c, when: is_true(x)}]}
  c: {transitions: [{to: a, when: is_true(x)}]}
""")
    step = call.set(x=True)
    assert "after 100: c -> a -> b -> c" in str(step.error)
    assert (call.phase, "x" in call.values) == ("a", False)


def test_what_is_raised_in_a_hook_is_offered_once_state_has_settled(begin: Begin) -> None:
    call = begin("""
flow: raised
phases:
  a: {initial: true, transitions: [{to: b, on: go}]}
  b: {on_enter: [{raise: next}], transitions: [{to: c, on: next}]}
  c: {}
""")
    call.set("go")
    assert [f.phase for f in call.happened(PhaseEntered)] == ["b", "c"]


def test_noise_is_no_turn_of_the_caller(begin: Any) -> None:
    call = begin("""
flow: s
phases: {a: {initial: true, transitions: [{to: b}]}, b: {}}
""")
    call.turn("   ")
    assert call.phase == "a"
