"""What a process wants to know of extractions while a call goes on."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from flowengine.inputs import Json

OnExtracted: TypeAlias = Callable[[str, Json], Awaitable[None] | None]
"""(Extractor, the fields it brought), after they have landed."""
OnExtractionError: TypeAlias = Callable[[str, str], Awaitable[None] | None]
"""(Extractor, error code)."""

_log = logging.getLogger("flowengine")


class Hooks:
    """Functions that hear of extractions; with `blocking` a turn's answer waits for async ones.

    A hook that raises is logged by its name and the kind of error; the call goes on.
    """

    def __init__(
        self,
        *,
        on_extracted: OnExtracted | None = None,
        on_extraction_error: OnExtractionError | None = None,
        blocking: bool = False,
    ) -> None:
        self._on_extracted = on_extracted
        self._on_error = on_extraction_error
        self._blocking = blocking
        self._tasks: set[asyncio.Task[None]] = set()

    def extracted(self, name: str, status: str, value: Json, error: str) -> None:
        """A run of the extractor has ended."""
        if status == "ok" and value is not None and self._on_extracted is not None:
            self._call(self._on_extracted, name, value)
        elif status != "ok" and self._on_error is not None:
            self._call(self._on_error, name, error or status)

    async def rest(self) -> None:
        """Wait for the hooks that a turn waits for."""
        own = asyncio.current_task()  # a hook may itself wait for the call
        while self._blocking and (others := self._tasks - {own}):
            await asyncio.gather(*others, return_exceptions=True)

    async def close(self) -> None:
        """Let no hook outlive the call."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _call(self, hook: Callable[..., Any], name: str, value: Json) -> None:
        async def follow(awaitable: Awaitable[None]) -> None:
            try:
                await awaitable
            except Exception as error:  # noqa: BLE001 - a hook's fault is not the call's
                _report(hook, error)

        try:
            result = hook(name, value)
        except Exception as error:  # noqa: BLE001 - a hook's fault is not the call's
            _report(hook, error)
            return
        if inspect.isawaitable(result):
            task = asyncio.get_running_loop().create_task(follow(result))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


def _report(hook: Callable[..., Any], error: Exception) -> None:
    name = getattr(hook, "__name__", type(hook).__name__)
    _log.error("hook %s raised %s", name, type(error).__name__)
