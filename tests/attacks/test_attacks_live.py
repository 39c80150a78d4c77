"""The same attacks in live sessions: a Gemini on the loopback gives the bad answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flowengine import Session
from flowengine.facts import Fact
from flowengine.kernel import Kernel
from flowengine.llm import GeminiProvider
from flowengine.testing.fake_gemini import FakeGemini, Reply, answer

pytestmark = pytest.mark.anyio

MODELS = {"Order": "gemini-3.5-flash-lite", "Mood": "gemini-3.1-flash-lite"}
DECIDES = "gemini-3.5-flash"


@pytest.fixture
def attacked(gemini: FakeGemini, provider: GeminiProvider, watched: Any) -> Any:
    """Play a case through a session; gives what `simulated` gives."""

    async def play(case: Any) -> Any:
        facts: list[Fact] = []
        flow, _ = watched.flow(case.flow)
        begun = Kernel(flow).start(0, case.given.get("state"), case.given.get("phase"))
        session = Session(
            flow,
            llm=provider,
            resume=begun.snapshot,
            record=lambda input, step: facts.extend(step.facts),
        )
        async with session as call:
            for step in case.turns:
                gemini.clear()
                script(gemini, step, case.given.get("decide", {}))
                if "tool" in step:
                    await call.tool(step["tool"]["name"], step["tool"]["args"])
                else:
                    await call.turn(step["user"], step.get("model", ""))
        return watched.watch(facts, watched.protected(case.flow))

    return play


def script(gemini: FakeGemini, step: dict[str, Any], decided: dict[str, Any]) -> None:
    """Every model answers whatever it is asked, and the questions all alike."""
    for extractor, model in MODELS.items():
        fields = step.get("extract", {}).get(extractor, {})
        gemini.script(reply(fields), model=model)
    sure = {"probability": max(decided.values(), default=0.5)}
    gemini.script(reply({"q1": sure, "q2": sure}), model=DECIDES)


def reply(fields: dict[str, Any]) -> Reply:
    return Reply(answer({"text": json.dumps(fields)}))


async def test_an_attack_reaches_nothing_live(attack: Any, attacked: Any) -> None:
    assert await attacked(attack) == ([], attack.moved)


async def test_the_caller_reaches_it_live(honest: Any, attacked: Any) -> None:
    assert await attacked(honest) == (honest.reaches, honest.moved)


async def test_an_attack_that_gets_through_does_so_live(limit: Any, attacked: Any) -> None:
    assert await attacked(limit) == (limit.reaches, limit.moved)


def test_a_handful_of_each_is_live(corpus: Any) -> None:
    live = [sum(case.live for case in kind.attacks) for kind in corpus]
    assert sum(live) >= 20
    assert sum(case.live for kind in corpus for case in kind.honest) >= 5
