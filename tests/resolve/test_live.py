"""Resolvers without a session: binding, writing, reusing, and answers that come too late."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from flowengine.clock import ManualClock
from flowengine.errors import FlowEngineError, FlowError, FunctionError, SourceError
from flowengine.llm import ScriptedProvider
from flowengine.resolve.declared import from_spec
from flowengine.resolve.live import LiveResolver
from flowengine.resolve.spec import Resolver
from flowengine.sources.arguments import ArgumentError
from flowengine.sources.cache import Cache
from flowengine.sources.outside import Outside
from flowengine.sources.spec import HttpRequest, McpCall
from flowengine.state import State
from flowengine.state.keys import KeySpec, KeyTable
from flowengine.state.types import KEY_TYPES

pytestmark = pytest.mark.anyio


class Tables:
    """Answers with the number of the call; raises while `failing`; waits for `gate`."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.failing = False
        self.gate: asyncio.Event | None = None

    async def __call__(self, day: date, party: int = 2) -> Any:
        self.calls.append((day, party))
        if self.gate is not None:
            await self.gate.wait()
        if self.failing:
            raise ValueError(f"no table on {day}")
        return {"call": len(self.calls)}


@pytest.fixture
def state() -> State:
    keys = KeyTable({"day": KeySpec(type=KEY_TYPES["date"])})
    return State({"day": "2026-03-04"}, keys=keys)


async def test_arguments_are_bound_from_state_and_the_value_is_written(state: State) -> None:
    tables = Tables()
    resolver = LiveResolver.fetch("tables", tables)
    assert resolver.args == ("day", "party")
    assert await resolver.resolve(state) == {"call": 1}
    assert tables.calls == [(date(2026, 3, 4), 2)]
    assert state["tables:result"] == {"call": 1}
    assert state.evidence["tables:result"].by == "resolver:tables"


async def test_a_derived_value_and_a_field_of_an_object_are_bound_too() -> None:
    state = State({"derived:day": "2026-03-05", "plan": {"party": 6}})
    resolver = LiveResolver.agent("a", lambda seen: seen["plan.party"], args=("day", "plan.party"))
    assert resolver.bind(state) == {"day": "2026-03-05", "plan.party": 6}
    assert await resolver.resolve(state) == 6


async def test_a_failure_is_written_as_its_code_and_raised(state: State) -> None:
    tables = Tables()
    resolver = LiveResolver.fetch("tables", tables)
    await resolver.resolve(state)
    tables.failing = True
    with pytest.raises(FunctionError, match="resolver 'tables' raised ValueError"):
        await resolver.resolve(state)
    assert (state.get("tables:result"), state["tables:error"]) == (None, "function_failed")
    tables.failing = False
    await resolver.resolve(state)
    assert (state["tables:result"], state.get("tables:error")) == ({"call": 3}, None)


async def test_a_missing_argument_is_named_and_nothing_is_called() -> None:
    tables, state = Tables(), State()
    with pytest.raises(ArgumentError, match="resolver 'tables': day: is missing"):
        await LiveResolver.fetch("tables", tables).resolve(state)
    assert (tables.calls, state["tables:error"]) == ([], "invalid_arguments")


async def test_it_takes_no_longer_than_its_time(state: State) -> None:
    tables = Tables()
    tables.gate = asyncio.Event()
    with pytest.raises(SourceError, match="within 10 ms"):
        await LiveResolver.fetch("tables", tables, timeout="10ms").resolve(state)
    assert state["tables:error"] == "timed_out"


async def test_values_and_failures_are_reused_for_their_time(state: State) -> None:
    tables, clock = Tables(), ManualClock()
    cache = Cache(clock=clock)
    resolver = LiveResolver.fetch("tables", tables, ttl="30s", error_ttl="5s", cache=cache)
    for _ in range(2):
        assert await resolver.resolve(state) == {"call": 1}
    state.set("party", 4)
    assert await resolver.resolve(state) == {"call": 2}
    clock.advance(30_000)
    tables.failing = True
    for _ in range(2):
        with pytest.raises(FlowEngineError):
            await resolver.resolve(state)
    assert len(tables.calls) == 3
    clock.advance(5_000)
    with pytest.raises(FlowEngineError):
        await resolver.resolve(state)
    assert len(tables.calls) == 4


async def test_a_record_field_may_keep_a_value_longer_than_its_resolver() -> None:
    tables = Tables()
    resolver = LiveResolver.fetch("tables", tables)
    for _ in range(2):
        assert await resolver.run({"day": "2026-03-04"}, {}, ttl="1m") == {"call": 1}


async def test_resolvers_that_share_a_cache_do_not_share_values(state: State) -> None:
    cache = Cache()
    first = LiveResolver.fetch("a", lambda day: "a", ttl="1m", cache=cache)
    second = LiveResolver.fetch("b", lambda day: "b", ttl="1m", cache=cache)
    assert [await first.resolve(state), await second.resolve(state)] == ["a", "b"]


async def test_many_that_ask_at_once_are_answered_by_one_call(state: State) -> None:
    tables = Tables()
    tables.gate = asyncio.Event()
    resolver = LiveResolver.fetch("tables", tables)
    asking = [resolver.dispatch(state) for _ in range(10)]
    await asyncio.sleep(0)
    tables.gate.set()
    assert await asyncio.gather(*asking) == [{"call": 1}] * 10


