"""A scenario step by step on a simulation: each step happens, then it is compared."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from flowengine.clock import ManualClock
from flowengine.errors import FlowEngineError, TurnFailed
from flowengine.flow.diagnostic import Path
from flowengine.flow.functions import Functions
from flowengine.flow.model import Flow
from flowengine.testing.answers import PENDING, Decisions, Failure, Fields
from flowengine.testing.diff import Mismatch, Seen, answered, mismatches
from flowengine.testing.scenario import CallTool, Decided, Extracted, Given, Scenario, Step, Turn
from flowengine.testing.simulation import Simulation


def start_of(given: Given, flow: Flow, functions: Functions | None) -> Simulation:
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
        decisions=given.decide,
        resolutions=given.resolve,
        confirm=given.confirm,
        run_functions=given.run_functions,
    )


def _clock(given: Given, flow: Flow) -> ManualClock:
    if given.at is None:
        return ManualClock()
    at = datetime.fromisoformat(given.at)
    if at.tzinfo is None:
        at = at.replace(tzinfo=ZoneInfo(given.timezone or flow.timezone))
    return ManualClock(round(at.timestamp() * 1000))


class Play:
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

    def end(self, scenario: Scenario) -> Iterator[Mismatch]:
        """What can only be said after the last step."""
        try:
            self.call.check_asked()
        except FlowEngineError as error:
            at = max(n for n, step in enumerate(scenario.turns) if step.asks)
            yield Mismatch("misuse", str(error), ("turns", at))

    def _act(self, step: Step) -> None:
        call = self.call
        match step.action:
            case "turn":
                self._turn(step)
            case "repeat" if step.repeat:
                for _ in range(step.repeat.times):
                    self._turn(step.repeat)
            case "hear" if step.hear is not None:
                extract, decide = _script(step.extract), _decisions(step.decide)
                self.results.append(call.hear(step.hear, extract=extract, decide=decide))
            case "interrupt" if step.interrupt is not None:
                self.results.append(call.say(step.interrupt, interrupted=True))
            case "advance" if step.advance:
                self.results.append(call.advance(step.advance))
            case "set" if step.set:
                for key, value in step.set.items():
                    self.results.append(call.set(key, value))
            case "event" if step.event:
                self.results.append(call.event(step.event))
            case "tool" if step.tool:
                self._tool(step.tool, step)
            case "restart":
                call.restore()
            case _:
                self._answer(step)

    def _answer(self, step: Step) -> None:
        """Something that was asked for earlier comes in."""
        call = self.call
        match step.action:
            case "extract":
                for name, answer in _script(step.extract).items():
                    self.results.append(call.extracted(name, answer))
            case "decide":
                self.results.append(call.decide(_decisions(step.decide)))
            case "confirm" if step.confirm is not None:
                self.results.append(call.confirm(step.confirm))
            case "resolve" if step.resolve:
                done = step.resolve
                self.results.append(call.resolve(done.name, done.value, error=done.error))
            case _:
                pass

    def _turn(self, turn: Turn) -> None:
        result = self.call.turn(
            turn.user or "",
            turn.model or "",
            values=turn.values,
            extract=_script(turn.extract),
            decide=_decisions(turn.decide),
        )
        self.results.append(result)

    def _tool(self, tool: CallTool, turn: Turn) -> None:
        self.asked = f"{tool.name}-{len(self.call.inputs)}"
        result = PENDING if tool.pending else tool.result
        self.call.tool(
            tool.name, tool.args, result=result, error=tool.error, respond=tool.respond,
            confirm=tool.confirm, call=self.asked, extract=_script(turn.extract),
            decide=_decisions(turn.decide),
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


def _decisions(decide: Decided) -> Decisions:
    if isinstance(decide, dict):
        return decide
    return PENDING if decide == "pending" else Failure(decide, decide)


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
