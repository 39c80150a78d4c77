"""A phase that gets nothing it needs is nudged with back-off, then escalates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine.effects import Tell
from flowengine.facts import RepairSignalled
from flowengine.flow.trouble import Repair
from flowengine.kernel.repair import is_reprompt

Begin = Callable[..., Any]

FLOW = """
flow: repair
phases:
  ask:
    initial: true
    needs: [first_name, day]
    repair: {reprompt_after: 2, escalate_after: 5}
    transitions:
      - {to: human, when: "is_true(repair:ask:escalate)"}
      - {to: next, when: "captured([first_name, day])"}
  next: {}
  human: {}
"""


def test_turns_without_progress_are_nudged_then_escalate_and_edges_can_read_it(
    begin: Begin,
) -> None:
    call, seen = begin(FLOW), []
    for _ in range(5):
        call.turn("hm")
        seen.append([fact.signal for fact in call.happened(RepairSignalled)])
        if seen[-1] == ["reprompt"]:
            assert call.values["repair:ask:reprompt"] is True
            told = [effect.text for effect in call.effects if isinstance(effect, Tell)]
            assert told == ["Still missing: first name, day. Ask for it again, in other words."]
    assert seen == [[], ["reprompt"], [], ["reprompt"], ["escalate"]]
    assert call.phase == "human"
    assert not [key for key in call.values if key.startswith("repair:")], "left with the phase"


@pytest.mark.parametrize(("turns", "hit"), [(2, True), (3, False), (4, True), (6, False), (8, True),
                                            (12, False), (16, True), (20, False)])  # fmt: skip
def test_reprompts_come_less_and_less_often(turns: int, hit: bool) -> None:
    assert is_reprompt(Repair(reprompt_after=2, escalate_after=20), turns) is hit


def test_a_need_that_is_met_starts_the_count_again(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("hm")
    call.turn("hm")
    assert call.values["repair:ask:reprompt"] is True
    call.turn("Jo", first_name="Jo")
    assert "repair:ask:reprompt" not in call.values
    call.turn("hm")
    assert not call.happened(RepairSignalled)
    call.turn("hm")
    assert call.happened(RepairSignalled) == [RepairSignalled("ask", "reprompt", ("day",))]


def test_escalation_lists_what_is_unfulfilled_until_there_is_progress(begin: Begin) -> None:
    call = begin(FLOW.replace("repair:ask:escalate", "other"))
    for _ in range(5):
        call.turn("hm")
    assert call.values["repair:unfulfilled"] == ["first_name", "day"]
    assert call.phase == "ask"
    call.turn("Friday", day="Friday")
    assert not [key for key in call.values if key.startswith("repair:")]


def test_the_models_own_turns_are_not_counted(begin: Begin) -> None:
    call = begin(FLOW)
    for _ in range(4):
        call.turn("", "Hello?")
    assert not call.snapshot.wait.repeats


def test_what_was_known_on_entry_is_no_progress(begin: Begin) -> None:
    call = begin(FLOW, first_name="Jo")
    signals = []
    for _ in range(5):
        call.turn("hm")
        signals.append([fact.signal for fact in call.happened(RepairSignalled)])
    assert signals == [[], ["reprompt"], [], ["reprompt"], ["escalate"]]
