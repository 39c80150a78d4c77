"""Conditions over time: sustained for a while, for so many turns, or so often within a span.

A pattern fires once per episode and re-arms when its condition no longer holds. Counters of turns
move on turns only, never on a timer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Pattern:
    """Exactly one of `sustained` (ms), `turns`, `rate` (count, ms) is set."""

    name: str
    sustained: int | None = None
    turns: int | None = None
    rate: tuple[int, int] | None = None
    cooldown: int = 0


class Progress(NamedTuple):
    """Where a pattern stands; part of a session's snapshot."""

    since: int | None = None
    turns: int = 0
    times: tuple[int, ...] = ()
    fired: bool = False
    """It has fired in the present episode."""
    fired_at: int | None = None


IDLE = Progress()


def advance(
    pattern: Pattern, progress: Progress, holds: bool, now: int, turn: bool
) -> tuple[Progress, bool]:
    """The progress after an input at `now`, and whether the pattern fires; `turn`: one closed."""
    if pattern.rate is not None:
        progress = _counted(pattern.rate, progress, holds and turn, now)
        met = len(progress.times) >= pattern.rate[0]
    elif not holds:
        return (progress if progress.since is None else _rearmed(progress)), False
    else:
        since = now if progress.since is None else progress.since
        progress = progress._replace(since=since, turns=progress.turns + turn)
        met = _met(pattern, progress, now)
    if not met:
        return progress, False
    if progress.fired or now < _cooled(pattern, progress):
        return progress, False
    return progress._replace(fired=True, fired_at=now), True


def due_at(pattern: Pattern, progress: Progress) -> int | None:
    """The next instant at which it can fire without any further input."""
    if pattern.sustained is None or progress.since is None or progress.fired:
        return None
    return max(progress.since + pattern.sustained, _cooled(pattern, progress))


def _met(pattern: Pattern, progress: Progress, now: int) -> bool:
    if pattern.sustained is not None:
        return progress.since is not None and now - progress.since >= pattern.sustained
    return pattern.turns is not None and progress.turns >= pattern.turns


def _counted(rate: tuple[int, int], progress: Progress, hit: bool, now: int) -> Progress:
    """The hits of the window that ends now; below the count, however briefly, it re-arms."""
    count, span = rate
    recent = tuple(t for t in progress.times if now - t < span)
    fired = progress.fired and len(recent) >= count
    if hit:
        recent = (*recent, now)[-count:]
    if recent == progress.times and fired == progress.fired:
        return progress
    return progress._replace(times=recent, fired=fired)


def _rearmed(progress: Progress) -> Progress:
    return Progress(fired_at=progress.fired_at)


def _cooled(pattern: Pattern, progress: Progress) -> int:
    if progress.fired_at is None or not pattern.cooldown:
        return 0
    return progress.fired_at + pattern.cooldown
