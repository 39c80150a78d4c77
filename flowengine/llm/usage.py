"""Tokens a provider reported; a field nobody reported stays None, which is not zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flowengine.llm.data import Data
from flowengine.llm.foreign import MOST, a_count


class Usage(Data):
    """Token counts of one call or of several summed; cached tokens lie inside the input count."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    reasoning_tokens: int | None = None

    @classmethod
    def from_gemini(cls, counts: Mapping[str, Any]) -> Usage:
        """The counts of a `usageMetadata`; thoughts are output, and are named apart too."""
        return cls(
            input_tokens=_sum(counts, "promptTokenCount", "toolUsePromptTokenCount"),
            output_tokens=_sum(counts, "candidatesTokenCount", "thoughtsTokenCount"),
            total_tokens=a_count(counts.get("totalTokenCount")),
            cached_input_tokens=a_count(counts.get("cachedContentTokenCount")),
            reasoning_tokens=a_count(counts.get("thoughtsTokenCount")),
        )

    def __add__(self, other: Usage) -> Usage:
        return self._combine(other, lambda a, b: min(a + b, MOST))

    def __sub__(self, other: Usage) -> Usage:
        return self._combine(other, lambda a, b: max(a - b, 0))

    def total(self) -> int | None:
        """The reported total, else input plus output when both are known."""
        if self.total_tokens is not None:
            return self.total_tokens
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return min(self.input_tokens + self.output_tokens, MOST)

    def latest(self, newer: Usage) -> Usage:
        """This snapshot brought up to date; streams report running totals, never increments."""
        return self.model_copy(update=newer.model_dump(exclude_none=True))

    def _combine(self, other: Usage, join: Callable[[int, int], int]) -> Usage:
        joined: dict[str, int] = {}
        for name in type(self).model_fields:
            ours: int | None = getattr(self, name)
            theirs: int | None = getattr(other, name)
            if ours is not None or theirs is not None:
                joined[name] = join(ours or 0, theirs or 0)
        return Usage(**joined)


def add_usage(total: Usage | None, more: Usage | None) -> Usage | None:
    """The sum, None only while nothing was reported."""
    if total is None or more is None:
        return more if total is None else total
    return total + more


def _sum(counts: Mapping[str, Any], *names: str) -> int | None:
    known = [count for name in names if (count := a_count(counts.get(name))) is not None]
    return min(sum(known), MOST) if known else None
