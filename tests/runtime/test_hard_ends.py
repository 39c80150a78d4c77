"""Sessions end, and go on, whatever the functions around them do."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import date
from typing import Any

import pytest

from flowengine import (
    Denied,
    Failed,
    Functions,
    Hooks,
    NotRecorded,
    Ran,
    Session,
    TurnFailed,
    loads,
)
from flowengine.facts import Fact, canonical_json
from flowengine.inputs import Heard, Input, Outcome, Timer, ToolCalled, TurnEnded
from flowengine.kernel import to_json
from flowengine.tools.context import ToolContext

FLOW = loads("""
flow: s
extract: [{name: X, schema: {properties: {when: {}}}}]
tools: {pay: {}}
phases: {a: {initial: true}}
""")


def live(body: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(body, 20))


def functions() -> Functions:
    made = Functions()

    @made.tool
    async def pay() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(3)

    return made


def test_closing_does_not_wait_for_a_task_that_will_not_be_cancelled() -> None:
    async def body() -> None:
        call = Session(FLOW, functions=functions(), extractors={"X": lambda w, k: {}})
        waiting = asyncio.ensure_future(call.tool("pay"))
        await asyncio.sleep(0.01)
        begun = asyncio.get_running_loop().time()
        await call.close()
        assert asyncio.get_running_loop().time() - begun < 2.5
        await waiting

    live(body())


def test_a_blocking_hook_may_wait_for_the_call() -> None:
    async def body() -> None:
        heard_of: list[str] = []

        async def heard(name: str, value: Any) -> None:
            await call.rest()
            heard_of.append(name)

        hooks = Hooks(on_extracted=heard, blocking=True)
        call = Session(
            FLOW, functions=functions(), extractors={"X": lambda w, k: {"when": 1}}, hooks=hooks
        )
        await call.turn("hello")
        assert heard_of == ["X"]
        await call.close()

    live(body())


def test_what_an_extractor_brings_is_json() -> None:
    async def body() -> None:
        found = {"when": date(2026, 1, 1)}
        async with Session(
            FLOW, functions=functions(), extractors={"X": lambda w, k: found}
        ) as call:
            turn = await call.turn("hello")
            assert turn.state["when"] == "2026-01-01"
            assert to_json(call.snapshot)

    live(body())


def test_a_turn_whose_words_fail_still_ends() -> None:
    made = Functions()

    @made.watcher
    def bad(new: Any) -> Any:
        raise ValueError

    flow = loads("""
flow: s
tools: {pay: {claims: [it is paid], respond: {}}}
phases:
  a: {initial: true, transitions: [{to: b, on: "claim:pay", do: [{run: bad}]}]}
  b: {}
""")

    async def body() -> None:
        async with Session(flow, functions=made) as call:
            with pytest.raises(TurnFailed):
                await call.turn("hello", "it is paid")
            await call.turn("second", "well")
            assert [turn.user for turn in call.snapshot.transcript.turns] == ["hello", "second"]

    live(body())


def test_a_receiver_that_raises_is_reported_and_the_call_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def receiver(sender: Any, fact: Any) -> None:
        raise ValueError("words")

    async def body() -> None:
        async with Session(
            FLOW, functions=functions(), extractors={"X": lambda w, k: {"when": 1}}
        ) as call:
            stop = call._kernel.compiled.signals.connect("RunEnded", receiver)
            assert (await call.turn("hello")).state["when"] == 1
            stop()

    live(body())
    assert caplog.messages == ["a receiver of RunEnded raised ValueError"]


class Disk:
    """A recorder that fails at one kind of input, or at the start."""

    def __init__(self, full: type[Input] | None) -> None:
        self.full, self.kept = full, list[Any]()

    def __call__(self, input: Input | None, step: Any) -> None:
        if (input is None and self.full is None) or (self.full and isinstance(input, self.full)):
            raise OSError("disk full: Jane Smith")
        self.kept.append(step.snapshot)


RECORDED = loads("""
flow: s
extract: [{name: X, schema: {properties: {ok: {}}}}]
tools: {pay: {idempotency_key: "one"}}
phases: {a: {initial: true, no_input: [{after: 10ms, do: [{set: {silent: true}}]}]}}
""")


def recorded(full: type[Input] | None, keys: list[str], **more: Any) -> tuple[Session, Disk]:
    made, disk = Functions(), Disk(full)

    @made.tool
    async def pay(context: ToolContext) -> Any:
        keys.append(context.key)
        await asyncio.sleep(0)
        return {"id": 1}

    found = {"X": lambda w, k: {"ok": True}}
    return Session(RECORDED, functions=made, extractors=found, record=disk, **more), disk


def test_a_result_that_is_not_recorded_is_an_answer_and_the_end_of_the_session() -> None:
    async def body() -> None:
        keys = list[str]()
        call, disk = recorded(Outcome, keys)
        ended = list[Fact]()
        stop = call._kernel.compiled.signals.connect(
            "SessionEnded", lambda _, fact: ended.append(fact)
        )
        assert await call.tool("pay", call="c1") == Failed("not_recorded")
        assert [fact.reason for fact in ended] == ["not_recorded"]
        with pytest.raises(NotRecorded, match="OSError") as told:
            await call.turn("hello")
        assert "Jane" not in str(told.value)
        await call.close()
        stop()
        assert call.snapshot == disk.kept[-1]
        again, _ = recorded(Timer, keys, resume=disk.kept[-1])
        assert await again.tool("pay", call="c1") == Ran({"id": 1})
        assert keys == ["one", "one"]
        await again.close()

    live(body())


@pytest.mark.parametrize("full", [Heard, TurnEnded, ToolCalled])
def test_who_sends_what_is_not_recorded_is_told_and_nothing_follows(full: type[Input]) -> None:
    async def body() -> None:
        keys = list[str]()
        call, disk = recorded(full, keys)
        before = call.snapshot
        with pytest.raises(NotRecorded):
            await (call.tool("pay") if full is ToolCalled else call.turn("hello"))
        assert keys == []
        assert call.snapshot == disk.kept[-1]
        assert full is TurnEnded or call.snapshot == before
        await call.close()

    live(body())


@pytest.mark.parametrize("full", [Outcome, Timer])
def test_who_waits_for_a_turn_is_told_that_the_call_stopped(full: type[Input]) -> None:
    async def body() -> None:
        call, _ = recorded(full, [])

        async def talk() -> None:
            while True:
                await call.turn("hello")
                await asyncio.sleep(0.02)

        with pytest.raises(NotRecorded):
            await talk()
        await call.close()

    live(body())


def test_a_start_that_is_not_recorded_begins_no_session() -> None:
    async def body() -> None:
        with pytest.raises(NotRecorded):
            recorded(None, [])

    live(body())


def test_a_turn_whose_caller_words_fail_is_over_with_all_its_words() -> None:
    made = Functions()

    @made.watcher
    def bad(new: Any) -> Any:
        raise ValueError

    @made.resolver
    async def slow(of: str) -> None:
        await asyncio.sleep(5)

    flow = loads("""
