"""Counts requests that a provider sends again within one call, such as a wrapper's retries.

A context variable rather than a callback on the request: a request is data, and a wrapper deep
in a stack of them need not know who is counting.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar


class Resends:
    """How many requests were sent beyond the first."""

    def __init__(self) -> None:
        self.count = 0


_counter: ContextVar[Resends | None] = ContextVar("resends", default=None)


@contextmanager
def counting(resends: Resends) -> Generator[None]:
    """Count into `resends` whatever providers send again inside this block."""
    token = _counter.set(resends)
    try:
        yield
    finally:
        _counter.reset(token)


def resent() -> None:
    """Called by a provider just before it sends one more request for the same call."""
    counter = _counter.get()
    if counter is not None:
        counter.count += 1
