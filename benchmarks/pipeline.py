"""What the pipeline adds to a call: to a turn, to many calls on one core, to a tool call.

A model is stood in for by a coroutine that sleeps. What is printed is the time of a turn without
the time that its extractor itself took, measured inside it: what flowengine and the event loop
add. The peer is a bare task that sleeps the same time, in the same loop at the same moments; its
delay is what the loop alone adds.

    python benchmarks/pipeline.py [--calls 100] [--sessions 1000] [--turns 10]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

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


PAUSE = 2.5
"""Seconds between two turns of a call, on average; people take longer."""


class Model:
    """A model that takes its time, and remembers how much of it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.took: dict[str, float] = {}

    async def __call__(self, window: Any, known: Any) -> dict[str, str]:
        begun = time.perf_counter()
        await asyncio.sleep(self.seconds)
        said = window[-1].user
        self.took[said] = time.perf_counter() - begun
        return {"mood": "calm", "name": "Jane Smith"}


async def call(flow: Flow, services: Services, model: Model, name: int, turns: int) -> list[float]:
    """One call whose turns come at moments of their own; what each turn cost besides the model."""
    chance = random.Random(name)
    added: list[float] = []
    async with Session(flow, functions=NONE, services=services) as session:
        for number in range(turns):
            await asyncio.sleep(chance.random() * 2 * PAUSE)
            said = f"Jane Smith here, I can pay {number + 1} dollars, call {name}"
            begun = time.perf_counter()
            turn = await session.turn(said, "Thank you.")
            took = time.perf_counter() - begun
            assert turn.state["mood"] == "calm"
            assert turn.snapshot.turns == number + 1
            added.append(took - model.took.pop(said))
    return added


async def bare(seconds: float, name: int, turns: int) -> list[float]:
    """A task that sleeps as long, inside a task of its own: what the loop adds."""
    chance = random.Random(name)
    added: list[float] = []
    for _ in range(turns):
        await asyncio.sleep(chance.random() * 2 * PAUSE)
        slept: list[float] = []

        async def model(slept: list[float] = slept) -> None:
            begun = time.perf_counter()
            await asyncio.sleep(seconds)
            slept.append(time.perf_counter() - begun)

        begun = time.perf_counter()
        await asyncio.create_task(model())
        added.append(time.perf_counter() - begun - slept[0])
    return added


async def many(title: str, calls: int, seconds: float, turns: int, limit: float) -> None:
    model = Model(seconds)
    flow, services = loads(FLOW), Services(extractors={"Mood": model})
    await call(flow, services, model, -1, 2)
    started = memory()
    cpu = time.process_time()
    begun = time.perf_counter()
    ours, peers = await asyncio.gather(
        asyncio.gather(*(call(flow, services, model, n, turns) for n in range(calls))),
        asyncio.gather(*(bare(seconds, n, turns) for n in range(calls))),
    )
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    added = [each for one in ours for each in one]
    print(f"{title}: {len(added)} turns of {calls} calls, none lost")
    show("flowengine", added)
    show("a bare task", [each for one in peers for each in one])
    print(f"  p99 {p99(added) * 1000:.3f} ms (to reach <= {limit:g} ms)")
    print(f"  one core {cpu / wall:.0%} busy, {cpu / len(added) * 1e6:.0f} µs of it a turn")
    print(f"  resident memory {started:.0f} -> {memory():.0f} MB\n")


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
        lambda: many("latency added to a turn", given.calls, 0.05, given.turns, 0.5),
        lambda: many("a model that takes 1 s, one core", given.sessions, 1.0, given.turns, 50),
        lambda: gate(200),
    ]
    for run in runs:
        asyncio.run(run())  # pyright: ignore[reportArgumentType]


if __name__ == "__main__":
    main()
