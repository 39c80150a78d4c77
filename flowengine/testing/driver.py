"""Inputs to the kernel and scripted answers back, one operation at a time, without a loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flowengine.clock import ManualClock
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
from flowengine.errors import FlowEngineError, FlowError, TurnFailed, did_you_mean
from flowengine.facts import Fact, InputFailed, lines
from flowengine.inputs import Heard, Input, Timer
from flowengine.kernel import Kernel, Step
from flowengine.kernel.snapshot import Run
from flowengine.runtime.outcome import ToolOutcome, outcome_of
from flowengine.runtime.result import TurnResult
from flowengine.testing.answering import Answering, Script, Standing
from flowengine.testing.answers import PENDING, Answer, Failure, Task, outcome

CANCELLED = Failure("cancelled", "cancelled")


class Driver:
    """Carries one call forward and keeps what happened."""

    def __init__(self, kernel: Kernel, clock: ManualClock, first: Step, standing: Standing) -> None:
        self.kernel, self.flow, self.clock = kernel, kernel.compiled.flow, clock
        self.first, self.snapshot = first, first.snapshot
        self.inputs: list[Input] = []
        self.facts: list[Fact] = []
        self.lines: list[str] = []
        self.outcomes: dict[str, ToolOutcome] = {}
        self.answering = Answering(kernel.compiled, standing)
        self.asked: dict[str, Task] = {}
        """Every effect that wanted an answer, by its id."""
        self._tasks: list[Task] = []
        self._unwanted: list[str] = []
        self._begin()
        self._take(first)
        self._carry_out(Script())

    def do(self, inputs: Iterable[Input], script: Script | None = None) -> TurnResult:
        """Send inputs and answer what they ask for; extractions that are scripted must be used.

        Raises:
            TurnFailed: an input failed; raised once everything else has been done.
        """
        script, inputs = script or Script(), list(inputs)
        heard = any(isinstance(input, Heard) for input in inputs)
        new_turn = heard and not self.snapshot.transcript.current.user
        self.answering.begin(script, new_turn=new_turn)
        self._begin()
        for input in inputs:
            self._send(input)
        self._carry_out(script)
        self._check_used(script)
        return self._end()

    def advance(self, milliseconds: int) -> TurnResult:
        """Move the clock; timers ring in order, each at its own instant."""
        until = self.clock.now() + milliseconds
        self._begin()
        while (timer := self.snapshot.wait.timer) is not None and timer[1] <= until:
            id, due_at = timer
            self.clock.advance(max(due_at - self.clock.now(), 0))
            self._send(Timer(f"timer-{id}", self.clock.now(), id))
            self._carry_out(Script())
        self.clock.advance(until - self.clock.now())
        return self._end()

    def answer(self, kinds: tuple[str, ...], name: str | None, answer: Answer) -> TurnResult:
        """Answer the oldest open run of these kinds, and of this name unless it is None."""
        running = [(id, self._names(id)) for id, run in self._runs() if run.kind in kinds]
        effect = next((id for id, names in running if name is None or name in names), None)
        if effect is None:
            open_runs = sorted(names[0] for _, names in running)
            wanted = f"{name!r} is not running" if name else f"no {kinds[0]} is open"
            raise FlowError(
                f"{wanted}, so it cannot answer; running: {', '.join(open_runs) or 'nothing'}"
                + (f".{guess}" if name and (guess := did_you_mean(name, open_runs)) else "")
            )
        return self.do([outcome(effect, self.clock.now(), answer)])

    def is_open(self, kind: str) -> bool:
        """Whether some run of this kind waits for its answer."""
        return any(run.kind == kind for _, run in self._runs())

    @property
    def running(self) -> tuple[str, ...]:
        """The open runs by name, in the order in which they were asked for."""
        return tuple(self._names(id)[0] for id, _ in self._runs())

    @property
    def latest(self) -> TurnResult:
        """What the last operation led to."""
        facts, effects = tuple(self._new_facts), tuple(self._new_effects)
        return TurnResult(self.kernel, self.snapshot, facts, effects)

    # -- one operation ------------------------------------------------------------------------

    def _begin(self) -> None:
        self._new_facts: list[Fact] = []
        self._new_effects: list[Effect] = []
        self._failure: tuple[InputFailed, FlowEngineError] | None = None

    def _end(self) -> TurnResult:
        if self._failure is not None:
            fact, cause = self._failure
            raise TurnFailed(fact, cause) from cause
        return self.latest

    def _send(self, input: Input) -> None:
        self.inputs.append(input)
        self._take(self.kernel.step(self.snapshot, input))

    def _take(self, step: Step) -> None:
        self.snapshot = step.snapshot
        self.facts.extend(step.facts)
        self.lines.extend(lines(step.snapshot.seq, step.facts))
        self._new_facts.extend(step.facts)
        self._new_effects.extend(step.effects)
        for effect in step.effects:
            self._note(effect)
        if step.error is not None and self._failure is None:
            failed = next(f for f in reversed(step.facts) if isinstance(f, InputFailed))
            self._failure = (failed, step.error)

    def _note(self, effect: Effect) -> None:
        match effect:
            case AnswerTool(_, call, _, answer):
                self.outcomes[call] = outcome_of(answer)
            case Cancel(_, other):
                self._unwanted.append(other)
            case (RunExtractor() | Resolve() | Decide() | RunFunction() | RunTool()
                  | AskConfirmation()):  # fmt: skip
                self.asked[effect.id] = effect
                self._tasks.append(effect)
            case _:
                pass

    def _carry_out(self, script: Script) -> None:
        """Answer what has been asked for, in the order in which it was; answers may ask more."""
        while self._tasks or self._unwanted:
            if self._unwanted:
                self._stop(self._unwanted.pop(0))
                continue
            task = self._tasks.pop(0)
            answer = self.answering.answer(task, script)
            if answer is not PENDING:
                self._send(outcome(task.id, self.clock.now(), answer))

    def _stop(self, effect: str) -> None:
        """What is no longer wanted ends as cancelled, as a task of a live session does."""
        self._tasks = [task for task in self._tasks if task.id != effect]
        self._send(outcome(effect, self.clock.now(), CANCELLED))

    # -- names --------------------------------------------------------------------------------

    def _runs(self) -> list[tuple[str, Run]]:
        return list(self.snapshot.wait.runs.items())

    def _names(self, effect: str) -> tuple[str, ...]:
        """What an open run is called in the flow, first by its own name.

        A tool's run goes by its call id inside, a record's field also by its resolver.
        """
        run = self.snapshot.wait.runs[effect]
        match run.kind:
            case "tool" | "confirmation":
                return (self.snapshot.wait.calls[run.name].tool,)
            case "compensation":
                return (str(run.args["tool"]),)
            case "field":
                record, _, field = run.name.partition(".")
                return run.name, self.flow.records[record].fields[field].resolve or ""
            case _:
                return (run.name,)

    def _check_used(self, script: Script) -> None:
        """Raises FlowError for an answer that nobody has asked for: its test would be idle."""
        for name in script.extract:
            if any(run.kind == "extractor" and run.name == name for _, run in self._runs()):
                why = "is still running for an earlier turn: answer that run first"
            else:
                why = "did not run on this turn, so its answer was not used"
            raise FlowError(f"extractor {name!r} {why}")
        if not isinstance(script.decide, Mapping):
            raise FlowError("no question was asked in this step, so the answer was not used")
