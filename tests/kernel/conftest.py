"""A kernel driven by hand: each input's facts, effects and snapshot, ids given in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from flowengine import Flow, Functions, loads
from flowengine.effects import AnswerTool, Effect, RunExtractor, Say, ToolAnswer
from flowengine.facts import Fact, canonical_json
from flowengine.inputs import Admin, Heard, Input, Json, Outcome, Said, Timer, ToolCalled, TurnEnded
from flowengine.kernel import Kernel, Snapshot, Step, from_json, to_json


class Call:
    """One session; every snapshot goes through JSON, so nothing lives outside it."""

    def __init__(self, flow: Flow, functions: Functions | None = None, **state: Any) -> None:
        self.kernel, self.at, self.ids = Kernel(flow, functions), 0, 0
        self.facts: list[Fact] = []
        self.effects: list[Effect] = []
        self.take(self.kernel.start(0, state))

    def turn(self, user: str = "well", model: str = "", **values: Json) -> Step:
        if user:
            self.send(Heard, user)
        if model:
            self.send(Said, model)
        return self.send(TurnEnded, values)

    def set(self, event: str | None = None, **values: Json) -> Step:
        return self.send(Admin, values, event=event)

    def tool(self, tool: str, call: str = "c", **args: Json) -> Step:
        return self.send(ToolCalled, call, tool, args)

    def answer(self, effect: str, value: Json = None, status: Any = "ok", error: str = "") -> Step:
        return self.send(Outcome, effect, status, value, error)

    def ring(self) -> Step:
        """Let the time come for which the timer is set."""
        assert self.snapshot.wait.timer is not None
        id, self.at = self.snapshot.wait.timer
        return self.send(Timer, id)

    def send(self, kind: Callable[..., Input], *args: Any, **more: Any) -> Step:
        self.ids += 1
        return self.take(
            self.kernel.step(self.snapshot, kind(str(self.ids), self.at, *args, **more))
        )

    def take(self, step: Step) -> Step:
        self.snapshot: Snapshot = from_json(json.loads(canonical_json(to_json(step.snapshot))))
        self.facts, self.effects = list(step.facts), list(step.effects)
        return step

    @property
    def phase(self) -> str:
        return self.kernel.compiled.chart.main_leaf(self.snapshot.place.active)

    @property
    def values(self) -> Mapping[str, Json]:
        return self.snapshot.values

    @property
    def said(self) -> list[str]:
        return [effect.text for effect in self.effects if isinstance(effect, Say)]

    @property
    def answers(self) -> list[tuple[str, ToolAnswer]]:
        return [(e.call, e.answer) for e in self.effects if isinstance(e, AnswerTool)]

    def run(self, name: str) -> str:
        """The effect id of the newest open run of this name."""
        return [id for id, run in self.snapshot.wait.runs.items() if run.name == name][-1]

    def asked(self, kind: type[Effect] = RunExtractor) -> list[Any]:
        return [effect for effect in self.effects if isinstance(effect, kind)]

    def happened(self, kind: type[Fact]) -> list[Any]:
        return [fact for fact in self.facts if isinstance(fact, kind)]


@pytest.fixture(scope="session")
def begin() -> Callable[..., Call]:
    """Start a call on a flow's YAML: `begin(text, functions, key=value)`."""

    def begin(text: str, functions: Functions | None = None, **state: Any) -> Call:
        return Call(loads(text), functions, **state)

    return begin
