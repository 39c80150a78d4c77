"""What an application may watch while an extraction runs; a hook can never break it."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from flowengine.llm.messages import ChatRequest, ChatResponse
from flowengine.llm.metadata import AutoFallback, ExtractionMetadata, Fallback, Repair
from flowengine.llm.reasons import Reason

log = logging.getLogger("flowengine.llm")

Result: TypeAlias = Awaitable[None] | None


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """Each may be a plain or an async function; `on_done` runs on success and on failure."""

    on_request: Callable[[ChatRequest], Result] | None = None
    on_response: Callable[[ChatResponse], Result] | None = None
    on_reject: Callable[[Reason], Result] | None = None
    on_repair: Callable[[tuple[Repair, ...]], Result] | None = None
    on_fallback: Callable[[AutoFallback | Fallback], Result] | None = None
    on_done: Callable[[ExtractionMetadata], Result] | None = None

    async def call(self, name: str, argument: Any) -> None:
        """Run one hook; what it raises is logged by type only, since it may quote the caller."""
        hook: Callable[[Any], Any] | None = getattr(self, name)
        if hook is None:
            return
        try:
            result = hook(argument)
            if inspect.isawaitable(result):
                await result
        except Exception as error:  # noqa: BLE001 - any fault of a hook is the hook's own
            log.warning("extraction hook %s raised %s", name, type(error).__name__)
