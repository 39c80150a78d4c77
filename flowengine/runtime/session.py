"""One live call: inputs go to the kernel, effects run as tasks, their outcomes come back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from flowengine.clock import Clock, SystemClock
from flowengine.effects import AnswerTool, Cancel, Deliver, Effect, Say, SetTimer, Tell
from flowengine.errors import FlowEngineError, NotRecorded, SessionClosed, TurnFailed
from flowengine.facts import Fact, InputFailed, KeyWritten, SessionEnded
from flowengine.flow.functions import Functions
from flowengine.flow.model import Flow
from flowengine.inputs import (
    Admin,
    Generated,
    Heard,
    Input,
    Json,
    Outcome,
    Said,
    Timer,
    ToolCalled,
    TurnEnded,
)
from flowengine.kernel import Context, Explanation, Kernel, Snapshot, Step
from flowengine.runtime.beginning import refuse_misspelt
from flowengine.runtime.effects import Answer, Runnable, Runner
from flowengine.runtime.hooks import Hooks
from flowengine.runtime.outcome import Cancelled, Failed, ToolOutcome, outcome_of
from flowengine.runtime.result import TurnResult
from flowengine.runtime.services import Extractors, Services, check, given, with_extractors
from flowengine.state.state import State
from flowengine.state.view import StateView
from flowengine.tools.confirm import Confirm
from flowengine.transcript import Turn

if TYPE_CHECKING:
    from flowengine.decide import Decider
    from flowengine.extract.models import Providers
    from flowengine.llm import ChatProvider

Recorder: TypeAlias = Callable[[Input | None, Step], None]
"""Sees every step with the input that led to it, None for the start, before anything comes of it.

