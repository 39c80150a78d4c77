"""Which write stands: the caller's newer words, an older tool, a key that comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flowengine.facts import KeyWritten, PatternFired, WatcherFired
from flowengine.inputs import Heard, TurnEnded

RECORD = """
flow: writes
records: {order: {fields: {n: {recognize: integer}}}}
phases: {ask: {initial: true, needs: [n]}}
"""


def test_words_of_the_next_turn_replace_what_was_written_between_turns(
    begin: Callable[..., Any],
) -> None:
    call = begin(RECORD)
    call.turn("two")
    call.set(n=3)
    call.turn("make it five")
    assert call.values["n"] == 5


def test_words_heard_before_a_write_do_not_replace_it(begin: Callable[..., Any]) -> None:
    call = begin(RECORD)
    call.turn("well")
    call.send(Heard, "five")
    call.set(n=3)
    call.send(TurnEnded)
    assert call.values["n"] == 3


def test_a_write_at_the_end_of_a_turn_belongs_to_that_turn(begin: Callable[..., Any]) -> None:
    call = begin(RECORD + "watch: [{key: n, do: [{set: {seen: true}}]}]\n")
    call.turn("two")
    turns = {fact.key: fact.turn for fact in call.facts if isinstance(fact, KeyWritten)}
    assert turns == {"n": 1, "seen": 1}


DIGRESSION = """
flow: away
records: {order: {fields: {n: {recognize: integer, to: "phase:n"}}}}
watch: [{key: "phase:n", do: [{set: {seen: true}}]}]
phases: {ask: {initial: true}}
digressions:
  faq:
    on: faq
    phases:
      answer: {initial: true, transitions: [{to: over, on: enough}]}
      over: {final: true}
"""


def test_phase_keys_come_back_from_a_digression_with_their_evidence_and_unwatched(
    begin: Callable[..., Any],
) -> None:
    call = begin(DIGRESSION)
    call.turn("two")
    evidence = call.snapshot.evidence["phase:n"]
    call.set(event="faq")
    assert "phase:n" not in call.values
    call.set(event="enough")
    call.turn("thanks")
    assert call.values["phase:n"] == 2
    assert call.snapshot.evidence["phase:n"] == evidence
    assert not [fact for fact in call.facts if isinstance(fact, WatcherFired)]


def test_a_pattern_that_asks_for_time_in_the_phase_sets_the_timer(
    begin: Callable[..., Any],
) -> None:
    call = begin("""
flow: slow
patterns: [{name: long, when: elapsed >= 30s, sustained: 10s, do: [{set: {slow: true}}]}]
phases: {ask: {initial: true}}
""")
    call.ring()
    assert call.at == 30_000
    call.ring()
    assert call.at == 40_000
    assert PatternFired("long") in call.facts
