"""Results of slow calls, reused: bounded, with a time to live, and one call for many that wait."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, TypeVar

from flowengine.clock import LONGEST, Clock, SystemClock
from flowengine.errors import SourceError
from flowengine.facts import canonical_json
from flowengine.inputs import Json
from flowengine.state.types import copied

Work = Callable[[], Awaitable[Json]]
E = TypeVar("E", bound=BaseException)

FOREVER = LONGEST
"""A time to live that outlasts every call."""


def cache_key(name: str, args: Mapping[str, Json]) -> str:
    """One key for calls that mean the same, however their arguments are ordered."""
    return f"{name}\n{canonical_json(args)}"


class Keep(NamedTuple):
    """How long a success and a failure are reused, and how long a call may take: milliseconds."""

    ttl: int = 0
    error_ttl: int = 0
    timeout: int | None = None


class Cache:
    """The last `size` results, least recently used out first.

    Whoever asks while a call for the same key is under way waits for that one. A cancelled waiter
    does not disturb the others; when the last one goes, the call is cancelled. Containers are
    handed out as copies. The clock decides what has expired; timeouts run on the event loop.
    """

    def __init__(self, size: int = 1024, clock: Clock | None = None) -> None:
        if size < 1:
            raise ValueError("a cache holds at least one result")
        self._size = size
        self._clock: Clock = clock or SystemClock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._flights: dict[str, _Flight] = {}

    @property
    def kept(self) -> int:
        """How many results it holds; a `len()` would make an empty cache false."""
        return len(self._kept)

    def __repr__(self) -> str:
        return f"Cache({len(self._kept)} of {self._size} kept, {len(self._flights)} under way)"

    async def call(self, key: str, work: Work, keep: Keep = Keep()) -> Json:  # noqa: B008 - frozen
        """What `work` gives, has given lately, or is about to give for this key.

        Raises:
            SourceError: `timed_out`, or `cancelled` when the call itself was
            Exception: what `work` raised, now or within `error_ttl`
        """
        kept = self._fresh(key)
        if kept is not None:
            if kept.error is not None:
                raise _twin(kept.error)
            return copied(kept.value)
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(work, keep.timeout)
            flight.task.add_done_callback(lambda _: self._landed(key, flight, keep))
        try:
            return copied(await flight.wait())
        finally:
            if flight.abandoned and self._flights.get(key) is flight:
                del self._flights[key]

    def forget(self, key: str | None = None) -> None:
        """Drop what is kept for a key, or everything; calls under way go on, and are kept."""
        if key is None:
            self._kept.clear()
        else:
            self._kept.pop(key, None)

    def _fresh(self, key: str) -> _Kept | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        # a clock that was set back makes nothing last longer
        if not 0 <= self._clock.now() - kept.at < kept.ttl:
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        return kept

    def _landed(self, key: str, flight: _Flight, keep: Keep) -> None:
        task = flight.task
        error = None if task.cancelled() else task.exception()  # also marks it as seen
        if self._flights.get(key) is not flight:
            return
        del self._flights[key]
        ttl = keep.ttl if error is None else keep.error_ttl
        if task.cancelled() or ttl <= 0 or not isinstance(error, Exception | None):
            return
        value = task.result() if error is None else None
        kept = _Kept(value, error and _twin(error), self._clock.now(), ttl)
        self._kept[key] = kept
        self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)


class _Kept(NamedTuple):
    value: Json
    error: Exception | None
    at: int
    ttl: int


class _Flight:
    """A call under way, and how many wait for it."""

    def __init__(self, work: Work, timeout: int | None) -> None:
        self.task = asyncio.get_running_loop().create_task(within(work, timeout))
        self.waiting = 0
        self.abandoned = False

    async def wait(self) -> Json:
        self.waiting += 1
        try:
            # unlike awaiting the task, this tells its cancellation from the waiter's own
            await asyncio.wait((self.task,))
        finally:
            self.waiting -= 1
            if not self.waiting and not self.task.done():
                self.abandoned = True
                self.task.cancel()
        if self.task.cancelled():
            raise SourceError("the call was cancelled", code="cancelled")
        return self.task.result()


async def within(work: Work, timeout: int | None) -> Json:
    """What `work` gives within so many milliseconds.

    Raises:
        SourceError: `timed_out`
    """
    scope = asyncio.timeout(None if timeout is None else timeout / 1000)
    try:
        async with scope:
            return await work()
    except TimeoutError:
        if not scope.expired():
            raise
        raise SourceError(f"no answer within {timeout} ms", code="timed_out") from None


def _twin(error: E) -> E:
    """The same error without its frames: they would keep alive what the first caller held."""
    twin = type(error).__new__(type(error), *error.args)
    twin.args = error.args
    twin.__dict__.update(error.__dict__)
    return twin
