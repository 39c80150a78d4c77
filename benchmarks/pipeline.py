"""What the pipeline adds to a call: to a turn, to many calls on one core, to a tool call.

A model is stood in for by a coroutine that sleeps. What is printed is the time from the end of a
turn to its result without the time that the model itself took, measured inside it: what flowengine
and the event loop add. Turns go as on a live line: the caller's words are heard, the model speaks,
the turn ends. Peers run in turns with it, on the same loop at the same pace: a bare task that
sleeps as long, which is what the loop alone adds, and, where LangGraph is installed, the turn as
one of its graphs.

    python benchmarks/pipeline.py [--calls 100] [--sessions 1000] [--turns 10]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import resource
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from itertools import product
from typing import Any, TypeAlias

from flowengine import Flow, Functions, Ran, Services, Session, loads

FLOW = """
flow: benchmark
state: {amount: decimal, mood: string, verified: boolean}
records: {promise: {fields: {amount: {recognize: money}}}}
extract:
  - name: Mood
    schema: {type: object, properties: {mood: {enum: [calm, angry]}, name: {type: string}}}
    promote: [{field: mood, policy: overwrite}, {field: name, policy: overwrite}]
computed:
  risk: {of: mood, map: {calm: low, angry: high}, else: low}
tools: {look: {when: is_set(amount)}}
phases:
  ask:
    initial: true
    needs: [amount]
    transitions: [{to: confirm, when: captured(amount)}]
  confirm:
    transitions: [{to: ask, when: risk == 'high'}]
"""


try:
    from pipeline_graph import graph
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "langgraph":
        raise
    graph = None

PAUSE = 2.5
"""Seconds between two turns of a call, on average; people take longer."""


SPEAKS = 0.2
"""Seconds for which the model speaks before the turn ends."""
ROUNDS = 3
"""How often each of those that are compared has its go."""

Added: TypeAlias = list[float]
"""What each turn cost besides its model, in seconds."""


class Model:
    """A model that takes its time, and remembers how much of it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.took: dict[str, float] = {}

    async def __call__(self, window: Any, known: Any) -> dict[str, str]:
        return await self.read(window[-1].user)

    async def read(self, said: str) -> dict[str, str]:
        begun = time.perf_counter()
        await asyncio.sleep(self.seconds)
        self.took[said] = time.perf_counter() - begun
        return {"mood": "calm", "name": "Jane Smith"}


class Caller:
    """When somebody speaks, and what they say; the same for all that are compared."""

    def __init__(self, name: int, turns: int) -> None:
        self.chance, self.name, self.turns = random.Random(name), name, turns

    async def says(self) -> AsyncIterator[str]:
        for number in range(self.turns):
            await asyncio.sleep(self.chance.random() * 2 * PAUSE)
            yield f"Jane Smith here, I can pay {number + 1} dollars, call {self.name}"


async def live(flow: Flow, services: Services, model: Model, caller: Caller) -> Added:
    """One call whose turns come at moments of their own."""
    added: Added = []
    async with Session(flow, functions=NONE, services=services) as session:
        async for said in caller.says():
            await session.heard(said)
            await asyncio.sleep(SPEAKS)
            await session.said("Thank you.")
            begun = time.perf_counter()
            turn = await session.turn()
            took = time.perf_counter() - begun
            assert turn.state["mood"] == "calm"
            assert turn.snapshot.turns == len(added) + 1
            added.append(took - model.took.pop(said))
    return added


async def at_once(flow: Flow, services: Services, model: Model, caller: Caller) -> Added:
    """The same, told when the turn is over: then its words are read while somebody waits."""
    added: Added = []
    async with Session(flow, functions=NONE, services=services) as session:
        async for said in caller.says():
            begun = time.perf_counter()
            turn = await session.turn(said, "Thank you.")
            took = time.perf_counter() - begun
            assert turn.state["mood"] == "calm"
            added.append(took - model.took.pop(said))
    return added


async def as_graph(app: Any, model: Model, caller: Caller) -> Added:
    added: Added = []
    thread = {"configurable": {"thread_id": f"{caller.name} {time.perf_counter()}"}}
    async for said in caller.says():
        begun = time.perf_counter()
        known = await app.ainvoke({"said": said}, thread)
        took = time.perf_counter() - begun
        assert known["phase"] == "confirm"
        added.append(took - model.took.pop(said))
    return added


async def bare(model: Model, caller: Caller) -> Added:
    """A task that sleeps as long, inside a task of its own: what the loop adds."""
    added: Added = []
    async for said in caller.says():
        begun = time.perf_counter()
        await asyncio.create_task(model.read(said))
        added.append(time.perf_counter() - begun - model.took.pop(said))
    return added


