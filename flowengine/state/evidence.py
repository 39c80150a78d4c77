"""Where a value came from: its writer, the turn and the words, and what it replaced."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from flowengine.inputs import Json


class Evidence(NamedTuple):
    """The support of one key's present value.

    `span` is (start, end) in the caller's words of turn `turn`; a model's value without a span is
    ungrounded. `superseded` holds earlier values, newest last, at most eight.
    """

    by: str
    turn: int = 0
    order: int = 0
    speaker: str = ""
    span: tuple[int, int] | None = None
    confidence: float = 1.0
    rule: str = ""
    superseded: tuple[Json, ...] = ()

    @property
    def grounded(self) -> bool:
        return self.span is not None


@lru_cache(maxsize=1024)
def plain(by: str) -> Evidence:
    """The evidence of a writer that heard nothing: one shared object for each writer."""
    return Evidence(by)
