"""One live call, as those see it who hear the caller and let a model speak."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from flowengine.clock import Clock, SystemClock
from flowengine.errors import FlowError, SessionClosed, TurnFailed, WrongTypeError, did_you_mean
from flowengine.facts import SessionEnded
from flowengine.flow.functions import Functions
from flowengine.flow.model import Flow
from flowengine.inputs import (
    Admin,
    Generated,
    Heard,
    Input,
    Json,
    Said,
    ToolCalled,
    TurnEnded,
)
from flowengine.kernel import Context, Explanation, Kernel, Snapshot
from flowengine.runtime.beginning import refuse_misspelt
from flowengine.runtime.effects import Runner
from flowengine.runtime.hooks import Hooks
from flowengine.runtime.outcome import Cancelled, Denied, ToolOutcome
from flowengine.runtime.result import TurnResult
from flowengine.runtime.services import Extractors, Services, check, given, with_extractors
from flowengine.runtime.shell import Recorder, Shell
from flowengine.state.keys import json_value
from flowengine.tools.confirm import Confirm
from flowengine.transcript import Turn

if TYPE_CHECKING:
    from flowengine.decide import Decider
    from flowengine.extract.models import Providers
    from flowengine.llm import ChatProvider

T = TypeVar("T")
GRACE = 1.0
"""Seconds that a closing session gives its tasks to end."""


class Session(Shell):
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

    __slots__ = ()

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
        kernel = Kernel(with_extractors(flow, services), functions)
        check(services, kernel.compiled.flow, kernel.compiled.functions, hooks)
        clock = clock or SystemClock()
        runner = Runner(kernel.compiled, services, clock)
        super().__init__(kernel, runner, clock, hooks, record, verify)
        if resume is not None:
            self._go_on(resume)
        else:
            refuse_misspelt(flow, state or ())
            self._commit(None, kernel.start(clock.now(), state))

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
        now, told = self._clock.now(), list[Input]()
        if user:
            told.append(Heard(self._id(), now, user, alternatives))
        if model:
            told.append(Said(self._id(), now, model))
        told.append(TurnEnded(self._id(), now, values or {}))
        self._send_all(told)
        if user and not self._is_at_rest():
            self._read_ahead_soon()
        await self.rest()
        return self.latest()

    async def heard(self, words: str, *, alternatives: tuple[str, ...] = ()) -> None:
        """What the caller has said, as soon as it is known: the tools that the model calls before
        the turn ends are judged by it too. `turn()` ends the turn."""
        self.send(Heard(self._id(), self._clock.now(), words, alternatives))
        self._read_ahead_soon()

    def _read_ahead_soon(self) -> None:
        """While the model speaks or thinks, and after the requests that have just been made."""
        asyncio.get_running_loop().call_soon(self._read_ahead)

    def _read_ahead(self) -> None:
        if self._closed is None:
            self._kernel.read_ahead(self._snapshot)

    async def tool(
        self, name: str, args: Mapping[str, Json] | None = None, *, call: str | None = None
    ) -> ToolOutcome:
        """Ask for a tool as the model would; `call` is the model's id of the call.

        Arguments that are no JSON are refused here: they can be neither recorded nor repeated.
        """
        try:
            args = {key: json_value(key, value) for key, value in (args or {}).items()}
        except WrongTypeError as error:
            return Denied("arguments", say=f"{name} cannot run: {error}.")
        id = self._id()
        call = call or f"call-{id}"
        answers = self._answers = self._answers or {}
        if call not in answers:
            answers[call] = asyncio.get_running_loop().create_future()
        answer = answers[call]
        try:
            with suppress(TurnFailed):  # its fact tells; the call has its answer
                self.send(ToolCalled(id, self._clock.now(), call, name, args))
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

    def _send_all(self, inputs: Iterable[Input]) -> None:
        """Whatever one leads to, the others have happened too; what failed first is raised."""
        failed: TurnFailed | None = None
        for input in inputs:
            try:
                self.send(input)
            except TurnFailed as error:
                failed = failed or error
        if failed is not None:
            raise failed

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

    # -- what can be seen ---------------------------------------------------------------------

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    @property
    def phase(self) -> str:
        """The present phase of the main region."""
        return self._kernel.compiled.chart.main_leaf(self._snapshot.place.active)

    @property
    def phases(self) -> tuple[str, ...]:
        """Every active phase in document order."""
        return self._snapshot.place.active

    @overload
    def extracted(self, wanted: type[T]) -> T | None: ...
    @overload
    def extracted(self, wanted: str) -> dict[str, Json] | None: ...
    def extracted(self, wanted: type[Any] | str) -> Any:
        """What the extractor of this type, or of this name, found when it last found anything.

        An instance of the type, or a dictionary; None before there is one. Values that were not
        accepted are not in it.

        Raises:
            FlowError: the flow has no such extractor.
            WrongTypeError: the fields break a rule of the type; the values are not shown.
        """
        name = wanted if isinstance(wanted, str) else wanted.__name__
        known = self._kernel.compiled.extractors
        if name not in known:
            raise FlowError(f"the flow has no extractor {name!r}.{did_you_mean(name, known)}")
        fields = self.state.get(name)
        if fields is None or isinstance(wanted, str):
            return fields
        from flowengine.extract.typed import instance_of  # only those who ask need it

        return instance_of(wanted, fields)

    @property
    def ended(self) -> bool:
        return self._snapshot.place.ended

    @property
    def context(self) -> Context:
        return self._kernel.context(self._snapshot)

    def transcript(self, *, hide: Sequence[str] = ()) -> tuple[Turn, ...]:
        """What was said, with the values of `pii` keys masked: for logs, screens, a colleague.

        What one of the patterns in `hide` matches, RE2 in any case, is masked too.
        """
        from flowengine.runtime.redaction import redacted  # it brings all recognizers with it

        return redacted(self._kernel.compiled, self._snapshot, hide)

    def explain(self) -> Explanation:
        return self._kernel.explain(self._snapshot)
