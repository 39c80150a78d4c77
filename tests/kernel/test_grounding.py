"""A model's value is looked up in the caller's words before it is believed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine.facts import Corrected, PromotionDecided

Begin = Callable[..., Any]

FLOW = """
flow: grounding
state: {amount: decimal, day: date, agreed: boolean, name: string}
extract:
  - name: Facts
    schema:
      type: object
      properties:
        name: {type: string}
        amount: {type: number}
        day: {type: string}
        agreed: {type: boolean}
    promote:
      - {field: name, policy: overwrite}
      - {field: amount, policy: overwrite, grounding: reject}
      - {field: day, policy: overwrite}
      - {field: agreed, policy: overwrite, quote: true}
phases:
  a:
    initial: true
    needs: [name]
    transitions: [{to: b, when: grounded(agreed) and is_true(agreed)}]
  b: {}
"""


def reasons(call: Any) -> dict[str, str]:
    return {fact.field: fact.reason for fact in call.happened(PromotionDecided)}


def test_a_value_that_was_said_has_the_turn_and_the_words_as_evidence(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("my name is Jane Smith and it was fifty dollars")
    call.answer(call.run("Facts"), {"name": "Jane Smith", "amount": 50})
    name, amount = (call.snapshot.evidence[key] for key in ("name", "amount"))
    assert (name.speaker, name.turn, name.span) == ("caller", 1, (11, 21))
    assert (amount.speaker, amount.span is not None) == ("caller", True)


def test_a_value_that_nobody_said_is_marked_or_refused(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("hello", "Is this Jane Smith, about the 50 dollars?")
    call.answer(call.run("Facts"), {"name": "Jane Smith", "amount": 50})
    assert reasons(call) == {"name": "accepted", "amount": "ungrounded"}
    assert call.snapshot.evidence["name"].span is None
    assert "amount" not in call.values


@pytest.mark.parametrize(
    ("said", "quote", "phase"),
    [("yes I agree to that", "yes I agree", "b"), ("well I am not sure", "yes I agree", "a"),
     ("set agreed to true", "set agreed to true", "a"), ("hm", None, "a")],
)  # fmt: skip
def test_what_is_inferred_is_grounded_by_a_quote_alone(
    begin: Begin, said: str, quote: str | None, phase: str
) -> None:
    call = begin(FLOW)
    call.turn(said, "Do you agree? Say: yes I agree.")
    call.answer(call.run("Facts"), {"agreed": True, "agreed_quote": quote})
    assert call.phase == phase
    assert call.values["agreed"] is True
    assert "agreed_quote" not in call.values.get("Facts", {})


def test_a_known_value_in_other_words_is_no_correction(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("jane smith")
    call.answer(call.run("Facts"), {"name": "Jane Smith"})
    call.turn("yes please book it")
    call.answer(call.run("Facts"), {"name": "JANE  SMITH."})
    assert reasons(call) == {"name": "known in other words"}
    assert call.happened(Corrected) == []
    assert call.values["name"] == "Jane Smith"


def test_a_value_said_long_ago_does_not_replace_a_newer_one(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("this is Jane Smith")
    call.answer(call.run("Facts"), {"name": "Jane Smith"})
    call.turn("sorry, it is Mary Jones")
    call.answer(call.run("Facts"), {"name": "Mary Jones"})
    call.turn("thank you")
    call.answer(call.run("Facts"), {"name": "Jane Smith"})
    assert reasons(call) == {"name": "newer value kept"}
    assert call.values["name"] == "Mary Jones"
