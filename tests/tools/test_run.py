"""Running one call of a tool: where it lives, its time, its results, its failures."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from flowengine.clock import ManualClock
from flowengine.errors import FlowError, FunctionError, OwnershipError, SourceError
from flowengine.inputs import Json
from flowengine.sources.arguments import ArgumentError
from flowengine.sources.cache import Cache
from flowengine.sources.outside import Outside
from flowengine.sources.spec import HttpRequest, McpCall
from flowengine.state import State
from flowengine.state.view import StateView
from flowengine.tools.context import ToolContext
from flowengine.tools.run import run_tool
from flowengine.tools.spec import Tool

pytestmark = pytest.mark.anyio


class Booking(BaseModel):
    day: date
    price: Decimal


@dataclass
class Seat:
    row: int


@pytest.mark.parametrize(
    ("result", "response"),
    [
        (
            Booking(day=date(2026, 3, 4), price=Decimal("12.50")),
            {"day": "2026-03-04", "price": "12.50"},
        ),
        ([Seat(1), Seat(2)], [{"row": 1}, {"row": 2}]),
        ({"at": date(2026, 3, 4)}, {"at": "2026-03-04"}),
        (None, None),
        ((1, "a"), [1, "a"]),
    ],
)
async def test_results_become_json(result: Any, response: Json) -> None:
    assert await run_tool("t", Tool(), {}, function=lambda: result) == response


@pytest.mark.parametrize("result", [object(), float("nan"), [object()]])
async def test_a_result_that_is_no_json_names_its_type(result: Any) -> None:
    with pytest.raises(SourceError, match=r"tool 't' returned \w+, which has no JSON") as caught:
        await run_tool("t", Tool(), {}, function=lambda: result)
    assert caught.value.code == "bad_result"


async def test_a_function_gets_typed_arguments_and_its_context() -> None:
    async def book(day: date, context: ToolContext, party: int = 2) -> Any:
        await asyncio.sleep(0)
        assert not context.cancelled.is_set()
        return [day.day, party, context.state["name"], context.call, context.key]

    state = StateView(State({"name": "Jo"}))
    context = ToolContext(state, call="c1", key="k")
    args = {"day": "2026-03-04", "party": "4"}
    result = await run_tool("book", Tool(), args, function=book, context=context)
    assert result == [4, 4, "Jo", "c1", "k"]


async def test_the_state_of_a_context_is_read_only() -> None:
    def write(context: ToolContext) -> None:
        context.state["name"] = "x"  # pyright: ignore

    context = ToolContext(StateView(State({"name": "Jo"})))
    with pytest.raises(FunctionError, match="raised TypeError"):
        await run_tool("write", Tool(), {}, function=write, context=context)


async def test_arguments_are_checked_before_anything_runs() -> None:
    ran: list[int] = []
    tool = Tool(args={"n": "integer"})
    with pytest.raises(ArgumentError):
        await run_tool("t", tool, {"n": "many"}, function=ran.append)
    with pytest.raises(ArgumentError):
        await run_tool("t", Tool(), {}, function=lambda n: ran.append(n))
    assert ran == []


async def test_a_failing_function_is_named_without_its_words() -> None:
    def fail() -> None:
        raise ValueError("jane smith")

    with pytest.raises(FunctionError) as caught:
        await run_tool("t", Tool(), {}, function=fail)
    assert "jane" not in f"{caught.value} {caught.value!r}"
    assert isinstance(caught.value.__cause__, ValueError)


async def test_an_error_of_ours_passes_unchanged() -> None:
    def fail() -> None:
        raise OwnershipError("not yours")

    with pytest.raises(OwnershipError):
        await run_tool("t", Tool(), {}, function=fail)


async def test_a_call_that_takes_too_long_is_cancelled_and_told_so() -> None:
    context, ended = ToolContext(), asyncio.Event()

    async def slow() -> None:
        try:
            await asyncio.sleep(10)
        finally:
            ended.set()

    with pytest.raises(SourceError, match="within 20 ms") as caught:
        await run_tool("t", Tool(timeout="20ms"), {}, function=slow, context=context)
    assert (caught.value.code, context.cancelled.is_set(), ended.is_set()) == (
        "timed_out",
        True,
        True,
    )


async def test_an_interrupted_call_tells_what_runs_beside_it() -> None:
    """A thread cannot be cancelled: it looks at the token."""
    context, seen = ToolContext(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def threaded(context: ToolContext) -> None:
        def work() -> None:
            while not context.cancelled.is_set():
                pass
            loop.call_soon_threadsafe(seen.set)

        await asyncio.to_thread(work)

    running = asyncio.ensure_future(run_tool("t", Tool(), {}, function=threaded, context=context))
    await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.wait_for(seen.wait(), 5)


async def test_successes_are_reused_for_equal_arguments_and_failures_are_not() -> None:
    calls: list[int] = []

    def look(n: int) -> int:
        calls.append(n)
        if n < 0:
            raise ValueError
        return len(calls)

    clock = ManualClock()
    cache, tool = Cache(clock=clock), Tool(args={"n": "integer"}, cache="1m")

    async def ask(n: Any) -> Json:
        return await run_tool("look", tool, {"n": n}, function=look, cache=cache)

    assert [await ask(1), await ask("1"), await ask(2)] == [1, 1, 2]
    clock.advance(60_000)
    assert await ask(1) == 3
    for _ in range(2):
        with pytest.raises(FunctionError):
            await ask(-1)
    assert calls == [1, 2, 1, -1, -1]


async def test_a_tool_without_a_cache_runs_each_time_even_at_once() -> None:
    calls: list[int] = []

    async def look() -> int:
        calls.append(1)
        await asyncio.sleep(0)
        return len(calls)

    both = (run_tool("look", Tool(), {}, function=look, cache=Cache()) for _ in range(2))
    assert await asyncio.gather(*both) == [2, 2]


async def test_a_canned_response_is_the_readers_own() -> None:
    tool = Tool(respond={"status": ["ok"]})
    first: Any = await run_tool("t", tool, {})
    first["status"].append("spoilt")
    assert await run_tool("t", tool, {}) == {"status": ["ok"]}


async def test_a_registered_function_stands_in_for_a_request() -> None:
    tool = Tool(http=HttpRequest(url="https://api.example.com"))
    assert await run_tool("t", tool, {}, function=lambda: "in its place") == "in its place"


async def test_nothing_outside_is_reached_unless_the_process_allows_it() -> None:
    request = Tool(http=HttpRequest(url="https://api.example.com"))
    with pytest.raises(SourceError, match="has to allow") as caught:
        await run_tool("t", request, {})
    assert caught.value.code == "not_allowed"
    server = Tool(mcp=McpCall(server="desk", tool="x"))
    outside = Outside(servers={"desks": ["true"]})
    with pytest.raises(SourceError, match=r"no MCP server 'desk'.*Did you mean 'desks'") as caught:
        await run_tool("t", server, {}, outside=outside)
    assert caught.value.code == "unknown_server"


async def test_a_tool_without_a_source_is_an_error_of_the_flow() -> None:
    with pytest.raises(FlowError, match="tool 't' has no source"):
        await run_tool("t", Tool(), {})


async def test_responses_are_transformed_before_anyone_sees_them() -> None:
    def mask(tool: str, response: Any) -> Any:
        return {**response, "card": "•••"}

    async def stamp(tool: str, response: Mapping[str, Any]) -> Any:
        return {**response, "tool": tool}

    tool = Tool(respond={"card": "4242"})
    response = await run_tool("pay", tool, {}, before_response=[mask, stamp])
    assert response == {"card": "•••", "tool": "pay"}


async def test_a_failing_transform_lets_nothing_through() -> None:
    def fail(tool: str, response: Any) -> Any:
        raise KeyError(response["card"])

    with pytest.raises(FunctionError, match="before_response 'pay' raised KeyError") as caught:
        await run_tool("pay", Tool(respond={"card": "4242"}), {}, before_response=[fail])
    assert "4242" not in str(caught.value)
