"""One extraction: which request to send next, and what to make of what came back.

Unary and streamed extraction drive the same run: `next_request`, then `failed` or `received`,
until a value or an error.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from flowengine.llm.collect import Collector
from flowengine.llm.errors import ExtractFailure, Refusal, Timeout, attach_record
from flowengine.llm.hooks import Hooks
from flowengine.llm.judge import Accepted, Judge, Rejection, fields_said, without_faults
from flowengine.llm.ladder import Ladder
from flowengine.llm.limits import UsageLimits
from flowengine.llm.messages import ChatRequest, ChatResponse, Message
from flowengine.llm.metadata import Evidence, Extracted
from flowengine.llm.modes import SUBMIT_TOOL, answer_of, derive, end_with_user
from flowengine.llm.provider import ChatProvider
from flowengine.llm.reask import Rejected
from flowengine.llm.reasons import (
    Budget,
    Issue,
    Reason,
    ToolConflict,
    Truncated,
    Ungrounded,
    Unsupported,
    ValidationFailed,
)
from flowengine.llm.record import Record
from flowengine.llm.resends import counting
from flowengine.llm.schema import Target
from flowengine.llm.settings import AskAgain, Settings, ValidatorContext
from flowengine.llm.vocabulary import ExtractionMode, FinishReason
from flowengine.llm.warnings import Warning_, distinct

T = TypeVar("T")

MOST_GROWN_TOKENS = 65_536


class Run(Generic[T]):
    """The state of one extraction."""

    def __init__(
        self,
        provider: ChatProvider,
        request: ChatRequest,
        judge: Judge[T],
        settings: Settings,
        ladder: Ladder,
    ) -> None:
        self.provider = provider
        self.target: Target[T] = judge.target
        self.judge = judge
        self.settings = settings
        self.hooks = settings.hooks or Hooks()
        self.limits = settings.limits or UsageLimits()
        self.ladder = ladder
        self.record = Record(ladder.asked, settings.clock)
        self._request, self._asked = request, ()
        if not settings.allow_prefill:
            self._request, self._asked = end_with_user(request)
        self._appended: tuple[Message, ...] = ()
        self._sent_warnings: tuple[Warning_, ...] = ()
        self._retries_left = settings.retries
        self._last_reason: Reason | None = None
        self._last_response: ChatResponse | None = None

    async def next_request(self) -> ChatRequest:
        """The request to send now. Raises `ExtractFailure` when none may be sent."""
        if self._request.tools:
            raise await self.fail(ToolConflict(mode=self.ladder.asked))
        if self.ladder.mode is None:
            raise await self._unsupported(self.ladder.asked, "")
        self.record.use_mode(self.ladder.mode)
        self.record.use_level(self.ladder.level)
        await self._check_limits()
        request = await self._prepared()
        await self.hooks.call("on_request", request)
        self.record.call_begins()
        return request

    @asynccontextmanager
    async def within_time(self) -> AsyncGenerator[None]:
        """One wait for the provider: bounded by the limits, its resends counted.

        Never held while a stream's reader has the word. Raises `Timeout`.
        """
        scope = asyncio.timeout(self.limits.call_timeout(self.record.elapsed))
        try:
            with counting(self.record.resends):
                async with scope:
                    yield
        except TimeoutError:
            if not scope.expired():
                raise
            raise Timeout("no answer within the limits", provider=self.provider.name) from None

    @asynccontextmanager
    async def leaving_record(self) -> AsyncGenerator[None]:
        """Leaves the record on whatever ends the extraction, a cancellation included."""
        try:
            yield
        except (ExtractFailure, GeneratorExit):
            raise  # the one has its record already, the other is seen by nobody
        except BaseException as error:
            attach_record(error, self.record.metadata)
            await self.hooks.call("on_done", self.record.metadata)
            raise

    async def failed(self, error: BaseException, stream: Collector | None = None) -> bool:
        """Book a failed call. True: a looser schema or another mode is tried; else re-raise."""
        if isinstance(error, Refusal):
            return await self._refused(error)
        self.record.failed(error, stream)
        if isinstance(error, Timeout) and self._limit() == "deadline_s":
            raise await self.fail(Budget(limit="deadline_s", after=self._after())) from error
        fallback = self.ladder.loosen(error) if self.settings.schema_ladder else None
        if fallback is None:
            return False
        self.record.fell_back(fallback)
        await self.hooks.call("on_fallback", fallback)
        return True

    async def received(self, response: ChatResponse) -> Extracted[T] | None:
        """The value, or None to ask again. Raises `ExtractFailure` when asking is over."""
        warnings = distinct(self._sent_warnings, response.warnings)
        response = response.model_copy(update={"warnings": warnings})
        self._last_response = response
        self.record.passed(response)
        await self.hooks.call("on_response", response)
        verdict, evidence = await self._verdict(response)
        if isinstance(verdict, Accepted):
            return await self._done(verdict, response, evidence)
        return await self._rejected(verdict, response)

    async def fail(self, reason: Reason) -> ExtractFailure:
        """The failure to raise, after `on_done`."""
        await self.hooks.call("on_done", self.record.metadata)
        return ExtractFailure(reason, self._last_response, self.record.metadata)

    async def _check_limits(self) -> None:
        limit = self._limit()
        if limit is not None:
            raise await self.fail(Budget(limit=limit, after=self._after()))

    def _limit(self) -> str | None:
        kept = self.record.metadata
        return self.limits.forbids(kept.passes, kept.usage, kept.elapsed_s)

    def _after(self) -> str | None:
        return self._last_reason.summary() if self._last_reason else None

    async def _prepared(self) -> ChatRequest:
        """The derived request in the first mode the provider does not refuse."""
        while True:
            messages = (*self._request.messages, *self._appended)
            request = self._request.model_copy(update={"messages": messages})
            mode = self.record.mode
            derived, warnings = derive(request, self.target, mode, self.ladder.level)
            try:
                prepared = self.provider.prepare(derived)
            except Refusal as refusal:
                await self._take_refusal(refusal)
                continue
            self._sent_warnings = distinct(self._asked, warnings, prepared.warnings)
            return prepared.request

    async def _refused(self, refusal: Refusal) -> bool:
        """A refusal by the call itself, which therefore was none."""
        self.record.unsent()
        await self._take_refusal(refusal)
        return True

    async def _take_refusal(self, refusal: Refusal) -> None:
        mode = self.record.mode
        fallback = self.ladder.refused(refusal)
        if fallback is None:
            raise await self._unsupported(mode, refusal.message, refusal.code) from refusal
        self.record.refused(fallback)
        await self.hooks.call("on_fallback", fallback)

    async def _unsupported(
        self, mode: ExtractionMode, detail: str, code: str = ""
    ) -> ExtractFailure:
        detail = f"{detail} ({code})" if code else detail
        return await self.fail(Unsupported(mode=mode, provider=self.provider.name, detail=detail))

    async def _verdict(
        self, response: ChatResponse
    ) -> tuple[Accepted[T] | Rejection, tuple[Evidence, ...]]:
        mode, name = self.record.mode, self.provider.name
        text = answer_of(response, mode, name)
        if isinstance(text, Reason):
            return Rejection(text), ()
        seen = ValidatorContext(
            attempt=self.record.metadata.passes,
            last=self._retries_left == 0,
            values=self.settings.context or {},
        )
        verdict = self.judge.judge(text, mode, name, {**seen.values, "extraction": seen})
        if isinstance(verdict, Rejection):
            return verdict, ()
        refused = await self._ask_validators(verdict.value, seen)
        if refused is not None:
            return Rejection(refused, verdict.json), ()
        return self._grounded(verdict)

    async def _ask_validators(self, value: T, seen: ValidatorContext) -> Reason | None:
        for validator in self.settings.validators:
            try:
                result = validator(value, seen)
                if inspect.isawaitable(result):
                    await result
            except (AskAgain, ValueError) as error:
                issue = Issue(loc=(), msg=str(error), type="validator")
                return ValidationFailed(errors=(issue,))
        return None

    def _grounded(
        self, verdict: Accepted[T]
    ) -> tuple[Accepted[T] | Rejection, tuple[Evidence, ...]]:
        policy = self.settings.evidence
        if policy is None:
            return verdict, ()
        found = policy.evidence(self.target.schema, verdict.json, self._request)
        missing = tuple(item.path for item in found if item.status == "ungrounded")
        self.record.grounded(len(found) - len(missing), len(missing))
        if missing and policy.on_ungrounded == "reject":
            places = tuple(map(self.target.place_of, missing))
            return Rejection(Ungrounded(paths=missing, places=places), verdict.json), found
        return verdict, found

    async def _done(
        self,
        verdict: Accepted[T],
        response: ChatResponse,
        evidence: tuple[Evidence, ...],
        issues: tuple[str, ...] = (),
    ) -> Extracted[T]:
        self.record.accepted(response, verdict.repairs)
        self.record.dropped_items(verdict.dropped_items)
        self.ladder.learn()
        if verdict.repairs:
            await self.hooks.call("on_repair", verdict.repairs)
        metadata = self.record.metadata
        await self.hooks.call("on_done", metadata)
        unset, null = fields_said(self.target, verdict.json)
        return Extracted(verdict.value, response, metadata, evidence, unset, null, issues)

    async def _rejected(self, rejection: Rejection, response: ChatResponse) -> Extracted[T] | None:
        reason = rejection.reason
        self.record.rejected(response, reason)
        await self.hooks.call("on_reject", reason)
        grown = self._grow(reason)
        if self._retries_left == 0 or not reason.retryable or grown is False:
            return await self._exhausted(rejection, response)
        self._retries_left -= 1
        await self._change_mode_if_stuck(reason)
        if grown is None:
            tool = SUBMIT_TOOL if self.ladder.mode is ExtractionMode.FORCED_TOOL else None
            self._appended = self.settings.reask(Rejected(response, reason, tool))
        self._last_reason = reason
        return None

    def _grow(self, reason: Reason) -> bool | None:
        """None: not cut at the cap. True: the cap was raised. False: nothing can be raised."""
        if not isinstance(reason, Truncated) or reason.finish != FinishReason.LENGTH:
            return None
        cap = self._request.max_output_tokens
        if self.settings.truncation == "fail" or cap is None or cap >= MOST_GROWN_TOKENS:
            return False
        update = {"max_output_tokens": min(cap * 2, MOST_GROWN_TOKENS)}
        self._request = self._request.model_copy(update=update)
        return True

    async def _change_mode_if_stuck(self, reason: Reason) -> None:
        """The same failure twice: the last retry asks in another way, if one is left."""
        same = self._last_reason is not None and type(self._last_reason) is type(reason)
        if not same or self._retries_left != 0:
            return
        fallback = self.ladder.switch(str(getattr(reason, "code", "rejected")))
        if fallback is not None:
            self.record.fell_back(fallback)
            await self.hooks.call("on_fallback", fallback)

    async def _exhausted(self, rejection: Rejection, response: ChatResponse) -> Extracted[T]:
        rest = None
        if self.settings.on_exhausted == "partial":
            rest = without_faults(self.target, rejection)
        if rest is None:
            raise await self.fail(rejection.reason)
        value, issues = rest
        return await self._done(Accepted(value, rejection.json), response, (), issues)
