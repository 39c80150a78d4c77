"""A value is taken only where its field's condition holds."""

from __future__ import annotations

from flowengine.flow.load import loads
from flowengine.testing import Simulation

FLOW = loads("""
flow: promises
state:
  limit: {type: decimal, default: "500"}
records:
  promise:
    fields:
      amount: {recognize: money, accept_when: in_phase(agree) and value <= limit}
extract:
  - name: Mood
    schema: {type: object, properties: {mood: {type: string}}}
    promote:
      - {field: mood, policy: overwrite, accept_when: 'in_phase(agree) and value != "furious"'}
phases:
  hello:
    initial: true
    transitions:
      - to: agree
  agree:
    collect: [promise]
    transitions:
      - to: bye
        on: hang_up
  bye: {final: true}
""")


def test_an_amount_said_in_another_phase_is_not_taken() -> None:
    call = Simulation(FLOW)
    call.turn("I got a letter about four hundred dollars")
    assert "amount" not in call.state
    assert [f.reason for f in call.facts if type(f).__name__ == "PromotionDecided"] == [
        "not accepted now"
    ]
    call.turn("I can pay two hundred dollars")
    assert str(call.state["amount"]) == "200"


def test_the_condition_sees_the_value_beside_state() -> None:
    call = Simulation(FLOW, phase="agree")
    call.turn("I can pay six hundred dollars")
    assert "amount" not in call.state
    call.turn("I can pay five hundred dollars")
    assert str(call.state["amount"]) == "500"


def test_it_holds_for_what_a_model_extracts_too() -> None:
    call = Simulation(FLOW)
    call.turn("hello there", extract={"Mood": {"mood": "calm"}})
    assert "mood" not in call.state
    call.turn("well", extract={"Mood": {"mood": "furious"}})
    assert "mood" not in call.state
    call.turn("well", extract={"Mood": {"mood": "calm"}})
    assert call.state["mood"] == "calm"
