"""Pieces of a spoken date or time, and what they are resolved against."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from flowengine.extract.recognizers.days import Day, Days
from flowengine.extract.recognizers.locale import Locale
from flowengine.extract.recognizers.numbers import Number

Clock: TypeAlias = tuple[int, int]


@dataclass(slots=True)
class Fragment:
    """A date, a time of day or a part of day, said at tokens `first` up to `last`."""

    kind: Literal["date", "time", "part"]
    first: int
    last: int
    rule: str
    day: Day | None = None
    clock: Clock | None = None
    fixed: bool = False
    """The clock needs no part of day: it was said with am or pm, or on 24 hours."""
    meridiem: str = ""
    part: str = ""
    word: str = ""
    """The day as said, "tomorrow", or the weekday's number."""

    @property
    def bare(self) -> bool:
        """Whether it is a number alone, which only the question makes a date or a time."""
        return self.rule in ("date.number", "time.bare")


@dataclass(frozen=True, slots=True)
class Reading:
    """What fragments are resolved against: today, the direction, the present moment, order."""

    locale: Locale
    now: datetime | None
    past: bool = False

    @property
    def days(self) -> Days | None:
        return Days(self.now.date(), self.past) if self.now else None


def year_of(numbers: list[Number], pivot: int) -> int:
    """ "1984", "nineteen eighty four", "nineteen oh seven"; two digits fall up to `pivot`."""
    values = [int(number.value) for number in numbers]
    if len(values) == 2:
        return values[0] * 100 + values[1]
    value = values[0]
    if value >= 100:
        return value
    century = pivot // 100 * 100
    return century + value if century + value <= pivot else century - 100 + value
