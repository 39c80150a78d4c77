"""A live call: effects run as tasks, their outcomes come back, time rings."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import pytest

from flowengine import (
    Cancelled,
    Denied,
    Failed,
    Flow,
    FlowEngineError,
    Functions,
    Ran,
    Session,
    SessionClosed,
    TurnFailed,
    loads,
)  # fmt: skip
from flowengine.facts import InputFailed, PhaseEntered
from flowengine.inputs import Input
from flowengine.kernel import Step, from_json, to_json
from flowengine.tools.context import ToolContext

TEXT = """
flow: live
state: {amount: decimal, paid: boolean}
records: {promise: {fields: {amount: {recognize: money}}}}
extract: [{name: Mood, schema: {properties: {mood: {}}}, promote: [{field: mood}], timeout: 30ms}]
resolvers: {account: {args: [amount]}}
tools:
  pay: {args: {sum: number}, when: captured(amount), set: {paid: true}, timeout: 50ms}
  canned: {respond: {ok: true}}
  lost: {}
phases:
  ask:
    initial: true
    say: How much?
    needs: [amount]
    transitions: [{to: pay, when: captured(amount)}]
  pay:
    say: Let me see.
    on_enter: [{resolve: account}]
    transitions: [{to: bye, when: is_true(paid)}, {to: silent, after: 40ms}]
  silent: {say: Are you there?}
  bye: {final: true}
