"""Tool calls that do not go smoothly: state and facts stay consistent, and the call goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from flowengine import Cancelled, Failed, Functions, ManualClock, Ran, Session, loads
from flowengine.effects import AnswerTool, Cancel, Deliver, RunTool
from flowengine.facts import CallEnded, InputIgnored, KeyWritten, ToolDecided
from flowengine.inputs import Heard, Said
from flowengine.kernel import from_json, to_json

Begin = Callable[..., Any]

FLOW = """
flow: trouble
state:
  amount: decimal
  quote: {type: object, writers: ["tool:price"], depends_on: [amount]}
  receipt: {type: object, writers: ["tool:charge"]}
records: {order: {fields: {amount: {recognize: money}}}}
tools:
  price: {args: {sum: number}, save_as: quote}
  charge: {when: is_set(quote) and args.sum == amount, args: {sum: number}, commit: true,
           save_as: receipt}
  refund: {background: when_idle}
  undo: {}
  ship: {compensate_with: undo}
global_transitions:
  - {to: elsewhere, on: leave}
phases:
  order:
    initial: true
    needs: [amount]
    tools: [price, charge, refund, ship]
    transitions: [{to: paid, when: is_set(receipt)}]
  paid: {tools: []}
  elsewhere:
    tools: []
    transitions: [{to: order, on: back}]
