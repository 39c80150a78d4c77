"""A conversation by hand: a Simulation whose steps are kept, so that they can become a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from flowengine.cli.answering import Answering
from flowengine.cli.fake import Fake, Spoken
from flowengine.clock import ManualClock
from flowengine.effects import Deliver, RunFunction, RunTool
from flowengine.errors import FlowError, TurnFailed
from flowengine.facts import Fact, KeyWritten, PhaseEntered
from flowengine.flow.functions import load_functions
from flowengine.flow.model import Flow
from flowengine.flow.uses import is_runtime
from flowengine.inputs import Json
from flowengine.runtime.outcome import Accepted, Denied, Failed, Ran, ToolOutcome
from flowengine.runtime.result import TurnResult
from flowengine.testing import PENDING, Failure, Simulation
from flowengine.testing.answers import Fields
from flowengine.testing.expect import Answered, Expect
from flowengine.testing.scenario import CallTool, Given, Resolve, Scenario, Step

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

    @property
    def delivered(self) -> tuple[Deliver, ...]:
        return tuple(each for result in self.results for each in result.delivered)


def written(facts: Iterable[Fact]) -> list[KeyWritten]:
    """The last change of each key, without keys that the runtime keeps for itself."""
    changes = [fact for fact in facts if isinstance(fact, KeyWritten) and not is_runtime(fact.key)]
    return list({fact.key: fact for fact in changes}.values())


class Talk:
    """One conversation; its clock stands still except for `advance`.

    Words that the flow says are spoken at once, as the model's: the caller answers them.
    """

    def __init__(
        self,
        path: Path,
        flow: Flow,
        state: Mapping[str, Json],
        phase: str | None,
        now: int,
        *,
        fake: Fake | None = None,
        models: bool = False,
    ) -> None:
        start = now // 1000 * 1000
        functions = load_functions(path if path.is_dir() else path.parent)
        clock = ManualClock(start)
        self.answering = answering = Answering(flow, functions, clock, fake, models)
        self.call = Simulation(
            flow,
            functions=functions,
            state=state,
            phase=phase,
            clock=clock,
            extractions=answering.extractions(),
            decisions=answering.decisions(),
            resolutions=answering.resolutions(),
            run_functions=True,
        )
        answering.bind(self.call)
        at = datetime.fromtimestamp(start / 1000, ZoneInfo(flow.timezone)).replace(tzinfo=None)
        self._given = Given(
            phase=phase, state=dict(state), at=at.isoformat(timespec="seconds"), run_functions=True
        )
        self._steps: list[Step] = []
        self.opening = self._followed("", self.call.latest)

    # -- what can happen ----------------------------------------------------------------------

    def turn(self, words: str) -> Happened:
        """The caller speaks."""
        self.answering.spoken = Spoken(words, self.answering.spoken.turn + 1)
        return self._do(Step(user=words), lambda: self.call.turn(words))

    def say(self, words: str) -> Happened:
        """The model speaks."""
        return self._do(Step(model=words), lambda: self.call.turn("", words))

    def interrupt(self, words: str) -> Happened:
        """The caller speaks over the model, of whose words these were heard."""
        return self._do(Step(interrupt=words), lambda: self.call.say(words, interrupted=True))

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

    def confirm(self, answer: bool | str) -> Happened:
        """Agree to the call that waits for it, or decline and say why."""
        return self._do(Step(confirm=answer), lambda: self.call.confirm(answer))

    def tool(self, name: str, args: Mapping[str, Json]) -> tuple[ToolOutcome | None, Happened]:
        """The model calls a tool; None while the gate or the tool takes its time."""
        id = f"call-{len(self._steps)}"
        result, agreed = self.answering.tool(name), self.answering.confirmation(name)
        error = result.error if isinstance(result, Failure) else None
        given = None if isinstance(result, Failure) else result

        def act() -> TurnResult:
            self.call.tool(name, args, result=given, error=error, confirm=agreed, call=id)
            return self.call.latest

        called = CallTool(
            name=name,
            args=dict(args),
            result=None if given is PENDING else given,
            error=error,
            pending=given is PENDING,
            confirm=agreed,
        )
        happened = self._do(Step(tool=called), act, call=id)
        return self.call.outcomes.get(id), happened

    def scenario(self, name: str) -> Scenario:
        """Everything so far, with what it led to as what is expected.

        Raises:
            FlowError: nothing has happened yet.
        """
        if not self._steps:
            raise FlowError("there is nothing to save yet: say something first")
        given = self._given.model_copy(update={"resolve": dict(self.answering.resolved)})
        return Scenario(name=name, given=given, turns=tuple(self._steps))

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
        return self._followed(before, result)

    def _followed(self, before: str, result: TurnResult) -> Happened:
        """What the flow says is spoken, and its async functions that were asked for are run."""
        results = [result]
        for effect in result.effects:
            if self.answering.runs(effect) and effect.id in self.call.snapshot.wait.runs:
                results += self._run(effect).results
        for words in result.said:
            results += self._do(Step(model=words), lambda w=words: self.call.turn("", w)).results
        return Happened(before, tuple(results))

    def _run(self, effect: RunTool | RunFunction) -> Happened:
        is_tool = isinstance(effect, RunTool)
        name = effect.tool if is_tool else self.call.snapshot.wait.runs[effect.id].name
        answer = self.answering.run(effect)
        error = answer.error if isinstance(answer, Failure) else None
        value = None if isinstance(answer, Failure) else answer
        step = Step(resolve=Resolve(name=name, value=value, error=error))
        return self._do(step, lambda: self.call.resolve(name, value, error=error))

    def _keep(self, step: Step, expect: Expect | None) -> None:
        """The step with what was answered in it; answers to questions are about a caller turn."""
        found, decided = self.answering.taken()
        if step.user is not None or step.model is not None or step.tool is not None:
            extract = {name: _scripted(fields) for name, fields in found.items() if fields}
            step = step.model_copy(update={"extract": extract})
        self._steps.append(step.model_copy(update={"expect": expect}))
        asked = [at for at, kept in enumerate(self._steps) if kept.user is not None]
        if decided and asked:
            turn = self._steps[asked[-1]]
            known: Any = turn.decide
            self._steps[asked[-1]] = turn.model_copy(update={"decide": {**known, **decided}})

    def _seen(self, result: TurnResult) -> Expect:
        values = result.snapshot.values
        changed = [fact.key for fact in written(result.facts)]
        return Expect(
            phase=result.phase,
            keys={key: values[key] for key in changed if key in values},
            absent=tuple(key for key in changed if key not in values),
            ended=True if result.ended else None,
        )


def _scripted(fields: Fields) -> Any:
    return fields.status if isinstance(fields, Failure) else fields


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
        case Accepted():
            return "accepted"
        case _:
            return "cancelled"
