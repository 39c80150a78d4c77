"""Keeps the books of one extraction while it runs."""

from __future__ import annotations

import logging
from asyncio import CancelledError
from collections.abc import Callable
from typing import Literal

from flowengine.llm.collect import Collector
from flowengine.llm.messages import ChatResponse
from flowengine.llm.metadata import (
    Attempt,
    AutoFallback,
    ExtractionMetadata,
    Fallback,
    Grounding,
    Repair,
)
from flowengine.llm.modes import enforcement_of
from flowengine.llm.reasons import Reason, Undeclared
from flowengine.llm.resends import Resends
from flowengine.llm.usage import add_usage
from flowengine.llm.vocabulary import ExtractionMode, relied_field
from flowengine.llm.warnings import Warning_, distinct

log = logging.getLogger("flowengine.llm")


class Record:
    """`metadata` is a consistent snapshot at any moment, also after a cancellation.

    `resends` is where providers count what they send beyond the first request of a call.
    """

    def __init__(self, mode: ExtractionMode, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._call_began = self._began
        self._kept = ExtractionMetadata.new(mode)
        self.resends = Resends()

    @property
    def metadata(self) -> ExtractionMetadata:
        calls = self._kept.calls + self.resends.count
        return self._kept.model_copy(update={"elapsed_s": self.elapsed, "calls": calls})

    @property
    def elapsed(self) -> float:
        return self._clock() - self._began

    @property
    def mode(self) -> ExtractionMode:
        return self._kept.mode

    def use_mode(self, mode: ExtractionMode) -> None:
        self._keep(mode=mode)

    def use_level(self, level: int) -> None:
        self._keep(schema_level=level)

    def call_begins(self) -> None:
        self._call_began = self._clock()
        self._keep(calls=self._kept.calls + 1)

    def unsent(self) -> None:
        """The call was refused before anything was sent."""
        self._keep(calls=self._kept.calls - 1)

    def passed(self, response: ChatResponse) -> None:
        """A response came, whether or not it can be used."""
        kept = self._kept
        level = enforcement_of(response.warnings, kept.mode)
        self._keep(
            passes=kept.passes + 1,
            usage=add_usage(kept.usage, response.usage),
            enforcement=level if kept.passes == 0 else min(level, kept.enforcement),
        )
        self._degrade(response.warnings)

    def accepted(self, response: ChatResponse, repairs: tuple[Repair, ...]) -> None:
        self._attempt("ok", None, response, repairs)
        self._keep(repaired=bool(repairs), repairs=repairs)

    def rejected(self, response: ChatResponse, reason: Reason) -> None:
        code: str = getattr(reason, "code", "rejected")
        self._attempt("rejected", code, response)
        if isinstance(reason, Undeclared):
            count = self._kept.undeclared_key_rejections + 1
            self._keep(undeclared_key_rejections=count)

    def failed(self, error: BaseException, stream: Collector | None) -> None:
        """A call ended without a response; what a broken stream reported is kept."""
        code: str = getattr(error, "kind", type(error).__name__)
        if isinstance(error, CancelledError):
            code = "cancelled"
        if stream is None:
            self._attempt("provider_error", code, ChatResponse())
            return
        partial = stream.response()
        begun = bool(partial.text or partial.tool_calls or partial.usage or partial.warnings)
        self._attempt("stream_error" if begun else "provider_error", code, partial)
        self._keep(usage=add_usage(self._kept.usage, partial.usage))
        self._degrade(partial.warnings)

    def refused(self, fallback: AutoFallback) -> None:
        self._keep(auto_fallback=fallback, mode=fallback.to_mode)

    def fell_back(self, fallback: Fallback) -> None:
        update = {"mode": fallback.to_mode, "schema_level": fallback.to_level}
        self._keep(fallbacks=(*self._kept.fallbacks, fallback), **update)

    def grounded(self, located: int, ungrounded: int) -> None:
        self._keep(grounding=Grounding(located=located, ungrounded=ungrounded))

    def streamed(self, *, incremental: bool) -> None:
        self._keep(incremental=incremental)

    def dropped_items(self, count: int) -> None:
        self._keep(dropped_items=count)

    def _attempt(
        self,
        outcome: Literal["ok", "rejected", "provider_error", "stream_error"],
        code: str | None,
        response: ChatResponse,
        repairs: tuple[Repair, ...] = (),
    ) -> None:
        attempt = Attempt(
            index=len(self._kept.attempts) + 1,
            mode=self._kept.mode,
            outcome=outcome,
            error_code=code,
            finish_reason=response.finish_reason,
            usage=response.usage,
            latency_s=self._clock() - self._call_began,
            repairs=repairs,
            warnings=response.warnings,
        )
        self._keep(attempts=(*self._kept.attempts, attempt))

    def _degrade(self, warnings: tuple[Warning_, ...]) -> None:
        relied = relied_field(self._kept.mode)
        before = self._kept.degradations
        merged = distinct(before, tuple(w for w in warnings if w.field is relied))
        for warning in merged[len(before) :]:
            log.info("schema enforcement lowered: %s at %s", warning.code, warning.path)
        self._keep(degradations=merged)

    def _keep(self, **update: object) -> None:
        self._kept = self._kept.model_copy(update=update)
