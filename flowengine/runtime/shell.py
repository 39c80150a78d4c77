"""The shell of a call: inputs go to the kernel, effects run as tasks, their outcomes come back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from flowengine.clock import Clock
from flowengine.effects import AnswerTool, Cancel, Deliver, Effect, Say, SetTimer, Tell
from flowengine.errors import FlowEngineError, NotRecorded, SessionClosed, TurnFailed
from flowengine.facts import Fact, InputFailed, KeyWritten, SessionEnded
from flowengine.inputs import Input, Outcome, Timer
from flowengine.kernel import Kernel, Snapshot, Step
from flowengine.runtime.effects import Answer, Runnable, Runner
from flowengine.runtime.hooks import Hooks
from flowengine.runtime.outcome import Failed, ToolOutcome, outcome_of
from flowengine.state.state import State
from flowengine.state.view import StateView

Recorder: TypeAlias = Callable[[Input | None, Step], None]
"""Sees every step with the input that led to it, None for the start, before anything comes of it.

If it raises, the step has not happened: the session stops and can be resumed from what was kept."""

_log = logging.getLogger("flowengine")

UNREAD = 1024
"""Facts that are kept for the next result; a call that nobody reads does not grow."""


class Shell:
    """What runs for a call, and what has happened that nobody has read yet."""

    __slots__ = (
        "_answers", "_changed", "_clock", "_closed", "_heard", "_hooks", "_inputs", "_kernel",
        "_record", "_rested", "_runner", "_said", "_snapshot", "_tasks", "_timer", "_verify",
    )  # fmt: skip

    def __init__(
        self,
        kernel: Kernel,
        runner: Runner,
        clock: Clock,
        hooks: Hooks | None,
        record: Recorder | None,
        verify: bool,
    ) -> None:
        self._kernel, self._runner, self._clock = kernel, runner, clock
        self._hooks, self._record, self._verify = hooks, record, verify
        self._snapshot: Snapshot
        self._tasks: dict[str, asyncio.Task[Answer]] | None = None
        self._answers: dict[str, asyncio.Future[ToolOutcome]] | None = None
        self._rested: asyncio.Event | None = None
        self._changed: asyncio.Event | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._said: list[Effect] = []
        self._heard: list[Fact] = []
        self._inputs = 0
        self._closed: SessionClosed | None = None

    @property
    def state(self) -> StateView:
        """The call's keys, with their real values."""
        snapshot = self._snapshot
        return StateView(State.over(snapshot.values, snapshot.evidence, self._kernel.compiled.keys))

    def send(self, input: Input) -> Step:
        """Hand one input to the kernel and start what it asks for.

        Raises:
            SessionClosed, NotRecorded, TurnFailed
        """
        if self._closed is not None:
            raise self._closed
        step = self._kernel.step(self._snapshot, input)
        if self._verify and self._kernel.step(self._snapshot, input)[:3] != step[:3]:
            raise FlowEngineError(
                "a registered function is not pure: the same input gave two results"
            )
        self._commit(input, step)
        if step.error is not None:
            failed = next(f for f in reversed(step.facts) if isinstance(f, InputFailed))
            raise TurnFailed(failed, step.error) from step.error
        return step

    def _go_on(self, snapshot: Snapshot) -> None:
        """Take up a call where it was left: what was open is asked for again."""
        self._snapshot, self._inputs = snapshot, snapshot.seq
        for effect in self._kernel.reopen(snapshot):
            self._carry_out(effect)

    def _is_at_rest(self) -> bool:
        wait = self._snapshot.wait
        return wait.barrier is None and not any(run.waits for run in wait.runs.values())

    def _commit(self, input: Input | None, step: Step) -> None:
        if self._record is not None:
            self._keep(self._record, input, step)
        self._snapshot = step.snapshot
        self._heard.extend(step.facts)
        del self._heard[:-UNREAD]
        for effect in step.effects:
            self._carry_out(effect)
        if self._changed is not None:
            self._changed.set()
        if self._rested is not None and self._is_at_rest():
            self._rested.set()
        self._publish(step.facts)

    def _keep(self, record: Recorder, input: Input | None, step: Step) -> None:
        """Nothing happens that is not recorded: a call resumed from its records is this one.

        Raises:
            NotRecorded
        """
        try:
            record(input, step)
        except Exception as error:
            told = type(error).__name__
            _log.error("the recorder raised %s; the session has stopped", told)
            why = NotRecorded(
                f"the session has stopped, for its recorder raised {told}: mend that, and resume "
                "the call from the last snapshot that was recorded"
            )
            self._stop(why, Failed(why.code))
            self._publish((SessionEnded(why.code),))
            raise why from error

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Say() | Tell() | Deliver():
                self._said.append(effect)
                del self._said[:-UNREAD]
            case SetTimer(id, due_at):
                self._set_timer(id, due_at)
            case AnswerTool(_, call, _, answer):
                waiting = (self._answers or {}).get(call)
                if waiting is not None and not waiting.done():
                    waiting.set_result(outcome_of(answer))
            case Cancel(_, other):
                if task := (self._tasks or {}).get(other):
                    task.cancel()
            case _:
                self._start(effect)

    def _start(self, effect: Runnable) -> None:
        """A task whose end, however it comes, is an outcome; even one cancelled before it began."""
        tasks = self._tasks = self._tasks or {}
        task = asyncio.get_running_loop().create_task(self._runner.run(effect, self.state))
        tasks[effect.id] = task
        task.add_done_callback(lambda task: self._ended(effect.id, task))

    def _ended(self, effect: str, task: asyncio.Task[Answer]) -> None:
        if self._tasks is not None:
            self._tasks.pop(effect, None)
        if self._closed is not None:
            return
        status, value, error = ("cancelled", None, "cancelled")
        if not task.cancelled():
            raised = task.exception()
            status, value, error = (
                ("failed", None, type(raised).__name__) if raised is not None else task.result()
            )
        now = self._clock.now()
        run = self._snapshot.wait.runs.get(effect)
        self._send_quietly(Outcome(f"outcome-{effect}", now, effect, status, value, error))
        if self._hooks is not None and run is not None and run.kind == "extractor":
            self._hooks.extracted(run.name, status, value, error)

    def _send_quietly(self, input: Input) -> None:
        """An input that nobody waits for: if it fails, its fact tells; if it is not recorded, the
        end of the session does."""
        with suppress(TurnFailed, NotRecorded):
            self.send(input)

    def _set_timer(self, id: str, due_at: int | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due_at is None:
            return
        loop = asyncio.get_running_loop()
        delay = max(due_at - self._clock.now(), 0) / 1000
        self._timer = loop.call_later(delay, self._ring, id, due_at)

    def _ring(self, id: str, due_at: int) -> None:
        self._timer = None
        if self._closed is None:
            self._send_quietly(Timer(f"timer-{id}", max(self._clock.now(), due_at), id))

    def _publish(self, facts: tuple[Fact, ...]) -> None:
        signals = self._kernel.compiled.signals
        if not signals:
            return
        for fact in facts:
            self._tell(type(fact).__name__, fact)
            if isinstance(fact, KeyWritten):
                self._tell(fact.key, fact)

    def _tell(self, name: str, fact: Fact) -> None:
        """A receiver that raises is reported; the call is not its own."""
        try:
            self._kernel.compiled.signals.publish(name, self, fact=fact)
        except Exception as error:  # noqa: BLE001 - a receiver's fault is not the call's
            _log.error("a receiver of %s raised %s", name, type(error).__name__)

    def _id(self) -> str:
        self._inputs += 1
        return str(self._inputs)

    def _stop(self, why: SessionClosed, answer: ToolOutcome) -> None:
        """Take no more input: whoever waits gets an answer, and what runs is cancelled."""
        self._closed = why
        if self._changed is not None:
            self._changed.set()
        if self._timer is not None:
            self._timer.cancel()
        if self._rested is not None:
            self._rested.set()
        for waiting in (self._answers or {}).values():
            if not waiting.done():
                waiting.set_result(answer)
        for task in self._others():
            task.cancel()

    def _others(self) -> list[asyncio.Task[Answer]]:
        """What still runs; a tool that hangs up must not wait for itself."""
        tasks = (self._tasks or {}).values()
        own = asyncio.current_task() if tasks else None
        return [task for task in tasks if task is not own]
