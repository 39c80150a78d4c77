"""A conversation by hand: a Simulation whose steps are kept, so that they can become a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias
from zoneinfo import ZoneInfo

from flowengine.clock import ManualClock
from flowengine.errors import FlowError, TurnFailed
from flowengine.facts import Fact, KeyWritten, PhaseEntered
from flowengine.flow.functions import load_functions
from flowengine.flow.model import Flow
from flowengine.flow.uses import is_runtime
from flowengine.inputs import Json
from flowengine.runtime.outcome import Denied, Failed, Ran, ToolOutcome
from flowengine.runtime.result import TurnResult
from flowengine.testing import Simulation
from flowengine.testing.scenario import Answered, CallTool, Expect, Given, Resolve, Scenario, Step

Act: TypeAlias = Callable[[], TurnResult]


@dataclass(frozen=True, slots=True)
class Happened:
    """What one thing led to, with what the flow said and what followed from its words."""

    before: str
    """The phase in which it happened."""
    results: tuple[TurnResult, ...]

    @property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(fact for result in self.results for fact in result.facts)

    @property
    def path(self) -> tuple[str, ...]:
        """The phases it led through, from where it began."""
        entered = (fact.phase for fact in self.facts if isinstance(fact, PhaseEntered))
        return tuple(phase for phase in (self.before, *entered) if phase)

    @property
    def said(self) -> tuple[str, ...]:
        return tuple(words for result in self.results for words in result.said)

    @property
    def told(self) -> tuple[str, ...]:
        return tuple(tell.text for result in self.results for tell in result.told)


def written(facts: Iterable[Fact]) -> list[KeyWritten]:
    """The last change of each key, without keys that the runtime keeps for itself."""
    changes = [fact for fact in facts if isinstance(fact, KeyWritten) and not is_runtime(fact.key)]
    return list({fact.key: fact for fact in changes}.values())


class Talk:
    """One conversation; its clock stands still except for `advance`.

    Words that the flow says are spoken at once, as the model's: the caller answers them.
    """

    def __init__(
        self, path: Path, flow: Flow, state: Mapping[str, Json], phase: str | None, now: int
    ) -> None:
        start = now // 1000 * 1000
        self.call = Simulation(
            flow,
            functions=load_functions(path if path.is_dir() else path.parent),
            state=state,
            phase=phase,
            clock=ManualClock(start),
            run_functions=True,
        )
        at = datetime.fromtimestamp(start / 1000, ZoneInfo(flow.timezone)).replace(tzinfo=None)
        self._given = Given(
            phase=phase, state=dict(state), at=at.isoformat(timespec="seconds"), run_functions=True
        )
        self._steps: list[Step] = []
        first = self.call.latest
        self.opening = Happened("", (first, *self._spoken(first)))

    # -- what can happen ----------------------------------------------------------------------

    def turn(self, words: str) -> Happened:
        """The caller speaks."""
        return self._do(Step(user=words), lambda: self.call.turn(words))

    def say(self, words: str) -> Happened:
        """The model speaks."""
        return self._do(Step(model=words), lambda: self.call.turn("", words))

    def set(self, key: str, value: Json) -> Happened:
        return self._do(Step(set={key: value}), lambda: self.call.set(key, value))

    def event(self, name: str) -> Happened:
        return self._do(Step(event=name), lambda: self.call.event(name))

    def advance(self, span: str) -> Happened:
        return self._do(Step(advance=span), lambda: self.call.advance(span))

    def resolve(self, name: str, value: Json) -> Happened:
        """Answer a resolver or a function that is still running."""
        step = Step(resolve=Resolve(name=name, value=value))
        return self._do(step, lambda: self.call.resolve(name, value))

    def tool(self, name: str, args: Mapping[str, Json]) -> tuple[ToolOutcome | None, Happened]:
        """The model calls a tool; None while the gate or the tool takes its time."""
        id = f"call-{len(self._steps)}"

        def act() -> TurnResult:
            self.call.tool(name, args, call=id)
            return self.call.latest

        happened = self._do(Step(tool=CallTool(name=name, args=dict(args))), act, call=id)
        return self.call.outcomes.get(id), happened

    def scenario(self, name: str) -> Scenario:
        """Everything so far, with what it led to as what is expected.

        Raises:
            FlowError: nothing has happened yet.
        """
        if not self._steps:
            raise FlowError("there is nothing to save yet: say something first")
        return Scenario(name=name, given=self._given, turns=tuple(self._steps))

    # -- keeping it ---------------------------------------------------------------------------

    def _do(self, step: Step, act: Act, *, call: str | None = None) -> Happened:
        before = self.call.phase
        try:
            result = act()
        except TurnFailed as error:
            self._keep(step, Expect(failed=error.fact.code))
            raise
        if step.tool is not None and call is not None:
            tool = step.tool.model_copy(update={"expect": _ending(self.call.outcomes.get(call))})
            step = step.model_copy(update={"tool": tool})
        self._keep(step, self._seen(result))
        return Happened(before, (result, *self._spoken(result)))

    def _keep(self, step: Step, expect: Expect | None) -> None:
        self._steps.append(step.model_copy(update={"expect": expect}))

    def _spoken(self, result: TurnResult) -> Sequence[TurnResult]:
        """Speak what the flow says, and what it says to that."""
        followed: list[TurnResult] = []
        words = list(result.said)
        while words:
            text = words.pop(0)
            after = self.call.turn("", text)
            self._keep(Step(model=text), self._seen(after))
            followed.append(after)
            words += after.said
        return followed

    def _seen(self, result: TurnResult) -> Expect:
        values = result.snapshot.values
        changed = [fact.key for fact in written(result.facts)]
        return Expect(
            phase=result.phase,
            keys={key: values[key] for key in changed if key in values},
            absent=tuple(key for key in changed if key not in values),
            ended=True if result.ended else None,
        )


def _ending(outcome: ToolOutcome | None) -> str | Answered:
    match outcome:
        case None:
            return "waits"
        case Ran():
            return "ran"
        case Denied(kind):
            return Answered(denied=kind)
        case Failed():
            return "failed"
        case _:
            return "cancelled"