flow: s
state: {agreed: boolean}
records: {r: {fields: {agreed: {recognize: yes_no}}}}
resolvers: {slow: {args: [of]}}
tools: {pay: {when: is_true(agreed) and resolved(slow), respond: {}}}
watch: [{key: agreed, changed: true, do: [{run: bad}]}]
phases: {a: {initial: true, on_enter: [{resolve: slow}]}}
""")

    async def body() -> None:
        async with Session(flow, functions=made, state={"of": "it"}) as call:
            waits = asyncio.create_task(call.tool("pay"))
            await asyncio.sleep(0)
            with pytest.raises(TurnFailed):
                await call.turn("yes", "Thank you.")
            turns = call.snapshot.transcript.turns
            assert [(turn.user, turn.model) for turn in turns] == [("yes", "Thank you.")]
            waits.cancel()

    live(body())


def test_words_that_cannot_be_read_fail_their_turn_and_nothing_beside_it() -> None:
    flow = loads("""
flow: s
records: {r: {fields: {agreed: {recognize: yes_no}}}}
phases: {a: {initial: true}}
""")

    async def body() -> None:
        beside: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, told: beside.append(told))
        async with Session(flow, state={"session:locale": "xx"}) as call:
            await call.heard("yes")
            await asyncio.sleep(0.01)
            with pytest.raises(TurnFailed, match="there is no locale 'xx'"):
                await call.turn()
        assert beside == []

    live(body())


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


NO_JSON = {
    "nan": float("nan"), "digits": 10**5000, "deep": nested(3000), "object": object(),
}  # fmt: skip
BRINGS = loads("""
flow: s
state: {ok: boolean}
resolvers: {found: {args: [go], mode: call}}
extract: [{name: X, schema: {properties: {ok: {}}}}]
decisions: {sure: {question: Sure?, run: sure}}
watch: [{key: go, became_true: true, do: [{run: later}]}]
tools: {pay: {save_as: paid}, give: {args: {sum: {}}, idempotency_key: "{args.sum}", respond: {}}}
phases:
  a: {initial: true, on_enter: [{resolve: found}], transitions: [{to: b, when: decided(sure)}]}
  b: {}
""")


def bringing(value: Any) -> Functions:
    made = Functions()
    made.resolver(name="found")(lambda go: value)
    made.decision(name="sure")(lambda turns, question: value)
    made.extractor(name="X")(lambda window, known: {"ok": value})
    made.tool(name="pay")(lambda: value)

    @made.watcher
    async def later(values: Any) -> Any:
        return {"late": value}

    return made


@pytest.mark.parametrize("value", NO_JSON.values(), ids=NO_JSON)
def test_what_is_no_json_fails_where_it_comes_from_and_holds_nothing_up(value: Any) -> None:
    async def body() -> None:
        beside: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, told: beside.append(told))
        async with Session(BRINGS, functions=bringing(value), state={"go": 1}) as call:
            await asyncio.wait_for(call.turn("hello there"), 5)
            assert isinstance(await call.tool("pay"), Failed)
            refused = await call.tool("give", {"sum": value})
            assert isinstance(refused, Denied)
            assert refused.kind == "arguments"
            await call.set("go", True)
            while call.snapshot.wait.runs:
                await asyncio.sleep(0)
            assert call.phase == "a"
            canonical_json(to_json(call.snapshot))
        assert beside == []

    live(body())
