"""A key changes, whoever writes it: what rests on it is cleared."""

from __future__ import annotations

from typing import Any

from flowengine.effects import Decide

DECIDE = """
flow: d
state: {slot: string, agreed: {type: boolean, depends_on: [slot]}}
decisions:
  pick: {question: Which?, type: choice, options: ["seven", "nine"], writes: slot}
phases:
  a:
    initial: true
    needs: [slot, agreed]
    transitions: [{to: b, when: decided(pick) and is_true(zzz)}]
  b: {}
"""


def picked(option: str) -> dict[str, Any]:
    """The decision model's answer: this option, surely."""
    sure = {"option": option, "value": option, "probability": 0.99}
    return {"pick": {**sure, "probabilities": {option: 0.99}}}


def test_decision_that_changes_a_key_clears_what_depends_on_it(begin: Any) -> None:
    call = begin(DECIDE)
    call.turn("seven")
    (ask,) = call.asked(Decide)
    call.answer(ask.id, picked("seven"))
    assert call.values["slot"] == "seven"
    call.set(agreed=True)
    call.turn("no, nine")
    (ask,) = call.asked(Decide)
    call.answer(ask.id, picked("nine"))
    assert call.values["slot"] == "nine"
    assert "agreed" not in call.values


def test_channel_values_that_change_a_key_clear_what_depends_on_it(begin: Any) -> None:
    call = begin(DECIDE, slot="seven", agreed=True)
    call.turn("key pad", slot="nine")
    assert call.values["slot"] == "nine"
    assert "agreed" not in call.values


def test_a_correction_that_the_next_turns_end_settles_clears_too(begin: Any) -> None:
    call = begin(
        """
flow: t
state: {amount: decimal, agreed: {type: boolean, depends_on: [amount]}}
records: {r: {fields: {amount: {recognize: money}}}}
extract: [{name: Mood, schema: {properties: {mood: {}}}}]
phases: {a: {initial: true, needs: [amount]}}
""",
        amount="50",
        agreed=True,
    )
    call.turn("no, eighty dollars")
    call.turn("thank you")
    assert "agreed" not in call.values


def test_two_corrections_in_one_step_are_both_seen(begin: Any) -> None:
    """A waiting call lands one; the barrier that its run closes lands the other."""
    call = begin(
        """
flow: p
state: {amount: decimal, who: string}
records: {r: {fields: {amount: {recognize: money}}}}
extract:
  - name: X
    schema: {properties: {who: {type: string}}}
    promote: [{field: who, policy: correct, grounding: accept}]
tools: {pay: {when: who == 'bob' and is_true(never)}}
phases:
  a: {initial: true, needs: [amount, who], transitions: [{to: b, when: corrected(who)}]}
  b: {}
""",
        amount="5",
        who="alice",
    )
    call.turn("no, bob, and eighty dollars")
    call.tool("pay", "c1")
    call.answer(call.run("X"), {"who": "bob"})
    assert (call.values["who"], call.values["amount"]) == ("bob", "80")
    assert call.phase == "b"