async def beside_peers(calls: int, turns: int) -> None:
    """Each of them in turn, a few times: the machine's moods fall on all alike."""
    model = Model(0.05)
    flow, services = loads(FLOW), Services(extractors={"Mood": model})
    runs: dict[str, Callable[[Caller], Awaitable[Added]]] = {
        "flowengine": lambda caller: live(flow, services, model, caller),
        "told at once": lambda caller: at_once(flow, services, model, caller),
        "a bare task": lambda caller: bare(model, caller),
    }
    if graph is not None:
        app = graph(model.read)
        runs["langgraph"] = lambda caller: as_graph(app, model, caller)
    added: dict[str, Added] = {name: [] for name in runs}
    for round in range(ROUNDS + 1):
        for name, run in runs.items():
            size = calls if round else 2  # the first one warms up
            made = await asyncio.gather(*(run(Caller(n, turns)) for n in range(size)))
            added[name] += [each for one in made for each in one] if round else []
    print(f"latency added to a turn: {len(added['flowengine'])} turns of {calls} calls, none lost")
    for name, took in added.items():
        show(name, took)
    print(f"  p99 {p99(added['flowengine']) * 1000:.3f} ms (to reach <= 0.5 ms)")
    if "langgraph" in added:
        ratio = p99(added["flowengine"]) / p99(added["langgraph"])
        print(f"  p99 as a ratio to langgraph: {ratio:.3f} (to reach <= 0.2)\n")
    else:
        print("  no ratio: `pip install langgraph` to run beside it\n")


async def many(calls: int, seconds: float, turns: int) -> None:
    model = Model(seconds)
    flow, services = loads(FLOW), Services(extractors={"Mood": model})
    await live(flow, services, model, Caller(-1, 2))
    started, cpu, begun = memory(), time.process_time(), time.perf_counter()
    made = await asyncio.gather(
        *(live(flow, services, model, Caller(n, turns)) for n in range(calls))
    )
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    added = [each for one in made for each in one]
    print(f"a model that takes {seconds:g} s, one core: {len(added)} turns of {calls} calls")
    show("flowengine", added)
    print(f"  p99 {p99(added) * 1000:.3f} ms (to reach <= 50 ms), no turn lost")
    print(f"  one core {cpu / wall:.0%} busy, {cpu / len(added) * 1e6:.0f} µs of it a turn")
    print(f"  resident memory {started:.0f} -> {memory():.0f} MB\n")


async def turn_after_turn(calls: int, rounds: int) -> None:
    """Open calls whose turns come one after the other: a busy core, with nobody in the queue."""
    model = Model(0)
    flow, services = loads(FLOW), Services(extractors={"Mood": model})
    added: Added = []
    async with AsyncExitStack() as stack:
        opened = (Session(flow, functions=NONE, services=services) for _ in range(calls))
        sessions = [await stack.enter_async_context(one) for one in opened]
        for number, session in product(range(rounds), sessions):
            said = f"Jane Smith here, I can pay {number + 1} dollars"
            await session.heard(said)
            await asyncio.sleep(0)
            await session.said("Thank you.")
            begun = time.perf_counter()
            await session.turn()
            added.append(time.perf_counter() - begun - model.took.pop(said))
    added = added[len(added) // 4 :]
    print(f"latency added to a turn, {calls} calls open, turn after turn: {len(added)} turns")
    show("flowengine", added)
    print(f"  p99 {p99(added) * 1000:.3f} ms (to reach <= 0.5 ms)\n")


async def gate(rounds: int) -> None:
    """A tool call while an extraction that it does not need takes a second."""
    functions = Functions()
    functions.tool(look)
    model = Model(1.0)
    services = Services(extractors={"Mood": model})
    took: list[float] = []

    async def one(name: int) -> None:
        async with Session(FLOW_ONCE, functions=functions, services=services) as session:
            await session.set("amount", "5")
            turn = asyncio.create_task(session.turn(f"hello {name}"))
            await asyncio.sleep(0.01 + random.Random(name).random() * 0.5)
            begun = time.perf_counter()
            outcome = await session.tool("look")
            took.append(time.perf_counter() - begun)
            assert outcome == Ran("seen")
            assert not turn.done()
            await turn

    for start in range(0, rounds, 20):
        await asyncio.gather(*(one(n) for n in range(start, start + 20)))
    print(f"tool call beside an unrelated 1 s extraction: {rounds} calls")
    show("gate and tool", took)
    print(f"  p99 {p99(took) * 1000:.3f} ms (to reach <= 2 ms)\n")


def look() -> str:
    return "seen"


NONE = Functions()
FLOW_ONCE = loads(FLOW)


def show(name: str, seconds: list[float]) -> None:
    cuts = statistics.quantiles(seconds, n=100)
    shown = {"p50": cuts[49], "p90": cuts[89], "p99": cuts[98], "max": max(seconds)}
    print(f"  {name:14} " + "  ".join(f"{k} {v * 1000:7.3f}" for k, v in shown.items()) + " ms")


def p99(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=100)[98]


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--turns", type=int, default=10)
    given = parser.parse_args()
    runs: list[Callable[[], Awaitable[None]]] = [
        lambda: beside_peers(given.calls, given.turns // 2),
        lambda: turn_after_turn(given.calls, 60),
        lambda: many(given.sessions, 1.0, given.turns),
        lambda: gate(200),
    ]
    for run in runs:
        gc.collect()
        gc.freeze()  # as docs/live.md advises; for the peers too
        asyncio.run(run())  # pyright: ignore[reportArgumentType]


if __name__ == "__main__":
    main()
