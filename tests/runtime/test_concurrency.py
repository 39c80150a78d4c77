"""Many requests at once: a commit runs once, whoever asks and however often."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from flowengine import Denied, Failed, Functions, Ran, Session, loads

FLOW = """
flow: commits
state: {paid: {type: object, writers: ["tool:pay"]}}
tools:
  pay: {args: {sum: number}, LIMIT, save_as: paid}
phases: {a: {initial: true}}
"""
COMMIT = FLOW.replace("LIMIT", "commit: true")
KEYED = FLOW.replace("LIMIT", 'idempotency_key: "pay-{args.sum}"')


async def ask_at_once(text: str, times: int, fail_first: bool = False) -> tuple[list[Any], int]:
    """How the calls ended, and how often the tool has run."""
    functions, ran = Functions(), 0

    @functions.tool
    async def pay(sum: float) -> dict[str, int]:
        nonlocal ran
        ran += 1
        here = ran
        await asyncio.sleep(0.01)
        if fail_first and here == 1:
            raise ConnectionError("no line")
        return {"receipt": here}

    async with Session(loads(text), functions=functions) as call:
        asked = [call.tool("pay", {"sum": 5}, call=f"c{n}") for n in range(times)]
        outcomes = await asyncio.gather(*asked)
        turn = await call.turn("and now?")
        assert turn.phase == "a"
        return list(outcomes), ran


def test_a_hundred_identical_requests_run_a_commit_once() -> None:
    outcomes, ran = asyncio.run(ask_at_once(COMMIT, 100))
    assert ran == 1
    assert Counter(type(outcome) for outcome in outcomes) == {Ran: 1, Denied: 99}
    assert {outcome.kind for outcome in outcomes if isinstance(outcome, Denied)} == {"spent"}


def test_a_hundred_requests_with_one_idempotency_key_share_one_run() -> None:
    outcomes, ran = asyncio.run(ask_at_once(KEYED, 100))
    assert (outcomes, ran) == ([Ran({"receipt": 1})] * 100, 1)


def test_a_hundred_requests_that_share_a_failed_run_all_hear_of_it_and_may_try_again() -> None:
    outcomes, ran = asyncio.run(ask_at_once(KEYED, 100, fail_first=True))
    assert ran == 1
    assert {type(outcome) for outcome in outcomes} == {Failed}


def test_a_hundred_requests_with_one_call_id_are_one_call() -> None:
    async def run() -> tuple[list[Any], int]:
        functions, ran = Functions(), 0

        @functions.tool
        async def pay(sum: float) -> dict[str, int]:
            nonlocal ran
            ran += 1
            await asyncio.sleep(0.01)
            return {"receipt": ran}

        async with Session(loads(COMMIT), functions=functions) as call:
            asked = [call.tool("pay", {"sum": 5}, call="same") for _ in range(100)]
            return list(await asyncio.gather(*asked)), ran

    assert asyncio.run(run()) == ([Ran({"receipt": 1})] * 100, 1)
