"""Inputs to the kernel and scripted answers back, one operation at a time, without a loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flowengine.clock import ManualClock
from flowengine.effects import AnswerTool, Effect, Resolve, RunExtractor, RunFunction, RunTool
from flowengine.errors import FlowEngineError, FlowError, TurnFailed, did_you_mean
from flowengine.facts import Fact, InputFailed, lines
from flowengine.inputs import Input, Timer
from flowengine.kernel import Kernel, Step
from flowengine.runtime.outcome import ToolOutcome, outcome_of
from flowengine.runtime.result import TurnResult
from flowengine.testing.answers import (
    PENDING,
    Answer,
    Extract,
    Fields,
    Task,
    call,
    outcome,
    registered,
)


class Driver:
    """Carries one call forward and keeps what happened."""

    def __init__(
        self,
        kernel: Kernel,
        clock: ManualClock,
        first: Step,
        extractions: Mapping[str, Fields | Extract] | None,
        run_functions: bool,
    ) -> None:
        self.kernel, self.flow, self.clock = kernel, kernel.compiled.flow, clock
        self.snapshot = first.snapshot
        self.inputs: list[Input] = []
        self.facts: list[Fact] = []
        self.lines: list[str] = []
        self.outcomes: dict[str, ToolOutcome] = {}
        self._tool_answers: dict[str, Answer] = {}
        self._extractions = dict(extractions or {})
        self._run_functions = run_functions
        self._tasks: list[Task] = []
        self._check_names(self._extractions)
        self._begin()
        self._take(first)
        self._carry_out({})

    def do(self, inputs: Iterable[Input], script: Mapping[str, Fields] | None = None) -> TurnResult:
        """Send inputs and answer what they ask for; `script` must be used up.

        Raises:
            TurnFailed: an input failed; raised once everything else has been done.
        """
        left = dict(script or {})
        self._check_names(left)
        self._begin()
        for input in inputs:
            self._send(input)
        self._carry_out(left)
        if left:
            raise FlowError(self._unused(next(iter(left))))
        return self._end()

    def ask(self, inputs: Iterable[Input], call: str, answer: Answer) -> TurnResult:
        """Like `do`, for the call of a tool; `answer` (None: the tool's own) is for its run."""
        if answer is not None:
            self._tool_answers[call] = answer
        try:
            return self.do(inputs)
        finally:
            if call in self.outcomes:
                self._tool_answers.pop(call, None)

    def advance(self, milliseconds: int) -> TurnResult:
        """Move the clock; timers ring in order, each at its own instant."""
        until = self.clock.now() + milliseconds
        self._begin()
        while (timer := self.snapshot.wait.timer) is not None and timer[1] <= until:
            id, due_at = timer
            self.clock.advance(max(due_at - self.clock.now(), 0))
            self._send(Timer(f"timer-{id}", self.clock.now(), id))
            self._carry_out({})
        self.clock.advance(until - self.clock.now())
        return self._end()

    def answer(self, kinds: tuple[str, ...], name: str, answer: Answer) -> TurnResult:
        """Answer the oldest open run of these kinds and this name."""
        running = [(id, self._run_name(id)) for id, r in self._runs() if r.kind in kinds]
        effect = next((id for id, known in running if known == name), None)
        if effect is None:
            names = ", ".join(sorted(known for _, known in running)) or "nothing"
            raise FlowError(f"{name!r} is not running, so it cannot answer; running: {names}")
        return self.do([outcome(effect, self.clock.now(), answer)])

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
            raise TurnFailed(fact) from cause
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
            if isinstance(effect, AnswerTool):
                self.outcomes[effect.call] = outcome_of(effect.answer)
            elif isinstance(effect, RunExtractor | Resolve | RunFunction | RunTool):
                self._tasks.append(effect)
        if step.error is not None and self._failure is None:
            failed = next(f for f in reversed(step.facts) if isinstance(f, InputFailed))
            self._failure = (failed, step.error)

    # -- answers ------------------------------------------------------------------------------

    def _carry_out(self, script: dict[str, Fields]) -> None:
        """Answer what has been asked for, in the order in which it was; answers may ask more."""
        while self._tasks:
            task = self._tasks.pop(0)
            answer = self._answer(task, script)
            if answer is not PENDING:
                self._send(outcome(task.id, self.clock.now(), answer))

    def _answer(self, task: Task, script: dict[str, Fields]) -> Any:
        own = registered(self.kernel.compiled.functions, self.flow, task)
        match task:
            case RunTool(_, id, tool, _):
                return self._tool_answer(id, tool, own)
            case RunExtractor(_, name) if name in script:
                return script.pop(name)
            case RunExtractor(_, name, _, window, known) if name in self._extractions:
                always = self._extractions[name]
                return always(window, known) if callable(always) else always
            case _ if own is not None and self._run_functions:
                return call(own)
            case RunExtractor():
                return {}
            case _:
                return PENDING

    def _tool_answer(self, id: str, tool: str, own: Any) -> Answer:
        if id in self._tool_answers:
            return self._tool_answers.pop(id)
        canned = self.flow.tools[tool].respond
        if own is None and canned is None:
            raise FlowError(
                f"the call of tool {tool!r} was admitted, and there is neither a synchronous "
                "function nor `respond` to run: pass `result=` or `error=` (`result=PENDING` "
                "leaves it running)"
            )
        return call(own) if own is not None else canned

    def _runs(self) -> Iterable[tuple[str, Any]]:
        return list(self.snapshot.wait.runs.items())

    def _run_name(self, effect: str) -> str:
        """What an open run is called in the flow; a tool's run goes by its call id inside."""
        run = self.snapshot.wait.runs[effect]
        return self.snapshot.wait.calls[run.name].tool if run.kind == "tool" else run.name

    def _check_names(self, names: Iterable[str]) -> None:
        known = [spec.name for spec in self.flow.extract]
        for name in names:
            if name not in known:
                raise FlowError(f"the flow has no extractor {name!r}.{did_you_mean(name, known)}")

    def _unused(self, name: str) -> str:
        if any(run.kind == "extractor" and run.name == name for _, run in self._runs()):
            return f"extractor {name!r} is still running for an earlier turn: answer that run first"
        return f"extractor {name!r} did not run on this turn, so its answer was not used"
