"""A bounded cache: what is kept, for how long, and who waits for whom."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from flowengine.clock import ManualClock
from flowengine.errors import FunctionError, SourceError
from flowengine.sources.cache import FOREVER, Cache, Keep, cache_key

pytestmark = pytest.mark.anyio

MINUTE = Keep(ttl=60_000, error_ttl=5_000)


class Counting:
    """A call that answers with its number, raises what it is told to, or waits for `gate`."""

    def __init__(self, error: Exception | None = None, gate: asyncio.Event | None = None) -> None:
        self.calls, self.cancelled = 0, 0
        self.error, self.gate = error, gate

    async def __call__(self) -> Any:
        self.calls += 1
        number = self.calls
        if self.gate is not None:
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        if self.error is not None:
            raise self.error
        return [number]


async def test_a_success_is_reused_until_its_time_is_over() -> None:
    clock, work = ManualClock(), Counting()
    cache = Cache(clock=clock)
    assert await cache.call("k", work, MINUTE) == [1]
    clock.advance(59_999)
    assert await cache.call("k", work, MINUTE) == [1]
    clock.advance(1)
    assert await cache.call("k", work, MINUTE) == [2]


async def test_a_failure_has_a_time_of_its_own() -> None:
    clock, work = ManualClock(), Counting(FunctionError("resolver", "slots", ValueError("jane")))
    cache = Cache(clock=clock)
    for _ in range(2):
        with pytest.raises(FunctionError, match="'slots' raised ValueError") as caught:
            await cache.call("k", work, MINUTE)
        assert caught.value.name == "slots"
    assert work.calls == 1
    clock.advance(5_000)
    with pytest.raises(FunctionError):
        await cache.call("k", work, MINUTE)
    assert work.calls == 2
    assert "jane" not in repr(cache)


async def test_nothing_is_kept_without_a_time_to_live() -> None:
    cache, work = Cache(), Counting()
    assert [await cache.call("k", work) for _ in range(2)] == [[1], [2]]
    assert cache.kept == 0


async def test_what_is_kept_for_ever_outlasts_the_call() -> None:
    clock, work = ManualClock(), Counting()
    cache = Cache(clock=clock)
    await cache.call("k", work, Keep(ttl=FOREVER))
    clock.advance(10 * 365 * 86_400_000)
    assert await cache.call("k", work, Keep(ttl=FOREVER)) == [1]


async def test_nobody_can_spoil_what_is_kept() -> None:
    cache, work = Cache(), Counting()
    first: Any = await cache.call("k", work, MINUTE)
    first.append("mine")
    second: Any = await cache.call("k", work, MINUTE)
    second.append("mine")
    assert await cache.call("k", work, MINUTE) == [1]


async def test_a_kept_failure_holds_no_frames() -> None:
    class Held:
        pass

    async def work() -> None:
        held.append(weakref.ref(local := Held()))
        raise SourceError(f"bad {type(local)}", code="bad")

    held: list[weakref.ref[Any]] = []
    cache = Cache()
    for _ in range(3):
        with pytest.raises(SourceError):
            await cache.call("k", work, MINUTE)
    gc.collect()
    assert (len(held), held[0]()) == (1, None)


async def test_the_least_recently_used_goes_first() -> None:
    cache, work = Cache(size=2), Counting()
    for key in ("a", "b", "a", "c"):
        await cache.call(key, work, MINUTE)
    assert [await cache.call(key, work, MINUTE) for key in ("a", "c", "b")] == [[1], [3], [4]]
    assert cache.kept == 2
    cache.forget("b")
    assert cache.kept == 1
    cache.forget()
    assert cache.kept == 0


async def test_many_wait_for_one_call() -> None:
    gate = asyncio.Event()
    cache, work = Cache(), Counting(gate=gate)
    asking = [asyncio.ensure_future(cache.call("k", work)) for _ in range(100)]
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.gather(*asking) == [[1]] * 100
    assert work.calls == 1


async def test_a_cancelled_waiter_does_not_disturb_the_others() -> None:
    gate = asyncio.Event()
    cache, work = Cache(), Counting(gate=gate)
    first, second = (asyncio.ensure_future(cache.call("k", work, MINUTE)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    gate.set()
    assert await second == [1]
    assert first.cancelled()
    assert await cache.call("k", work, MINUTE) == [1]


async def test_the_call_is_cancelled_when_the_last_waiter_goes_and_a_new_one_starts_again() -> None:
    gate = asyncio.Event()
    cache, work = Cache(), Counting(gate=gate)
    asking = [asyncio.ensure_future(cache.call("k", work, MINUTE)) for _ in range(2)]
    await asyncio.sleep(0)
    for task in asking:
        task.cancel()
    await asyncio.gather(*asking, return_exceptions=True)
    again = asyncio.ensure_future(cache.call("k", work, MINUTE))
    while work.calls < 2:
        await asyncio.sleep(0)
    assert (work.calls, work.cancelled) == (2, 1)
    gate.set()
    assert await again == [2]


async def test_a_call_that_takes_too_long_has_timed_out() -> None:
    work = Counting(gate=asyncio.Event())
    with pytest.raises(SourceError, match="no answer within 10 ms") as caught:
        await Cache().call("k", work, Keep(timeout=10))
    assert caught.value.code == "timed_out"
    assert work.cancelled == 1


async def test_a_timeout_of_the_calls_own_is_not_ours() -> None:
    with pytest.raises(TimeoutError):
        await Cache().call("k", Counting(TimeoutError()), Keep(timeout=1000))


async def test_a_call_that_cancels_itself_cancels_nobody() -> None:
    with pytest.raises(SourceError, match="cancelled") as caught:
        await Cache().call("k", Counting(asyncio.CancelledError()))  # pyright: ignore
    assert caught.value.code == "cancelled"


def test_a_key_does_not_depend_on_the_order_of_arguments() -> None:
    assert cache_key("a", {"x": 1, "y": [2]}) == cache_key("a", {"y": [2], "x": 1})
    assert cache_key("a", {"x": 1}) != cache_key("a", {"x": "1"})
    assert cache_key("a", {}) != cache_key("b", {})


def test_an_empty_cache_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Cache(size=0)


class CacheAgainstModel(RuleBasedStateMachine):
    """Random calls, cancellations and waits, against a dictionary that says what must come."""

    @initialize(size=st.integers(1, 3))
    def start(self, size: int) -> None:
        self.loop = asyncio.new_event_loop()
        self.size, self.clock = size, ManualClock()
        self.cache = Cache(size, self.clock)
        self.model: dict[str, tuple[Any, int]] = {}
        """Key -> (what is kept, when it ends), least recently used first."""
        self.flights: dict[str, tuple[asyncio.Future[Any], set[asyncio.Task[Any]]]] = {}
        self.started = 0

    def step(self) -> None:
        for _ in range(6):
            self.loop.call_soon(self.loop.stop)
            self.loop.run_forever()

    def keep(self, key: str, value: Any, ttl: int) -> None:
        self.model.pop(key, None)
        self.model[key] = (value, self.clock.now() + ttl)
        while len(self.model) > self.size:
            del self.model[next(iter(self.model))]

    @rule(key=st.sampled_from("abcd"))
    def ask(self, key: str) -> None:
        kept = self.model.pop(key, None)
        started, flight = self.started, self.loop.create_future()

        async def work() -> Any:
            self.started += 1
            return await flight

        task = self.loop.create_task(self.cache.call(key, work, Keep(ttl=100, error_ttl=10)))
        self.step()
        if kept is not None and self.clock.now() < kept[1]:
            self.model[key] = kept
            assert self.outcome(task) == kept[0]
            assert self.started == started
        elif key in self.flights:
            assert self.started == started
            self.flights[key][1].add(task)
        else:
            assert self.started == started + 1
            self.flights[key] = (flight, {task})

    @rule(key=st.sampled_from("abcd"), fails=st.booleans())
    def land(self, key: str, fails: bool) -> None:
        if key not in self.flights:
            return
        flight, waiting = self.flights.pop(key)
        value: Any = f"failure {self.started}" if fails else self.started
        if fails:
            flight.set_exception(SourceError(value))
        else:
            flight.set_result(value)
        self.step()
        assert {self.outcome(task) for task in waiting} == {value}
        self.keep(key, value, 10 if fails else 100)

    @rule(key=st.sampled_from("abcd"))
    def leave(self, key: str) -> None:
        if key not in self.flights:
            return
        flight, waiting = self.flights[key]
        task = waiting.pop()
        task.cancel()
        self.step()
        assert task.cancelled()
        assert flight.cancelled() == (not waiting)
        if not waiting:
            del self.flights[key]

    @rule(milliseconds=st.sampled_from([1, 9, 50, 100]))
    def wait(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)

    @invariant()
    def is_bounded(self) -> None:
        if hasattr(self, "cache"):
            assert self.cache.kept <= self.size

    def outcome(self, task: asyncio.Task[Any]) -> Any:
        assert task.done()
        error = task.exception()
        return str(error) if error else task.result()

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            for _, waiting in self.flights.values():
                for task in waiting:
                    task.cancel()
            self.step()
            self.loop.close()


TestCacheAgainstModel = CacheAgainstModel.TestCase
TestCacheAgainstModel.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