async def test_an_answer_to_an_old_question_is_returned_and_not_written(state: State) -> None:
    gates = {4: asyncio.Event(), 5: asyncio.Event()}

    async def tables(day: date) -> int:
        await gates[day.day].wait()
        return day.day

    resolver = LiveResolver.fetch("tables", tables)
    old = resolver.dispatch(state)
    await asyncio.sleep(0)
    state.set("day", "2026-03-05")
    new = resolver.dispatch(state)
    gates[5].set()
    assert await new == 5
    gates[4].set()
    assert await old == 4
    assert state["tables:result"] == 5


async def test_a_dispatched_failure_needs_nobody_to_see_it(state: State) -> None:
    tables = Tables()
    tables.failing = True
    task = LiveResolver.fetch("tables", tables).dispatch(state)
    await asyncio.wait((task,))
    del task
    assert state["tables:error"] == "function_failed"


async def test_a_cancelled_one_writes_nothing(state: State) -> None:
    tables = Tables()
    tables.gate = asyncio.Event()
    task = LiveResolver.fetch("tables", tables).dispatch(state)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait((task,))
    assert state.snapshot() == {"day": "2026-03-04"}


async def test_a_prompt_is_filled_from_state() -> None:
    state = State({"topic": "refunds", "caller": {"tier": "gold"}})
    provider = ScriptedProvider([" Be kind. \n"])
    template = 'Say what {topic} are to a {caller.tier} member, as {"a": 1} or {} if unsure.'
    resolver = LiveResolver.prompt("hint", template, provider, "small")
    assert await resolver.resolve(state) == "Be kind."
    (request,) = provider.requests
    assert request.model == "small"
    assert request.messages[0].text == (
        'Say what refunds are to a gold member, as {"a": 1} or {} if unsure.'
    )


@pytest.mark.parametrize("answer", ["", "  "])
async def test_a_model_without_words_has_failed(answer: str) -> None:
    state = State({"topic": "x"})
    resolver = LiveResolver.prompt("hint", "{topic}", ScriptedProvider([answer]), "small")
    with pytest.raises(SourceError, match="without text"):
        await resolver.resolve(state)
    assert state["hint:error"] == "bad_answer"


async def test_an_agent_reads_state_and_cannot_write_it(state: State) -> None:
    class Router:
        async def run(self, seen: Mapping[str, Any]) -> Any:
            return {"to": "desk", "day": seen["day"], "missing": seen.get("party")}

    def greedy(seen: Any) -> Any:
        seen["day"] = "x"

    value = await LiveResolver.agent("router", Router()).resolve(state)
    assert value == {"to": "desk", "day": "2026-03-04", "missing": None}
    with pytest.raises(FunctionError, match="raised TypeError"):
        await LiveResolver.agent("greedy", greedy).resolve(state)


async def test_requests_bind_what_their_placeholders_name() -> None:
    request = HttpRequest(
        url="https://a.example/{args.id}", query={"q": "{args.order.no}"}, body=["{state.x}"]
    )
    assert LiveResolver.http("r", request, Outside()).args == ("id", "order")
    call = McpCall(server="desk", tool="t", args={"day": "{args.day}"})
    assert LiveResolver.mcp("m", call, Outside()).args == ("day",)


# -- declared in a flow -------------------------------------------------------------------------


async def test_a_declared_resolver_runs_its_function(state: State) -> None:
    tables = Tables()
    spec = Resolver(run="find_tables", args=("day",), ttl="30s", timeout="1s")
    resolver = from_spec("tables", spec, {"find_tables": tables})
    assert [await resolver.resolve(state) for _ in range(2)] == [{"call": 1}] * 2


async def test_a_declared_prompt_needs_a_model() -> None:
    spec = Resolver(prompt="Say {topic}.")
    with pytest.raises(FlowError, match="a prompt needs a provider"):
        from_spec("hint", spec, {})
    with pytest.raises(FlowError, match="the name of a model"):
        from_spec("hint", spec, {}, outside=Outside(provider=ScriptedProvider()))
    provider = ScriptedProvider(["ok"])
    outside = Outside(provider=provider, model="small")
    resolver = from_spec("hint", spec, {}, outside=outside)
    assert await resolver.run({"topic": "x"}, {}) == "ok"
    assert provider.requests[0].model == "small"
    own = Resolver(prompt="Say {topic}.", model="large")
    assert "large" in repr(outside.prompt(own.prompt or "", own.model))


async def test_a_declared_request_goes_nowhere_by_default() -> None:
    resolver = from_spec("r", Resolver(http=HttpRequest(url="https://a.example/")), {})
    with pytest.raises(SourceError, match="not allowed"):
        await resolver.run({}, {})


async def test_a_registered_function_stands_in_for_a_request() -> None:
    spec = Resolver(http=HttpRequest(url="https://a.example/"))
    assert await from_spec("r", spec, {"r": lambda: 1}).run({}, {}) == 1


def test_a_resolver_without_a_source_is_an_error_with_the_near_miss() -> None:
    with pytest.raises(FlowError, match=r"resolver 'acount' has no source.*'account'"):
        from_spec("acount", Resolver(), {"account": lambda: 1})