"""
FLOW = loads(TEXT)
PATIENT = loads(TEXT.replace("40ms", "1h").replace("50ms", "5s"))
"""Where no timer is part of the test."""


def functions(seconds: float = 0) -> Functions:
    made = Functions()

    @made.tool
    async def pay(sum: float) -> dict[str, float]:
        await asyncio.sleep(seconds)
        return {"left": 100 / sum}

    @made.resolver
    def account(amount: str) -> dict[str, str]:
        return {"of": amount}

    return made


def mood(window: Any, known: Mapping[str, Any]) -> dict[str, str]:
    return {"mood": window[-1].user}


def live(body: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(body, 20))


async def until(true: Callable[[], bool]) -> None:
    """Wait for what happens beside the test; `live` ends a wait that is in vain."""
    while not true():
        await asyncio.sleep(0.002)


def session(flow: Flow = FLOW, seconds: float = 0, **more: Any) -> Session:
    return Session(flow, functions=functions(seconds), extractors={"Mood": mood}, **more)


def test_a_turn_waits_for_its_extractors_and_tells_what_happened() -> None:
    async def body() -> None:
        async with session(PATIENT) as call:
            assert call.latest().said == ("How much?",)
            turn = await call.turn("two hundred dollars", "Thank you.")
            assert (turn.phase, turn.moved, turn.said) == ("pay", True, ("Let me see.",))
            assert (str(turn.state["amount"]), turn.state["mood"]) == ("200", "two hundred dollars")
            await until(lambda: "account:result" in call.state)
            assert call.state["account:result"] == {"of": "200"}
            assert turn.phase == "pay"

    live(body())


def test_tools_run_fail_or_are_denied() -> None:
    async def body() -> None:
        async with session(PATIENT) as call:
            assert isinstance(await call.tool("pay", {"sum": 5}), Denied)
            assert await call.tool("canned") == Ran({"ok": True})
            assert await call.tool("lost") == Failed("flow")
            await call.set("amount", "7")
            assert await call.tool("pay", {"sum": 0}) == Failed("ZeroDivisionError")
            assert await call.tool("pay", {"sum": 5}) == Ran({"left": 20})
            assert call.ended

    live(body())


def test_words_count_for_a_tool_as_soon_as_they_are_heard() -> None:
    async def body() -> None:
        async with session(PATIENT) as call:
            assert isinstance(await call.tool("pay", {"sum": 5}), Denied)
            await call.heard("I can pay five dollars")
            await asyncio.sleep(0)
            assert await call.tool("pay", {"sum": 5}) == Ran({"left": 20})
            turn = await call.turn(model="Thank you.")
            assert (str(turn.state["amount"]), turn.snapshot.turns) == ("5", 1)

    live(body())


def test_a_call_may_end_before_its_last_words_are_read() -> None:
    beside: list[Any] = []

    async def body() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, fault: beside.append(fault))
        async with session(PATIENT) as call:
            await call.heard("two hundred dollars")
        await asyncio.sleep(0)
        assert call.transcript()[-1].user == "two hundred dollars"
        with pytest.raises(SessionClosed):
            await call.turn()

    live(body())
    assert beside == []


def test_a_tool_that_takes_too_long_has_failed() -> None:
    async def body() -> None:
        async with session(seconds=1, state={"amount": "7"}) as call:
            assert await call.tool("pay", {"sum": 5}) == Failed("timed_out")

    live(body())


def test_whoever_asks_twice_with_one_call_id_gets_one_answer_and_one_run() -> None:
    async def body() -> None:
        async with session(PATIENT, seconds=0.01, state={"amount": "7"}) as call:
            both = await asyncio.gather(
                call.tool("pay", {"sum": 5}, call="x"), call.tool("pay", {"sum": 4}, call="x")
            )
            assert both == [Ran({"left": 20}), Ran({"left": 20})]
            assert await call.tool("pay", {"sum": 3}, call="x") == Ran({"left": 20})

    live(body())


def test_time_rings_by_itself() -> None:
    async def body() -> None:
        async with session(state={"amount": "7"}) as call:
            assert call.phase == "pay"
            await until(lambda: call.phase != "pay")
            assert call.phase == "silent"
            assert call.latest().said == ("Let me see.", "Are you there?")

    live(body())


def test_an_extractor_that_takes_too_long_does_not_hold_the_turn() -> None:
    async def slow(window: Any, known: Any) -> dict[str, str]:
        await asyncio.sleep(1)
        return {}

    async def body() -> None:
        async with Session(FLOW, extractors={"Mood": slow}) as call:
            turn = await call.turn("hello")
            assert turn.state["Mood:status"] == "timed_out"

    live(body())


def test_the_models_words_are_read_while_the_caller_still_hears_them() -> None:
    spec = FLOW.extract[0].model_copy(update={"trigger": "on_generation_complete"})
    flow = FLOW.model_copy(update={"extract": (spec,)})

    async def promised(window: Any, known: Any) -> dict[str, str]:
        return {"mood": window[-1].model}

    async def body() -> None:
        async with Session(flow, extractors={"Mood": promised}) as call:
            await call.heard("hello")
            await call.generated("You get it tomorrow. Anything else?")
            await until(lambda: "mood" in call.state)
            await call.said("You get it", interrupted=True)
            turn = await call.turn()
            assert turn.state["mood"] == "You get it tomorrow. Anything else?"
            assert call.transcript()[-1].model == "You get it"

    live(body())


def test_an_extractor_of_a_model_without_a_key_is_a_failed_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    async def body() -> None:
        async with Session(FLOW) as call:
            turn = await call.turn("hello")
            failed = (turn.state["Mood:status"], turn.state["Mood:error"])
            assert failed == ("failed", "auth_failed")

    live(body())


def test_closing_answers_waiting_calls_and_cancels_what_runs() -> None:
    async def body() -> None:
        before = asyncio.all_tasks()
        call = session(seconds=1, state={"amount": "7"})
        waiting = asyncio.ensure_future(call.tool("pay", {"sum": 5}))
        await asyncio.sleep(0)
        await call.close()
        await call.close()
        assert await waiting == Cancelled()
        with pytest.raises(SessionClosed):
            await call.turn("hello")
        assert asyncio.all_tasks() == before

    live(body())


@pytest.mark.parametrize("ticks", [0, 3])
def test_barge_in_cancels_a_running_tool_even_before_it_has_begun(ticks: int) -> None:
    async def body() -> None:
        async with session(PATIENT, seconds=1, state={"amount": "7"}) as call:
            waiting = asyncio.ensure_future(call.tool("pay", {"sum": 5}))
            await asyncio.sleep(0)
            for _ in range(ticks):
                await asyncio.sleep(0)
            await call.said("I will just", interrupted=True)
            assert await waiting == Cancelled()
            assert (await call.turn("stop")).phase == "pay"

    live(body())


def test_an_idle_session_owns_no_task() -> None:
    async def body() -> None:
        before = asyncio.all_tasks()
        async with session() as call:
            await call.turn("hello")
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == before

    live(body())


FAULTY = loads("""
flow: faulty
phases:
  a: {initial: true, transitions: [{to: b, when: custom(fussy)}]}
  b: {}
