"""Runs a scenario on a flow and reports the first step that is not as expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Any
from zoneinfo import ZoneInfo

from flowengine.clock import ManualClock
from flowengine.errors import FlowEngineError, TurnFailed
from flowengine.facts import canonical_json
from flowengine.flow.diagnostic import Finding, Path
from flowengine.flow.functions import Functions
from flowengine.flow.model import Flow
from flowengine.kernel import to_json
from flowengine.testing.answers import PENDING, Failure, Fields
from flowengine.testing.diff import Mismatch, Seen, answered, mismatches
from flowengine.testing.scenario import CallTool, Extracted, Given, Scenario, Step, Turn
from flowengine.testing.scenario_file import ScenarioFile
from flowengine.testing.simulation import Simulation


@dataclass(frozen=True, slots=True)
class Report:
    """How a scenario went; it has passed if nothing differs."""

    scenario: str
    mismatches: tuple[Mismatch, ...]
    facts: tuple[str, ...]
    """What happened up to there, as canonical JSON lines."""

    @property
    def passed(self) -> bool:
        return not self.mismatches

    def text(self, file: ScenarioFile, number: int) -> str:
        """Each difference with its place in the file, for people."""
        return "\n\n".join(_placed(m, file, number) for m in self.mismatches)


def run_scenario(scenario: Scenario, flow: Flow, functions: Functions | None = None) -> Report:
    """Run it as often as it says; stops at the first step that differs."""
    first, ended = _run(scenario, flow, functions)
    for time in range(2, scenario.repeat + 1):
        again, then = _run(scenario, flow, functions)
        if (again.facts, then) != (first.facts, ended):
            message = f"run {time} went another way than the first"
            body = _first_difference(first.facts, again.facts)
            mismatch = Mismatch("repeat", message, ("repeat",), body)
            return Report(scenario.name, (*first.mismatches, mismatch), first.facts)
    return first


def _run(scenario: Scenario, flow: Flow, functions: Functions | None) -> tuple[Report, str]:
    """One run, and the snapshot in which it ended."""
    try:
        call = _start(scenario.given, flow, functions)
    except FlowEngineError as error:
        return Report(scenario.name, (Mismatch("given", str(error), ("given",)),), ()), ""
    play = _Play(call)
    found: list[Mismatch] = []
    for number, step in enumerate(scenario.turns):
        found = [m._replace(path=("turns", number, *m.path)) for m in play.step(step)]
        if found:
            break
    return Report(scenario.name, tuple(found), call.lines), canonical_json(to_json(call.snapshot))


def _start(given: Given, flow: Flow, functions: Functions | None) -> Simulation:
    state: dict[str, Any] = dict(given.state)
    for name in ("timezone", "locale"):
        if (value := getattr(given, name)) is not None:
            state[f"session:{name}"] = value
    return Simulation(
        flow,
        functions=functions,
        state=state,
        phase=given.phase,
        clock=_clock(given, flow),
        extractions=_script(given.extract),
        run_functions=given.run_functions,
    )


def _clock(given: Given, flow: Flow) -> ManualClock:
    if given.at is None:
        return ManualClock()
    at = datetime.fromisoformat(given.at)
    if at.tzinfo is None:
        at = at.replace(tzinfo=ZoneInfo(given.timezone or flow.timezone))
    return ManualClock(round(at.timestamp() * 1000))


class _Play:
    """A scenario in progress."""

    def __init__(self, call: Simulation) -> None:
        self.call = call
        self.results = [call.latest]
        """What the last step that did something has brought."""

    def step(self, step: Step) -> Iterator[Mismatch]:
        """Let one step happen, then compare."""
        if step.action is not None:
            self.results = []
        failed: TurnFailed | None = None
        try:
            self._act(step)
        except TurnFailed as error:
            failed = error
            self.results.append(self.call.latest)
        except FlowEngineError as error:
            yield Mismatch("misuse", str(error), _place(step))
            return
        yield from _failure(failed, step)
        if step.tool is not None and step.tool.expect is not None:
            outcome = self.call.outcomes.get(self.asked)
            yield from answered(step.tool.expect, outcome, ("tool", "expect"))
        if step.expect is not None:
            for mismatch in mismatches(step.expect, Seen(self.call, tuple(self.results))):
                yield mismatch._replace(path=("expect", *mismatch.path))

    def _act(self, step: Step) -> None:
        call = self.call
        match step.action:
            case "turn":
                self._turn(step)
            case "repeat" if step.repeat:
                for _ in range(step.repeat.times):
                    self._turn(step.repeat)
            case "extract":
                for name, answer in _script(step.extract).items():
                    self.results.append(call.extracted(name, answer))
            case "advance" if step.advance:
                self.results.append(call.advance(step.advance))
            case "set" if step.set:
                for key, value in step.set.items():
                    self.results.append(call.set(key, value))
            case "event" if step.event:
                self.results.append(call.event(step.event))
            case "tool" if step.tool:
                self._tool(step.tool)
            case "resolve" if step.resolve:
                done = step.resolve
                self.results.append(call.resolve(done.name, done.value, error=done.error))
            case _:
                call.restore()

    def _turn(self, turn: Turn) -> None:
        script = _script(turn.extract)
        words = turn.user or "", turn.model or ""
        self.results.append(self.call.turn(*words, values=turn.values, extract=script))

    def _tool(self, tool: CallTool) -> None:
        self.asked = f"{tool.name}-{len(self.call.inputs)}"
        result = PENDING if tool.pending else tool.result
        self.call.tool(
            tool.name, tool.args, result=result, error=tool.error, respond=tool.respond,
            call=self.asked,
        )  # fmt: skip
        self.results.append(self.call.latest)


def _script(extract: Extracted) -> dict[str, Fields]:
    """What the file says of extractors, as a simulation takes it."""
    script: dict[str, Fields] = {}
    for name, answer in extract.items():
        if isinstance(answer, dict):
            script[name] = answer
        else:
            script[name] = PENDING if answer == "pending" else Failure(answer, answer)
    return script


def _place(step: Step) -> Path:
    return () if step.action in ("turn", None) else (step.action,)


def _failure(failed: TurnFailed | None, step: Step) -> Iterator[Mismatch]:
    wanted = step.expect.failed if step.expect else None
    if failed is None:
        if wanted is not None:
            message = f"expected the input to fail ({wanted}), and it did not"
            yield Mismatch("failed", message, ("expect", "failed"))
    elif failed.fact.code != wanted:
        path: Path = ("expect", "failed") if wanted else _place(step)
        message = f"the input failed ({failed.fact.code}) at {failed.fact.place}"
        yield Mismatch("failed", message, path, f"  {failed.__cause__}")


def _first_difference(first: Iterable[str], again: Iterable[str]) -> str:
    for one, other in zip_longest(first, again, fillvalue="nothing"):
        if one != other:
            return f"  first: {one}\n  again: {other}"
    return "  the facts agree, the snapshots do not"


def _placed(mismatch: Mismatch, file: ScenarioFile, number: int) -> str:
    finding = Finding(mismatch.code, mismatch.message, (number, *mismatch.path))
    place = str(file.locate(finding))
    return f"{place}\n{mismatch.body}" if mismatch.body else place
