"""What a session is given to work with: extractors, rules, confirmations, caches, hooks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

import pytest

from flowengine import (
    Accepted,
    Denied,
    Failed,
    FlowError,
    Functions,
    Hooks,
    Key,
    Ran,
    Services,
    Session,
    loads,
)
from flowengine.extract import RegexExtractor, TurnExtractor


def live(body: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(body, 20))


PLAIN = loads("""
flow: plain
phases:
  a:
    initial: true
    transitions: [{to: b, when: is_set(order_number)}]
  b: {}
""")


class Order(TurnExtractor):
    name = "order_info"

    async def extract(self, window: Any, known: Any) -> Mapping[str, Any]:
        if "boom" in window[-1].user:
            raise LookupError("boom")
        return {"order_number": window[-1].user[-2:]}


def test_an_extractor_of_code_joins_the_flow_and_moves_phases() -> None:
    async def body() -> None:
        async with Session(PLAIN, extractors=[Order()]) as call:
            turn = await call.turn("order number 42")
            assert (turn.phase, turn.state["order_number"]) == ("b", "42")
            assert turn.state["order_info"] == {"order_number": "42"}

    live(body())


def test_a_pattern_extractor_joins_too_and_sessions_share_the_services() -> None:
    services = Services(extractors=[RegexExtractor("find", {"order_number": r"order #?(\d+)"})])

    async def body() -> None:
        for number in ("41", "42"):
            async with Session(PLAIN, services=services) as call:
                turn = await call.turn(f"it is order #{number}")
                assert turn.state["order_number"] == number

    live(body())


def test_a_name_that_the_flow_does_not_have_is_an_error_at_once() -> None:
    with pytest.raises(FlowError, match="no extractor 'Mod'"):
        Session(PLAIN, extractors={"Mod": lambda window, known: {}})


class Nameless(TurnExtractor):
    def extract(self, window: Any) -> Mapping[str, Any]:
        return {}


class Often(Order):
    trigger: Any = "every_trun"


@pytest.mark.parametrize(
    ("extractors", "message"),
    [
        ([Order], "Order is a class"),
        ([lambda window: {}], "a function has no name"),
        ([Nameless()], "extractor Nameless has no `name`"),
        ([Order(), Order()], "two extractors are called 'order_info'"),
        ([RegexExtractor("verified", {"code": "a"})], "'verified'.* a key is called so"),
        ([Often()], "extractor Often: `trigger` .*'every_trun'.* Did you mean 'every_turn'"),
    ],
)
def test_an_extractor_that_cannot_join_is_told_before_the_call(
    extractors: Any, message: str
) -> None:
    flow = PLAIN.model_copy(update={"state": {"verified": Key(type="boolean", trusted=True)}})
    with pytest.raises(FlowError, match=message):
        Session(flow, extractors=extractors)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hooks": print}, "`hooks` takes Hooks"),
        ({"decider": print}, "`decider` takes an object with a method `decide`"),
        ({"confirm": "yes"}, "`confirm` takes an async function"),
    ],
)
def test_a_service_of_another_kind_is_told_before_the_call(given: Any, message: str) -> None:
    with pytest.raises(FlowError, match=message):
        Session(PLAIN, **given)


@pytest.mark.parametrize("blocking", [True, False])
def test_hooks_hear_of_what_was_extracted_and_of_what_failed(blocking: bool) -> None:
    heard: list[Any] = []

    async def slowly(name: str, value: Any) -> None:
        await asyncio.sleep(0.01)
        heard.append((name, value))

    async def body() -> None:
        hooks = Hooks(
            on_extracted=slowly,
            on_extraction_error=lambda name, code: heard.append((name, code)),
            blocking=blocking,
        )
        async with Session(PLAIN, extractors=[Order()], hooks=hooks) as call:
            await call.turn("order number 42")
            assert heard == ([("order_info", {"order_number": "42"})] if blocking else [])
            while not heard:
                await asyncio.sleep(0.002)
            await call.turn("boom please")
            assert heard[-1] == ("order_info", "LookupError")

    live(body())


def test_a_hook_that_raises_is_logged_without_what_was_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def bad(name: str, value: Any) -> None:
        raise ValueError(value)

    async def body() -> None:
        async with Session(PLAIN, extractors=[Order()], hooks=Hooks(on_extracted=bad)) as call:
            await call.turn("order number 42")
            assert call.phase == "b"

    live(body())
    assert caplog.messages == ["hook bad raised ValueError"]


TOOLS = loads("""
flow: tools
state: {slot: string}
tools:
  pay: {args: {sum: number}, confirm: "Charge {args.sum}?"}
  report: {background: when_idle, set: {told: true}}
  look: {args: {id: string}, cache: true}
resolvers:
  open: {args: [slot], ttl: 1h, mode: call}