"""
PRICE = {"total": 210}


def talks_on(call: Any) -> bool:
    """The next utterance is accepted: it is heard, read, and the turn settles."""
    before = call.snapshot.transcript.current.number
    call.turn("make it nine hundred dollars", "Nine hundred.")
    settled = call.snapshot.wait.barrier is None
    return settled and call.values["amount"] == "900" and (
        call.snapshot.transcript.turns[-1].number == before
    )  # fmt: skip


def consistent(call: Any) -> None:
    """What is open is known by both ends, and survives being put away."""
    wait = call.snapshot.wait
    running = {id: effect for id, c in wait.calls.items() if (effect := c.effect)}
    runs = {run.name: effect for effect, run in wait.runs.items() if run.kind == "tool"}
    assert running == runs
    running_entries = {
        entry.call for entries in wait.ledger.values() for entry in entries if entry.running
    }
    assert running_entries == set(running)
    answered = [id for id, _ in wait.answered]
    assert len(answered) == len(set(answered))
    assert from_json(to_json(call.snapshot)) == call.snapshot


@pytest.fixture
def call(begin: Begin) -> Any:
    started = begin(FLOW)
    started.turn("two hundred dollars")
    return started


# -- each kind of trouble -------------------------------------------------------------------------


def test_a_call_that_is_awaited_leaves_the_caller_free_to_talk(call: Any) -> None:
    call.tool("price", sum=200)
    run = call.run("c")
    consistent(call)
    assert talks_on(call)
    call.answer(run, PRICE)
    consistent(call)
    assert [answer.status for _, answer in call.answers] == ["ran"]


def test_an_interruption_asks_to_stop_it_and_its_end_is_the_shells_word(call: Any) -> None:
    call.tool("price", sum=200)
    run = call.run("c")
    call.send(Said, "That would", True)
    assert [cancel.effect for cancel in call.asked(Cancel)] == [run]
    assert call.answers == [], "it is still running until the shell has stopped it"
    consistent(call)
    call.answer(run, status="cancelled", error="cancelled")
    assert [(id, answer.status) for id, answer in call.answers] == [("c", "cancelled")]
    assert call.happened(CallEnded) == [CallEnded("c", "price", "cancelled", "cancelled")]
    assert "quote" not in call.values
    consistent(call)
    assert talks_on(call)


def test_what_has_ended_before_it_could_be_stopped_counts(call: Any) -> None:
    call.tool("price", sum=200)
    run = call.run("c")
    call.send(Said, "That would", True)
    call.answer(run, PRICE)
    assert [answer.status for _, answer in call.answers] == ["ran"]
    assert call.values["quote"] == PRICE
    call.answer(run, status="cancelled", error="cancelled")
    assert call.happened(InputIgnored) != []
    assert call.values["quote"] == PRICE
    consistent(call)


def test_a_commit_is_not_stopped_half_way(call: Any) -> None:
    call.tool("price", "p", sum=200)
    call.answer(call.run("p"), PRICE)
    call.tool("charge", sum=200)
    run = call.run("c")
    call.send(Said, "I take", True)
    assert call.asked(Cancel) == []
    call.send(Heard, "wait")
    call.answer(run, {"id": 1})
    assert (call.phase, call.values["receipt"]) == ("paid", {"id": 1})
    consistent(call)


@pytest.mark.parametrize("status", ["failed", "timed_out"])
def test_a_call_that_times_out_or_fails_can_be_made_again(call: Any, status: str) -> None:
    call.tool("price", "p", sum=200)
    call.answer(call.run("p"), PRICE)
    call.tool("charge", "one", sum=200)
    call.answer(call.run("one"), status=status, error=status)
    assert [(a.status, a.kind) for _, a in call.answers] == [("failed", status)]
    assert (call.phase, "receipt" in call.values) == ("order", False)
    consistent(call)
    call.tool("charge", "two", sum=200)
    assert [fact.admitted for fact in call.happened(ToolDecided)] == [True]
    call.answer(call.run("two"), {"id": 2})
    assert call.phase == "paid"
    consistent(call)


def test_a_result_that_comes_after_the_call_has_timed_out_is_ignored(call: Any) -> None:
    call.tool("price", sum=200)
    run = call.run("c")
    call.answer(run, status="timed_out", error="timed_out")
    call.answer(run, PRICE)
    assert [fact.reason for fact in call.happened(InputIgnored)] == ["no such effect is open"]
    assert "quote" not in call.values
    assert talks_on(call)


def test_a_second_answer_is_ignored_and_the_first_one_stands(call: Any) -> None:
    call.tool("price", sum=200)
    run = call.run("c")
    call.answer(run, PRICE)
    before = call.snapshot.values
    call.answer(run, {"total": 999})
    assert call.happened(InputIgnored) != []
    assert call.answers == []
    assert call.snapshot.values == before
    consistent(call)
    assert talks_on(call)


def test_an_id_that_is_used_again_gets_the_answer_that_it_got(call: Any) -> None:
    call.tool("price", sum=200)
    run = call.run("c")
    call.tool("price", sum=200)
    assert (call.answers, call.asked(RunTool)) == ([], [])
    call.answer(run, PRICE)
    assert len(call.answers) == 1
    call.tool("price", sum=999)
    assert [answer.value for _, answer in call.answers] == [PRICE]
    assert call.asked(RunTool) == []
    consistent(call)


def test_a_result_that_rests_on_a_corrected_value_writes_nothing(call: Any) -> None:
    call.tool("price", sum=200)
    run = call.run("c")
    call.turn("no, three hundred dollars")
    assert call.values["amount"] == "300"
    call.answer(run, PRICE)
    assert [answer.status for _, answer in call.answers] == ["ran"], "the tool has run"
    assert "quote" not in call.values, "for an amount that is no longer meant"
    assert [f.key for f in call.happened(KeyWritten) if f.key == "quote"] == []
    call.tool("charge", "d", sum=300)
    assert [f.kind for f in call.happened(ToolDecided)] == ["guard"]
    consistent(call)
    assert talks_on(call)


def test_a_result_that_comes_after_the_phase_has_changed_is_kept_and_moves_nothing_back(
    call: Any,
) -> None:
    call.tool("price", sum=200)
    run = call.run("c")
    call.set("leave")
    assert call.phase == "elsewhere"
    call.answer(run, PRICE)
    assert (call.phase, call.values["quote"]) == ("elsewhere", PRICE)
    assert [answer.status for _, answer in call.answers] == ["ran"]
    consistent(call)
    call.tool("charge", "d", sum=200)
    assert [f.kind for f in call.happened(ToolDecided)] == ["phase"]
    call.set("back")
    call.tool("charge", "e", sum=200)
    assert [f.admitted for f in call.happened(ToolDecided)] == [True]
    assert talks_on(call)


def test_a_background_result_after_a_correction_is_delivered_once(call: Any) -> None:
    call.tool("refund")
    run = call.run("c")
    assert [answer.status for _, answer in call.answers] == ["accepted"]
    call.turn("no, three hundred dollars")
    call.send(Said, "I", True)
    assert call.asked(Cancel) == []
    call.answer(run, {"refunded": 1})
    assert [(d.call, d.answer.value) for d in call.asked(Deliver)] == [("c", {"refunded": 1})]
    assert call.answers == []
    call.answer(run, {"refunded": 1})
    assert call.asked(Deliver) == []
    consistent(call)
    assert talks_on(call)


def test_what_undoes_a_failed_call_runs_once_and_leaves_the_caller_free(call: Any) -> None:
    call.tool("ship")
    call.answer(call.run("c"), status="timed_out", error="timed_out")
    (undo,) = call.asked(RunTool)
    assert undo.tool == "undo"
    assert talks_on(call)
    call.answer(undo.id, {})
    assert call.values["compensated:ship"] is True
    call.answer(undo.id, {})
    assert call.happened(InputIgnored) != []


EQUAL = """
flow: equal
tools:
  look: {background: when_idle, idempotency_key: k}
  price: {idempotency_key: k}
  charge: {idempotency_key: k, commit: true}
