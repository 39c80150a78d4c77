"""A tool call is judged by everything that was heard, also by what still waits for its turn."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from flowengine.effects import RunTool
from flowengine.facts import canonical_json
from flowengine.inputs import Outcome
from flowengine.kernel import from_json, to_json

Begin = Callable[..., Any]

FLOW = """
flow: gate
extract:
  - {name: Mood, schema: {properties: {mood: {}}}}
  - {name: Plan, schema: {properties: {plan: {}}}, promote: [{field: plan, policy: overwrite}]}
tools: {pay: {when: plan == 'pay'}}
phases:
  a: {initial: true, transitions: [{to: b, when: plan == 'never'}]}
  b: {}
"""

CONSENT = """
flow: consent
state: {agreed: boolean}
records: {answer: {fields: {agreed: {recognize: yes_no}}}}
extract: [{name: Mood, schema: {properties: {mood: {}}}}]
tools: {charge: {when: is_true(agreed), commit: true}}
phases: {a: {initial: true}}
"""


def test_a_value_that_waits_for_its_barrier_counts_at_the_gate(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("one")
    call.answer(call.run("Plan"), {"plan": "pay"})
    assert "plan" not in call.values
    call.tool("pay")
    assert call.asked(RunTool)
    assert call.snapshot.wait.barrier is not None


def test_a_commit_does_not_run_on_a_yes_that_was_taken_back(begin: Begin) -> None:
    call = begin(CONSENT)
    call.turn("yes, charge it")
    call.answer(call.run("Mood"), {})
    assert call.values["agreed"] is True
    call.turn("no, stop, don't charge it")
    call.tool("charge")
    assert [answer.kind for _, answer in call.answers] == ["guard"]


def test_calls_that_wait_are_decided_in_the_order_in_which_they_were_asked(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("one")
    call.tool("pay", "second")
    call.tool("pay", "first")
    resumed = from_json(json.loads(canonical_json(to_json(call.snapshot))))
    outcome = Outcome("x", 0, call.run("Plan"), "ok", {"plan": "pay"})
    one, other = (call.kernel.step(s, outcome) for s in (call.snapshot, resumed))
    assert one.facts == other.facts
