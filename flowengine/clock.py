"""Where the time of an input comes from: the system's clock, or one that a test moves."""

from __future__ import annotations

import re
import time
from typing import Protocol

LONGEST = 36_500 * 86_400_000
"""A hundred years, in milliseconds."""

_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)


class Clock(Protocol):
    """Tells the time in milliseconds since the epoch, UTC."""

    def now(self) -> int: ...


class SystemClock:
    def now(self) -> int:
        return time.time_ns() // 1_000_000


class ManualClock:
    """Stands still until it is told to move; starts at 2026-03-04 15:30 UTC unless told else."""

    def __init__(self, start: int = 1_772_638_200_000) -> None:
        self._now = start

    def now(self) -> int:
        return self._now

    def advance(self, milliseconds: int) -> int:
        if milliseconds < 0:
            raise ValueError("a clock never goes back; advance it by zero or more milliseconds")
        self._now += milliseconds
        return self._now


def duration_ms(text: str) -> int:
    """Milliseconds in `30s`, `1m30s`, `500ms`, `2h`; the spelling of durations in a flow."""
    parts = _DURATION.findall(text)
    if not parts or "".join(n + u for n, u in parts) != text:
        raise ValueError(f"{text!r} is not a duration: write 500ms, 30s, 2m, 1h30m or 1d")
    milliseconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if milliseconds > LONGEST:
        raise ValueError(f"a duration of more than {duration_text(LONGEST)} is a mistake")
    return round(milliseconds)


def duration_text(milliseconds: int) -> str:
    """The shortest spelling that `duration_ms` reads back."""
    if milliseconds == 0:
        return "0s"
    rest, text = milliseconds, ""
    for unit in ("d", "h", "m", "s", "ms"):
        count, rest = divmod(rest, _UNITS[unit])
        text += f"{count}{unit}" if count else ""
    return text
