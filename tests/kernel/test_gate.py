"""The gate decides tool calls, and each call gets exactly one answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine import Functions
from flowengine.effects import Cancel, RunTool
from flowengine.facts import MASK, CallEnded, InputFailed, InputIgnored, ToolDecided
from flowengine.inputs import Said

Begin = Callable[..., Any]

FLOW = """
flow: gate
state: {paid: boolean, kind: integer}
extract:
  - {name: Amount, schema: {properties: {amount: {}}}, promote: [{field: amount}]}
  - {name: Mood, schema: {properties: {mood: {}}}}
tools:
  pay:
    args: {sum: number, note: {type: string, default: ""}}
    when: args.sum == amount
    set: {paid: true, receipt: result.id}
    save_as: payment
  look: {}
  log: {when: is_true(open)}
phases:
  a:
    initial: true
    tools: [pay, look, log]
    transitions: [{to: b, when: is_true(paid)}, {to: b, on: go}, {to: c, when: amount == 5}]
  b: {tools: {deny: [pay]}, transitions: [{to: c, when: called_ok(look)}]}
  c: {tools: []}
"""


def test_an_admitted_call_runs_and_its_result_is_written(begin: Begin) -> None:
    call = begin(FLOW, amount=7)
    call.tool("pay", sum=7)
    (run,) = call.asked(RunTool)
    assert (run.tool, run.args) == ("pay", {"sum": 7, "note": ""})
    assert call.answers == []
    call.answer(run.id, {"id": "r1"})
    assert [(id, a.status, a.value) for id, a in call.answers] == [("c", "ran", {"id": "r1"})]
    assert (call.values["receipt"], call.values["payment"]) == ("r1", {"id": "r1"})
    assert call.phase == "b"


@pytest.mark.parametrize(
    ("tool", "args", "kind", "missing"),
    [("what", {}, "unknown_tool", ()), ("pay", {}, "arguments", ("sum",)),
     ("pay", {"sum": 7}, "guard", ("amount",)), ("log", {}, "guard", ("open",))],
)  # fmt: skip
def test_a_refusal_says_what_kind_and_what_is_missing(
    begin: Begin, tool: str, args: Any, kind: str, missing: Any
) -> None:
    call = begin(FLOW)
    call.tool(tool, **args)
    ((id, answer),) = call.answers
    assert (id, answer.status, answer.kind, answer.missing) == ("c", "denied", kind, missing)
    assert answer.available == ("pay", "look", "log")
    told = MASK if kind == "unknown_tool" else tool
    assert call.happened(ToolDecided) == [ToolDecided("c", told, False, kind, missing)]


def test_phases_list_and_deny_tools(begin: Begin) -> None:
    call = begin(FLOW)
    call.set("go")
    call.tool("pay", sum=1)
    assert [answer.kind for _, answer in call.answers] == ["phase"]
    call.tool("look", "d")
    call.answer(call.run("d"))
    assert call.phase == "c"
    call.tool("look", "e")
    assert [(a.kind, a.available) for _, a in call.answers] == [("phase", ())]


def test_a_call_waits_for_the_run_that_may_write_what_its_guard_reads(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("five")
    call.tool("pay", sum=5)
    assert (call.answers, call.asked(RunTool)) == ([], [])
    call.answer(call.run("Amount"), {"amount": 5})
    assert call.snapshot.wait.barrier is not None, "the turn still waits for the other run"
    assert [effect.tool for effect in call.asked(RunTool)] == ["pay"]


def test_it_is_decided_in_the_phase_in_which_it_was_asked_before_phases_move(
    begin: Begin,
) -> None:
    call = begin(FLOW)
    call.turn("five")
    call.answer(call.run("Mood"), {})
    call.tool("pay", sum=5)
    call.answer(call.run("Amount"), {"amount": 5})
    assert call.phase == "c", "where no tool may be called"
    assert [effect.tool for effect in call.asked(RunTool)] == ["pay"]


def test_it_is_denied_once_no_open_run_can_help(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("five")
    call.tool("pay", sum=5)
    call.answer(call.run("Amount"), {"amount": 6})
    assert [answer.kind for _, answer in call.answers] == ["guard"]


def test_it_never_waits_for_a_run_that_it_does_not_need(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("five")
    call.tool("log")
    assert [answer.kind for _, answer in call.answers] == ["guard"]


def test_its_deadline_is_a_timer_and_then_it_is_denied(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("five")
    call.at = 100
    call.tool("pay", sum=5)
    call.ring()
    assert call.at == 1_600
    assert [(answer.status, answer.kind) for _, answer in call.answers] == [("denied", "guard")]
    call.ring()
    assert (call.at, call.answers) == (5_000, [])


def test_a_second_call_of_the_same_id_gets_the_first_ones_answer(begin: Begin) -> None:
    call = begin(FLOW)
    call.tool("look")
    call.tool("look")
    assert call.happened(InputIgnored)
    assert call.answers == []
    call.answer(call.run("c"), 3)
    call.tool("look")
    assert [(id, answer.value) for id, answer in call.answers] == [("c", 3)]
    assert call.asked(RunTool) == []


def test_a_second_outcome_is_ignored(begin: Begin) -> None:
    call = begin(FLOW)
    call.tool("look")
    run = call.run("c")
    call.answer(run, 1)
    call.answer(run, 2)
    assert len(call.happened(InputIgnored)) == 1
    assert call.answers == []


@pytest.mark.parametrize("status", ["failed", "timed_out"])
def test_a_tool_that_fails_is_answered_and_counts_as_not_called(begin: Begin, status: str) -> None:
    call = begin(FLOW, amount=7)
    call.tool("pay", sum=7)
    call.answer(call.run("c"), None, status, "declined")
    assert [(answer.status, answer.kind) for _, answer in call.answers] == [("failed", "declined")]
    assert (call.phase, "paid" in call.values) == ("a", False)


def test_barge_in_cancels_what_runs_and_answers_what_waits(begin: Begin) -> None:
    call = begin(FLOW)
    call.tool("look", "running")
    call.turn("five")
    call.tool("pay", "waiting", sum=5)
    run = call.run("running")
    call.send(Said, "I will now", True)
    assert [effect.effect for effect in call.asked(Cancel)] == [run]
    assert [(id, answer.status) for id, answer in call.answers] == [("waiting", "cancelled")]
    call.answer(run, None, "cancelled", "cancelled")
    assert [(id, answer.status) for id, answer in call.answers] == [("running", "cancelled")]
    assert not call.snapshot.wait.calls


def test_words_that_end_by_themselves_cancel_nothing(begin: Begin) -> None:
    call = begin(FLOW)
    call.tool("look")
    call.send(Said, "One moment.")
    assert call.asked(Cancel) == []


def test_a_result_that_cannot_be_written_is_still_answered(begin: Begin) -> None:
    call = begin(FLOW.replace("receipt: result.id", "amount: x, kind: result.id"), amount=7)
    call.tool("pay", sum=7)
    step = call.answer(call.run("c"), {"id": "not an integer"})
    assert [answer.status for _, answer in call.answers] == ["ran"]
    assert call.happened(CallEnded) == [CallEnded("c", "pay", "ok", "")]
    assert isinstance(step.facts[-1], InputFailed)
    assert (call.values["amount"], call.snapshot.wait.calls, call.snapshot.wait.runs) == (7, {}, {})


def _fussy() -> Functions:
    functions = Functions()

    @functions.guard(reads=["amount"])
    def fussy(state: Any) -> bool:
        return (state.get("amount") or 0) > 3

    return functions


def test_a_guard_that_raises_denies_the_call_and_fails_its_input(begin: Begin) -> None:
    call = begin(FLOW.replace("args.sum == amount", "custom(fussy)"), _fussy(), amount="x")
    step = call.tool("pay", sum=1)
    assert [(answer.status, answer.kind) for _, answer in call.answers] == [("denied", "error")]
    assert step.facts[-1] == InputFailed("1", "function_failed", "guard fussy")


def test_a_guard_that_raises_while_a_call_waits_fails_no_other_input(begin: Begin) -> None:
    call = begin(FLOW.replace("args.sum == amount", "is_true(ok) and custom(fussy)"), _fussy())
    call.turn("five")
    call.tool("pay", sum=1)
    assert call.answers == []
    call.answer(call.run("Mood"), {})
    step = call.set(ok=True, amount="x")
    assert step.error is None
    assert [answer.kind for _, answer in call.answers] == ["error"]


def test_nothing_may_be_called_after_the_end(begin: Begin) -> None:
    call = begin(FLOW.replace("c: {tools: []}", "c: {final: true}"), amount=5)
    call.tool("look")
    assert [answer.kind for _, answer in call.answers] == ["ended"]