If it raises, the step has not happened: the session stops and can be resumed from what was kept."""

_log = logging.getLogger("flowengine")

GRACE = 1.0
"""Seconds that a closing session gives its tasks to end."""
UNREAD = 1024
"""Facts that are kept for the next result; a call that nobody reads does not grow."""


class Session:
    """A conversation on a flow.

    ```python
    async with Session(Flow.load("flows/table_booking")) as call:
        turn = await call.turn("a table for four tomorrow at seven")
        print(turn.phase, turn.context.instruction)
    ```

    An idle session owns no task. `extractors` answer the flow's `extract` entries by name, or join
    the flow; entries without one run on a model of `llm`. `confirm` is asked before tools that
    want a confirmation. `services` holds these and more, to be shared by many sessions.
    """

    __slots__ = (
        "_answers",
        "_changed",
        "_clock",
        "_closed",
        "_heard",
        "_hooks",
        "_inputs",
        "_kernel",
        "_record",
        "_rested",
        "_runner",
        "_said",
        "_snapshot",
        "_tasks",
        "_timer",
        "_verify",
    )  # fmt: skip

    def __init__(
        self,
        flow: Flow,
        *,
        functions: Functions | None = None,
        state: Mapping[str, Any] | None = None,
        llm: Providers | ChatProvider | Mapping[str, ChatProvider] | None = None,
        extractors: Extractors | None = None,
        decider: Decider | None = None,
        confirm: Confirm | None = None,
        services: Services | None = None,
        hooks: Hooks | None = None,
        clock: Clock | None = None,
        resume: Snapshot | None = None,
        record: Recorder | None = None,
        verify: bool = False,
    ) -> None:
        services = given(services, llm=llm, extractors=extractors, decider=decider, confirm=confirm)
        self._kernel = Kernel(with_extractors(flow, services), functions)
        check(services, self._kernel.compiled.flow, self._kernel.compiled.functions)
        self._clock: Clock = clock or SystemClock()
        self._runner = Runner(self._kernel.compiled, services, self._clock)
        self._hooks = hooks
        self._record, self._verify = record, verify
        self._tasks: dict[str, asyncio.Task[Answer]] | None = None
        self._answers: dict[str, asyncio.Future[ToolOutcome]] | None = None
        self._rested: asyncio.Event | None = None
        self._changed: asyncio.Event | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._said: list[Effect] = []
        self._heard: list[Fact] = []
        self._inputs = 0
        self._closed: SessionClosed | None = None
        if resume is not None:
            self._snapshot = resume
            self._inputs = resume.seq
            for effect in self._kernel.reopen(resume):
                self._carry_out(effect)
        else:
            refuse_misspelt(flow, state or ())
            step = self._kernel.start(self._clock.now(), state)
            self._commit(None, step)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    # -- what goes in -------------------------------------------------------------------------

    async def turn(
        self,
        user: str = "",
        model: str = "",
        *,
        alternatives: tuple[str, ...] = (),
        values: Mapping[str, Json] | None = None,
    ) -> TurnResult:
        """One whole turn: what was heard, what was said, and everything that followed.

        Raises:
            TurnFailed: its consequences were rolled back; the words are kept, the call goes on.
        """
        if user:
            self.send(Heard(self._id(), self._clock.now(), user, alternatives))
        try:
            if model:
                self.send(Said(self._id(), self._clock.now(), model))
        finally:
            # Whatever its words led to, the turn is over.
            self.send(TurnEnded(self._id(), self._clock.now(), values or {}))
        if user and not self._is_at_rest():
            self._read_ahead_soon()
        await self.rest()
        return self.latest()

    async def heard(self, words: str, *, alternatives: tuple[str, ...] = ()) -> None:
        """What the caller has said, as soon as it is known: the tools that the model calls before
        the turn ends are judged by it too. `turn()` ends the turn."""
        self.send(Heard(self._id(), self._clock.now(), words, alternatives))
        self._read_ahead_soon()

    async def tool(
        self, name: str, args: Mapping[str, Json] | None = None, *, call: str | None = None
    ) -> ToolOutcome:
        """Ask for a tool as the model would; `call` is the model's id of the call."""
        id = self._id()
        call = call or f"call-{id}"
        answers = self._answers = self._answers or {}
        if call not in answers:
            answers[call] = asyncio.get_running_loop().create_future()
        answer = answers[call]
        try:
            with suppress(TurnFailed):  # its fact tells; the call has its answer
                self.send(ToolCalled(id, self._clock.now(), call, name, args or {}))
            # Whoever asks twice with one id waits for one answer.
            return await asyncio.shield(answer)
        finally:
            if answer.done():
                answers.pop(call, None)
            else:
                answer.add_done_callback(lambda _: answers.pop(call, None))

    async def said(self, words: str, *, interrupted: bool = False) -> None:
        """Model words outside a turn, such as a greeting or what follows a tool's answer."""
        self.send(Said(self._id(), self._clock.now(), words, interrupted))

    async def generated(self, words: str = "") -> None:
        """The model's words are complete; `words` are those that the caller is still to hear.

        Extractors of `on_generation_complete` run now. What is then heard is told by `said`.
        """
        self.send(Generated(self._id(), self._clock.now(), words))

    async def set(self, key: str, value: Json, *, by: str = "admin") -> TurnResult:
        """Write a key from outside the conversation, and let the flow react."""
        self.send(Admin(self._id(), self._clock.now(), {key: value}, by=by))
        return self.latest()

    async def event(self, name: str) -> TurnResult:
        """Offer an event."""
        self.send(Admin(self._id(), self._clock.now(), event=name))
        return self.latest()

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

    async def rest(self) -> None:
        """Wait until the turn's values have landed, and what else the turn's answer waits for."""
        while not self._is_at_rest():
            if self._closed is not None:
                raise self._closed
            self._rested = self._rested or asyncio.Event()
            self._rested.clear()
            await self._rested.wait()
        if self._hooks is not None:
            await self._hooks.rest()

    def _is_at_rest(self) -> bool:
        wait = self._snapshot.wait
        return wait.barrier is None and not any(run.waits for run in wait.runs.values())

    async def changes(self) -> AsyncIterator[TurnResult]:
        """Everything that happens between turns, as it happens: a timer, a result, a late value.

        What a turn's own result told is not told again.
        """
        while self._closed is None:
            self._changed = self._changed or asyncio.Event()
            await self._changed.wait()
            self._changed.clear()
            if self._heard or self._said:
                yield self.latest()

    def latest(self) -> TurnResult:
        """Everything since the last result: after the start, its opening words and facts."""
        facts, self._heard = tuple(self._heard), []
        said, self._said = tuple(self._said), []
        return TurnResult(self._kernel, self._snapshot, facts, said)

    async def close(self) -> None:
        """Answer waiting calls as cancelled, cancel what runs, take no more input."""
        if ends := self._closed is None:
            self._stop(SessionClosed("the session is closed; start another one"), Cancelled())
        if tasks := self._others():
            # A task that will not be cancelled does not keep the call open.
            await asyncio.wait(tasks, timeout=GRACE)
        if self._hooks is not None:
            await self._hooks.close()
        if ends:
            self._publish((SessionEnded("closed"),))

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

    # -- what can be seen ---------------------------------------------------------------------

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    @property
    def state(self) -> StateView:
        """The call's keys, with their real values."""
        snapshot = self._snapshot
        return StateView(State.over(snapshot.values, snapshot.evidence, self._kernel.compiled.keys))

    @property
    def phase(self) -> str:
        """The present phase of the main region."""
        return self._kernel.compiled.chart.main_leaf(self._snapshot.place.active)

    @property
    def phases(self) -> tuple[str, ...]:
        """Every active phase in document order."""
        return self._snapshot.place.active

    @property
    def ended(self) -> bool:
        return self._snapshot.place.ended

    @property
    def context(self) -> Context:
        return self._kernel.context(self._snapshot)

    def transcript(self) -> tuple[Turn, ...]:
        """What was said, with the values of `pii` keys masked: for logs, screens, a colleague."""
        from flowengine.runtime.redaction import redacted  # it brings all recognizers with it

        return redacted(self._kernel.compiled, self._snapshot)

    def explain(self) -> Explanation:
        return self._kernel.explain(self._snapshot)

    # -- effects ------------------------------------------------------------------------------

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

    def _read_ahead_soon(self) -> None:
        """While the model speaks or thinks, and after the requests that have just been made."""
        asyncio.get_running_loop().call_soon(self._read_ahead)

    def _read_ahead(self) -> None:
        if not self._closed:
            self._kernel.read_ahead(self._snapshot)

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