phases: {a: {initial: true}}
"""


def test_an_equal_call_of_a_background_tool_is_accepted_and_told_the_same(begin: Begin) -> None:
    call = begin(EQUAL)
    for id in ("one", "two", "three"):
        call.tool("look", id)
        assert [(id, answer.status) for id, answer in call.answers] == [(id, "accepted")]
    assert [run.name for run in call.snapshot.wait.runs.values()] == ["one"]
    call.send(Said, "Let me", True)
    assert (call.answers, call.asked(Cancel)) == ([], []), "each has its one answer"
    call.answer(call.run("one"), {"n": 1})
    assert call.answers == []
    told = [(d.call, d.answer.value) for d in call.asked(Deliver)]
    assert told == [(id, {"n": 1}) for id in ("one", "two", "three")]
    assert call.snapshot.wait.calls == {}


@pytest.mark.parametrize(
    ("tool", "status", "told"), [("price", "cancelled", "cancelled"), ("charge", "ok", "ran")]
)
def test_calls_that_share_a_run_are_interrupted_with_it(
    begin: Begin, tool: str, status: str, told: str
) -> None:
    call = begin(EQUAL)
    call.tool(tool, "one")
    call.tool(tool, "two")
    call.send(Said, "Let me", True)
    assert call.answers == []
    call.answer(call.run("one"), None, status)
    assert [(id, answer.status) for id, answer in call.answers] == [("one", told), ("two", told)]


# -- all orders of the troubles of one call -------------------------------------------------------

EVENTS = ("correct", "leave", "interrupt", "answer", "answer again")


@pytest.mark.parametrize("order", list(permutations(EVENTS)), ids=" > ".join)
def test_whatever_comes_first_each_call_has_one_answer_and_the_next_words_are_heard(
    call: Any, order: tuple[str, ...]
) -> None:
    call.tool("price", sum=200)
    run, answers, results = call.run("c"), 0, []
    for event in order:
        match event:
            case "correct":
                call.turn("no, three hundred dollars")
            case "leave":
                call.set("leave")
            case "interrupt":
                call.send(Said, "That would", True)
            case _:
                results.append("quote" in call.values)
                call.answer(run, PRICE)
        answers += len([e for e in call.effects if isinstance(e, AnswerTool)])
        consistent(call)
    assert answers == 1
    assert (call.phase, call.values["amount"]) == ("elsewhere", "300")
    assert "quote" not in call.values, "not written after a correction, and cleared by one"
    last = max(order.index("answer"), order.index("answer again"))
    assert results[1] is (order.index("correct") > last), "until then it stands"
    assert talks_on(call)


# -- the same in a live session -------------------------------------------------------------------

LISTS = """
flow: lists
state: {orders: {type: array, merge: append}}
tools: {order: {args: {item: string}, set: {orders: result.item}}}
phases: {a: {initial: true}}
"""


@pytest.mark.parametrize("done", list(permutations("abc")), ids="".join)
def test_three_parallel_appends_keep_all_three_in_request_order(done: tuple[str, ...]) -> None:
    async def run() -> tuple[Any, list[Any]]:
        gates, functions = {name: asyncio.Event() for name in "abc"}, Functions()

        @functions.tool
        async def order(item: str) -> dict[str, str]:
            await gates[item].wait()
            return {"item": item}

        async with Session(loads(LISTS), functions=functions) as call:
            asked = [asyncio.ensure_future(call.tool("order", {"item": i})) for i in "abc"]
            await asyncio.sleep(0)
            for name in done:
                gates[name].set()
                await asked["abc".index(name)]
            return call.state["orders"], [task.result() for task in asked]

    orders, outcomes = asyncio.run(run())
    assert orders == ["a", "b", "c"]
    assert outcomes == [Ran({"item": name}) for name in "abc"]


SLOW = """
flow: slow
state: {amount: decimal, done: boolean}
records: {order: {fields: {amount: {recognize: money}}}}
tools: {work: {timeout: 20ms, set: {done: true}}}
phases: {a: {initial: true, transitions: [{to: b, on: leave}]}, b: {}}
"""


@pytest.mark.parametrize(
    ("trouble", "outcome"), [("interrupt", Cancelled()), ("time out", Failed("timed_out"))]
)
def test_a_live_call_that_is_stopped_or_times_out_is_answered_and_the_caller_goes_on(
    trouble: str, outcome: object
) -> None:
    async def run() -> tuple[Any, Any]:
        functions = Functions()

        @functions.tool
        async def work() -> None:
            await asyncio.Event().wait()

        async with Session(loads(SLOW), functions=functions, clock=ManualClock()) as call:
            asked = asyncio.ensure_future(call.tool("work"))
            await asyncio.sleep(0)
            await call.event("leave")
            if trouble == "interrupt":
                await call.said("One mo", interrupted=True)
            ended = await asked
            turn = await call.turn("two hundred dollars")
            return ended, (turn.phase, str(turn.state["amount"]), "done" in turn.state)

    assert asyncio.run(run()) == (outcome, ("b", "200", False))
