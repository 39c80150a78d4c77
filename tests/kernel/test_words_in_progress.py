"""A turn read early for a call: more words may follow, and they count."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine.effects import Decide, RunTool
from flowengine.inputs import Heard, TurnEnded


def test_an_answer_given_early_is_asked_anew_when_more_was_said(begin: Any) -> None:
    call = begin("""
flow: p
decisions: {agree: {question: Agree?}}
tools: {charge: {commit: true, when: decided(agree) and is_true(ready)}}
phases: {a: {initial: true}}
""")
    call.turn("hello")
    call.send(Heard, "yes")
    call.tool("charge", "c1")
    (ask,) = call.asked(Decide)
    call.answer(ask.id, {"agree": {"probability": 0.99}})
    assert [a.kind for _, a in call.answers] == ["guard"]  # not ready yet
    call.set(ready=True)
    call.send(Heard, "no wait, do not do that")
    call.tool("charge", "c2")
    assert not call.asked(RunTool)


def test_turn_end_asks_anew_when_more_was_said(begin: Any) -> None:
    call = begin("""
flow: p
decisions: {agree: {question: Agree?}}
tools: {charge: {when: decided(agree) and is_true(ready)}}
phases: {a: {initial: true, transitions: [{to: b, when: decided(agree)}]}, b: {}}
""")
    call.turn("hello")
    for ask in call.asked(Decide):
        call.answer(ask.id, {"agree": {"probability": 0.01}})
    call.send(Heard, "yes")
    call.tool("charge", "c1")
    (ask,) = call.asked(Decide)
    call.send(Heard, "no wait, do not do that")
    call.answer(ask.id, {"agree": {"probability": 0.99}})
    (again,) = call.asked(Decide)
    call.send(TurnEnded, {})
    assert call.phase == "a"
    assert call.snapshot.wait.barrier.runs == (again.id,)


def test_words_split_around_an_early_read_are_one_amount(begin: Any) -> None:
    call = begin("""
flow: p
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
tools: {charge: {when: amount > 1}}
phases: {a: {initial: true, needs: [amount]}}
""")
    call.turn("hello")
    call.send(Heard, "I can pay two")
    call.tool("charge", "c1")
    call.send(Heard, "hundred dollars")
    call.send(TurnEnded, {})
    assert call.values["amount"] == "200"


def test_a_negation_split_around_an_early_read(begin: Any) -> None:
    call = begin("""
flow: p
state: {agreed: boolean}
records: {r: {fields: {agreed: {recognize: yes_no}}}}
tools: {charge: {when: is_true(agreed)}}
phases: {a: {initial: true, needs: [agreed]}}
""")
    call.turn("hello", "Do you agree?")
    call.send(Heard, "I do not")
    call.tool("charge", "c1")
    call.send(Heard, "agree with that")
    call.send(TurnEnded, {})
    assert call.values.get("agreed") is not True


@pytest.mark.parametrize(
    "guard", ["confidence(amount) > 0.5", "grounded(amount)", "captured(amount)"]
)
def test_a_call_reads_for_evidence_too(begin: Any, guard: str) -> None:
    call = begin(f"""
flow: f
state: {{amount: decimal}}
records: {{r: {{fields: {{amount: {{recognize: money}}}}}}}}
tools: {{charge: {{when: {guard}}}}}
phases: {{a: {{initial: true}}}}
""")
    call.turn("hello")
    call.send(Heard, "two hundred dollars")
    call.tool("charge")
    assert call.asked(RunTool), call.answers


def test_a_hypothesis_that_has_been_read_does_not_answer_the_next_question(begin: Any) -> None:
    call = begin("""
flow: p
state: {first: boolean, second: boolean}
records:
  one: {fields: {first: {recognize: yes_no, accept_when: in_phase(a)}}}
  two: {fields: {second: {recognize: yes_no, accept_when: in_phase(b)}}}
tools: {look: {when: is_true(first)}, charge: {commit: true, when: is_true(second)}}
phases:
  a: {initial: true, needs: [first], transitions: [{to: b, when: is_true(first)}]}
  b: {needs: [second]}
""")
    call.turn("hello")
    call.send(Heard, "hm ya", ("hm yes", "yes"))
    call.tool("look", "c1")
    assert call.phase == "b"
    call.send(Heard, "well")
    call.tool("charge", "c2")
    assert [answer.kind for _, answer in call.answers] == ["guard"]
    call.send(Heard, "ya", ("yes",))
    call.tool("charge", "c3")
    assert call.asked(RunTool), "its own hypothesis counts"
