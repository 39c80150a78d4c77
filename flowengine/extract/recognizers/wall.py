"""Wall times: halves and parts of the day, canonical text, and nights when the clocks change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from flowengine.extract.recognizers.base import Recognition
from flowengine.extract.recognizers.days import Day
from flowengine.extract.recognizers.fragments import Clock


def half_day(hour: int, late: bool) -> int:
    return hour if hour > 12 else hour % 12 + (12 if late else 0)


def hour_in_part(hour: int, part: str) -> int:
    if part == "morning":
        return hour % 12
    if part == "night" and hour % 12 < 5:
        return hour % 12
    return hour % 12 + 12 if part != "evening" or hour != 12 else 0


def canonical(day: date | None, clock: Clock | None) -> str:
    time = f"{clock[0]:02d}:{clock[1]:02d}" if clock else ""
    if day is None:
        return time
    return f"{day.isoformat()}T{time}" if time else day.isoformat()


def other_values(day: Day | None, clock: Clock | None, other: Clock | None) -> Iterator[str]:
    if other:
        yield canonical(day.day if day else None, other)
    for alternative in day.alternatives if day else ():
        yield canonical(alternative, clock)


def check_clock_change(found: Recognition, day: date, clock: Clock, zone: ZoneInfo) -> None:
    """A wall time that does not exist moves by the gap; one that exists twice is flagged."""
    wall = datetime(day.year, day.month, day.day, *clock)
    first, second = (wall.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return
    found.ambiguous = True
    moved = first.astimezone(UTC).astimezone(zone).replace(tzinfo=None)
    if moved == wall:
        found.rule += "+dst_twice"
        return
    found.rule += "+dst_gap"
    found.alternatives = (found.value, *found.alternatives)
    found.value = found.text = moved.isoformat(timespec="minutes")