""")


def faulty() -> Functions:
    made = Functions()

    @made.guard(reads=["x"])
    def fussy(state: Any) -> bool:
        return state["x"] > 1 if "x" in state else False

    return made


@pytest.mark.parametrize("verify", [False, True])
def test_a_failed_turn_is_raised_and_the_call_goes_on(verify: bool) -> None:
    async def body() -> None:
        async with Session(FAULTY, functions=faulty(), verify=verify) as call:
            with pytest.raises(TurnFailed, match="guard fussy") as failed:
                await call.turn("hello", values={"x": "y"})
            assert failed.value.fact == InputFailed("2", "function_failed", "guard fussy")
            assert "x" not in call.state
            turn = await call.turn("hello again", values={"x": 2})
            assert turn.phase == "b"
            assert call.snapshot.transcript.turns[0].user == "hello"

    live(body())


def test_verify_finds_a_function_that_is_not_pure() -> None:
    made, count = Functions(), itertools.count()
    made.computed(name="n")(lambda state: next(count))
    flow = loads("flow: impure\ncomputed: {n: {run: n}}\nphases: {a: {initial: true}}")

    async def body() -> None:
        async with Session(flow, functions=made, verify=True) as call:
            with pytest.raises(FlowEngineError, match="not pure"):
                await call.set("x", 1)

    live(body())


def test_a_session_goes_on_from_a_snapshot_and_runs_what_was_open() -> None:
    async def body() -> None:
        first = session(PATIENT, seconds=1, state={"amount": "7"})
        await first.turn("hello")
        waiting = asyncio.ensure_future(first.tool("pay", {"sum": 5}, call="x"))
        await asyncio.sleep(0)
        snapshot = first.snapshot
        await first.close()
        await waiting
        async with session(PATIENT, resume=snapshot) as call:
            await until(lambda: call.ended)
            assert (call.phase, call.ended) == ("bye", True)
            assert await call.tool("pay", {"sum": 5}, call="x") == Ran({"left": 20})

    live(body())


def test_what_was_interrupted_does_not_run_again_after_resuming() -> None:
    flow = loads("""
flow: s
tools: {look: {}}
phases: {a: {initial: true}}
""")
    runs: list[str] = []

    async def look(context: ToolContext) -> None:
        runs.append(context.call)
        await asyncio.sleep(5)

    async def body() -> None:
        made = Functions()
        made.tool(look)
        first = Session(flow, functions=made)
        waiting = asyncio.create_task(first.tool("look", call="x"))
        await until(lambda: runs == ["x"])
        await first.said("Let me", interrupted=True)
        snapshot = from_json(json.loads(json.dumps(to_json(first.snapshot))))
        await first.close()
        assert await waiting == Cancelled()
        async with Session(flow, functions=made, resume=snapshot) as call:
            again = await call.tool("look", call="x")
            assert isinstance(again, Cancelled)
        assert runs == ["x"]

    live(body())


def test_timers_ring_after_resuming() -> None:
    async def body() -> None:
        first = session(state={"amount": "7"})
        snapshot = first.snapshot
        await first.close()
        async with session(resume=snapshot) as call:
            await until(lambda: call.phase != "pay")
            assert call.phase == "silent"

    live(body())


def test_receivers_and_recorders_see_every_fact() -> None:
    async def body() -> None:
        seen: list[str] = []
        steps: list[tuple[Input | None, Step]] = []
        async with session(record=lambda *step: steps.append(step)) as call:
            signals = call._kernel.compiled.signals
            undo = signals.connect("PhaseEntered", lambda sender, fact: seen.append(fact.phase))
            await call.turn("two hundred dollars")
            undo()
        entered = [f.phase for _, s in steps for f in s.facts if isinstance(f, PhaseEntered)]
        assert (entered, seen) == (["ask", "pay"], ["pay"])
        assert steps[0][0] is None

    live(body())
