"""A call that was driven, taken apart: what people and the model did, and who answered what.

What was done has an order of its own; an answer may come whenever it has been asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from flowengine.clock import duration_ms
from flowengine.effects import (
    AnswerTool,
    AskConfirmation,
    Cancel,
    Decide,
    Effect,
    Resolve,
    RunExtractor,
    RunFunction,
    RunTool,
)
from flowengine.errors import FlowError
from flowengine.facts import canonical_json
from flowengine.flow.model import Flow
from flowengine.inputs import Generated, Input, Outcome, Said, Timer, ToolCalled, TurnEnded
from flowengine.kernel import Kernel, Snapshot, Step
from flowengine.testing.answering import Script
from flowengine.testing.answers import PENDING, Task, outcome
from flowengine.testing.simulation import Simulation
from flowengine.tools.names import named_by_model

Key: TypeAlias = tuple[str, ...]
"""What an effect is about, the same in every order."""
_SLOWEST = 120_000


class Deed(NamedTuple):
    """Something done by the caller, the model or the world; at the end only time passes."""

    input: Input | None
    gap: int
    """Milliseconds since the deed before."""
    waits: frozenset[str]
    """Calls whose answers the model had when it did this."""
    offered: str
    """The tool that is called, if it was offered."""
    position: int
    """Its place among all inputs of the recorded call."""


class Recording:
    """The deeds of a call in their order, and the answers by what they are about."""

    def __init__(self, call: Simulation) -> None:
        self._driver = driver = call.driver
        self.kernel: Kernel = driver.kernel
        self.first: Step = driver.first
        self.inputs: tuple[Input, ...] = tuple(driver.inputs)
        self.positions: dict[Key, list[int]] = {}
        """Where each answer stands among all inputs; several about one thing in their order."""
        self._answers: dict[Key, list[Outcome]] = {}
        self.deeds = tuple(self._deeds(call.clock.now()))

    @property
    def flow(self) -> Flow:
        return self.kernel.compiled.flow

    def answer(self, task: Task, nth: int, at: int) -> Outcome | None:
        """How the nth effect about the same thing ends; None if nobody answers it."""
        if isinstance(task, RunExtractor):
            found = self._extraction(task)
        elif isinstance(task, Decide):
            found = self._decisions(task)
        else:
            known = self._answers.get(key_of(task)) or self._answers.get(key_of(task)[:2], [])
            found = known[min(nth, len(known) - 1)] if known else None
        if found is not None:
            id = f"outcome-{task.id}"
            return Outcome(id, at, task.id, found.status, found.value, found.error)
        return self._otherwise(task, at)

    def limit(self, task: Task) -> int:
        """Milliseconds after which whoever was asked is cut short."""
        flow = self.flow
        match task:
            case RunTool(_, _, tool, _):
                return duration_ms(flow.tools[tool].timeout)
            case RunExtractor(_, name):
                return next(duration_ms(s.timeout) for s in flow.extract if s.name == name)
            case Resolve(_, name) if name in flow.resolvers:
                return duration_ms(flow.resolvers[name].timeout)
            case Decide(_, questions):
                return max(duration_ms(flow.decisions[each].timeout) for each in questions)
            case _:
                return _SLOWEST

    def _deeds(self, end: int) -> Iterator[Deed]:
        answered: set[str] = set()
        unwanted: set[str] = set()
        snapshot, last = self.first.snapshot, self.first.snapshot.at
        for position, input in enumerate(self.inputs):
            if isinstance(input, Outcome):
                if input.effect not in unwanted:
                    self._keep(input, position)
            elif not isinstance(input, Timer):
                waits = frozenset(answered) if _is_models(input) else frozenset[str]()
                offered = self._offered(input, snapshot)
                yield Deed(input, input.at - last, waits, offered, position)
                last = input.at
            step = self.kernel.step(snapshot, input)
            snapshot = step.snapshot
            answered |= {e.call for e in step.effects if isinstance(e, AnswerTool)}
            unwanted |= {e.effect for e in step.effects if isinstance(e, Cancel)}
        if end > last:
            yield Deed(None, end - last, frozenset(), "", len(self.inputs))

    def _offered(self, input: Input, snapshot: Snapshot) -> str:
        if not isinstance(input, ToolCalled):
            return ""
        tools = self.kernel.context(snapshot).tools
        called = named_by_model(input.tool, tools)
        return called if called in tools else ""

    def _keep(self, outcome: Outcome, position: int) -> None:
        task = self._driver.asked.get(outcome.effect)
        if task is None:
            return
        for key in {key_of(task), key_of(task)[:2]}:
            self._answers.setdefault(key, []).append(outcome)
            self.positions.setdefault(key, []).append(position)

    def _extraction(self, task: RunExtractor) -> Outcome | None:
        """A run finds what its turns hold, each turn as the recorded call has it."""
        covered = {turn.number for turn in task.window}
        ended = [
            found[-1]
            for (kind, name, turn), found in self._of_turns()
            if (kind, name) == ("extractor", task.name) and int(turn) in covered
        ]
        newest = self._answers.get(key_of(task))
        if newest is not None or not ended:
            return newest[-1] if newest else None
        well = [each.value for each in ended if isinstance(each.value, dict)]
        merged = {field: value for fields in well for field, value in fields.items()}
        return ended[-1] if not well else Outcome("", 0, task.id, "ok", merged)

    def _of_turns(self) -> list[tuple[tuple[str, str, str], list[Outcome]]]:
        found = [(key, each) for key, each in self._answers.items() if len(key) == 3]
        return sorted(((k[0], k[1], k[2]), each) for k, each in found if k[2].isdigit())

    def _decisions(self, task: Decide) -> Outcome | None:
        """Whatever was answered about the turn, in whichever round it was asked."""
        known = self._answers.get(key_of(task), [])
        well = [each.value for each in known if isinstance(each.value, dict)]
        if known and not well:
            return known[-1]
        merged = {q: value for given in well for q, value in given.items() if q in task.questions}
        return Outcome("", 0, task.id, "ok", merged) if known else None

    def _otherwise(self, task: Task, at: int) -> Outcome | None:
        """The recorded call has asked for nothing like it: its standing answers may know."""
        try:
            answer: Any = self._driver.answering.answer(task, Script())
        except FlowError:
            return None
        return None if answer is PENDING else outcome(task.id, at, answer)


def key_of(task: Task) -> Key:
    """What an effect is about: its id, but for the order in which things came."""
    match task:
        case RunTool(_, call):
            return "tool", call
        case AskConfirmation(_, call):
            return "confirmation", call
        case RunExtractor(_, name, turn):
            return "extractor", name, str(turn)
        case Decide(_, _, turn):
            return "decision", "", str(turn)
        case Resolve(_, name, args, field):
            return "resolver", field or name, _written(args)
        case RunFunction(_, name):
            return "function", name


def tasks_of(effects: tuple[Effect, ...]) -> Iterator[Task]:
    """Those effects that want an answer."""
    for effect in effects:
        if isinstance(
            effect, RunExtractor | Resolve | Decide | RunFunction | RunTool | AskConfirmation
        ):
            yield effect


def _is_models(input: Input) -> bool:
    """The model speaks, calls and ends its turn when it has the answers to its calls."""
    if isinstance(input, Said):
        return not input.interrupted
    return isinstance(input, Generated | ToolCalled | TurnEnded)


def _written(args: Mapping[str, Any]) -> str:
    return canonical_json(dict(args))