phases: {a: {initial: true, on_enter: [], transitions: [{to: b, when: is_set(slot)}]}, b: {on_enter: [{resolve: open}]}}
""")  # noqa: E501


def tools(log: list[Any]) -> Functions:
    made = Functions()

    @made.tool
    def pay(sum: float) -> dict[str, float]:
        log.append(sum)
        return {"paid": sum}

    @made.tool
    async def report() -> str:
        await asyncio.sleep(0.01)
        return "sent"

    @made.tool
    def look(id: str) -> str:
        log.append(id)
        return f"seen {id}"

    @made.resolver(name="open")
    async def is_open(slot: str) -> bool:
        log.append(slot)
        await asyncio.sleep(0.01)
        return slot == "morning"

    return made


def test_a_tool_runs_after_somebody_has_agreed() -> None:
    log: list[Any] = []
    answers: list[bool | str] = [True, False, "the card is blocked"]

    async def confirm(tool: str, args: Mapping[str, Any], question: str) -> bool | str:
        assert (tool, dict(args), question) == ("pay", {"sum": 5}, "Charge 5?")
        return answers.pop(0)

    async def body() -> None:
        async with Session(TOOLS, functions=tools(log), confirm=confirm) as call:
            assert await call.tool("pay", {"sum": 5}) == Ran({"paid": 5.0})
            no = await call.tool("pay", {"sum": 5})
            assert isinstance(no, Denied)
            assert no.kind == "declined"
            why = await call.tool("pay", {"sum": 5})
            assert isinstance(why, Denied)
            assert "the card is blocked" in why.say
            assert log == [5.0]

    live(body())


def test_without_anybody_to_agree_the_session_does_not_start() -> None:
    with pytest.raises(FlowError, match="pay: a confirmation is asked for"):
        Session(TOOLS, functions=tools([]))


async def yes(tool: str, args: Mapping[str, Any], question: str) -> bool:
    return True


def test_a_background_tool_is_accepted_at_once_and_delivered_later() -> None:
    async def body() -> None:
        async with Session(TOOLS, functions=tools([]), confirm=yes) as call:
            assert await call.tool("report") == Accepted()
            assert "told" not in call.state
            while "told" not in call.state:
                await asyncio.sleep(0.002)
            (delivered,) = call.latest().delivered
            assert (delivered.answer.value, delivered.manner) == ("sent", "when_idle")
            assert call.state["told"] is True

    live(body())


def test_results_are_kept_for_one_call() -> None:
    log: list[Any] = []

    async def body() -> None:
        for _ in range(2):
            async with Session(TOOLS, functions=tools(log), confirm=yes) as call:
                await call.tool("look", {"id": "1"})
                assert await call.tool("look", {"id": "1"}) == Ran("seen 1")
        assert log == ["1", "1"]

    live(body())


def test_a_turn_waits_for_a_resolver_in_call_mode() -> None:
    async def body() -> None:
        async with Session(TOOLS, functions=tools([]), confirm=yes) as call:
            turn = await call.turn("", values={"slot": "morning"})
            assert turn.phase == "b"
            assert call.state["open:result"] is True

    live(body())


DECISIONS = loads("""
flow: decisions
decisions:
  agree: {question: Does the caller agree?, run: agreed}
  upset: {question: Is the caller upset?}
phases:
  a:
    initial: true
    transitions: [{to: b, when: decided(agree)}, {to: c, when: decided(upset)}]
  b: {}
  c: {}
""")


class Calm:
    async def decide(self, questions: Any, turns: Sequence[Any], context: Any) -> Any:
        assert [question.id for question in questions] == ["upset"]
        assert context == {"phase": "a"}
        return {"upset": {"probability": 0.9 if "!" in turns[-1].user else 0.1}}


@pytest.mark.parametrize(("said", "phase"), [("yes", "b"), ("what!", "c"), ("hm", "a")])
def test_decisions_are_answered_by_rule_and_by_whoever_decides(said: str, phase: str) -> None:
    made = Functions()

    @made.decision
    def agreed(turns: Sequence[Any], question: Any) -> bool:
        return turns[-1].user == "yes"

    async def body() -> None:
        async with Session(DECISIONS, functions=made, decider=Calm()) as call:
            assert (await call.turn(said)).phase == phase

    live(body())


def test_nobody_to_decide_is_unsure(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    async def body() -> None:
        async with Session(DECISIONS, functions=Functions()) as call:
            assert (await call.turn("yes")).phase == "a"

    live(body())


def test_what_has_no_function_is_told_once_when_the_call_begins(
    caplog: pytest.LogCaptureFixture,
) -> None:
    flow = loads(
        "flow: f\ntools: {pay: {}, desk.look: {}, canned: {respond: 1}}\n"
        "phases: {a: {initial: true}}"
    )
    made = Functions()
    made.tool(name="payy")(lambda: 1)
    for _ in range(2):
        Session(flow, functions=made)
    assert caplog.messages == [
        "tool 'pay' has no function 'pay': decorate it @functions.tool and pass `functions=`. "
        "Did you mean 'payy'?",
        "tool 'desk.look' has no function 'desk.look': decorate it "
        "@functions.tool(name='desk.look') and pass `functions=`.",
    ]


def test_a_fault_is_logged_with_its_place_and_without_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = Functions()

    @made.tool
    def pay() -> None:
        raise ValueError("what the caller said")

    flow = loads("flow: f\ntools: {pay: {}}\nphases: {a: {initial: true}}")

    async def body() -> None:
        async with Session(flow, functions=made) as call:
            assert await call.tool("pay") == Failed("ValueError")

    live(body())
    (message,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert message.startswith("RunTool pay: ValueError at test_services.py:")
    assert "caller" not in message


def test_changes_tell_what_happens_between_turns() -> None:
    async def body() -> None:
        async with Session(TOOLS, functions=tools([]), confirm=yes) as call:
            call.latest()
            await call.tool("report")
            async for change in call.changes():
                if change.delivered:
                    break
            assert change.delivered[0].answer.value == "sent"

    live(body())
