"""Calendar arithmetic: which day a spoken date means, seen from a reference day."""

from __future__ import annotations

import calendar
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_LONGEST_SEARCH = 28 * 12
"""Months looked through for a day that exists: the calendar repeats within 28 years."""


@dataclass(frozen=True, slots=True)
class Day:
    """A day, what else it may be, and how exactly it was meant: day, week, month or year."""

    day: date
    alternatives: tuple[date, ...] = field(default=())
    grain: str = "day"
    doubtful: bool = False

    @property
    def ambiguous(self) -> bool:
        return self.doubtful or bool(self.alternatives)

    @property
    def last(self) -> date:
        """The last day of the period that it names; an exact day is its own."""
        match self.grain:
            case "weekend":
                return self.day + timedelta(1)
            case "week":
                return self.day + timedelta(6)
            case "month":
                return self.day.replace(day=calendar.monthrange(self.day.year, self.day.month)[1])
            case "year":
                return self.day.replace(month=12, day=31)
            case _:
                return self.day

    def plus(self, days: int) -> Day:
        step = timedelta(days)
        moved = tuple(day + step for day in self.alternatives)
        return replace(self, day=self.day + step, alternatives=moved)


@dataclass(frozen=True, slots=True)
class Days:
    """Resolves against `today`; `past` looks back where the words leave it open."""

    today: date
    past: bool = False

    def weekday(self, weekday: int) -> Day:
        """A bare weekday is the one to come; said on that day it may be today."""
        ahead = (weekday - self.today.weekday()) % 7
        if self.past:
            ahead -= 7
        elif ahead == 0:
            return Day(self.today + timedelta(7), (self.today,))
        return Day(self.today + timedelta(ahead))

    def shifted_weekday(self, weekday: int, word: str, weeks: int) -> Day:
        """ "next Friday" is next week's; "last Friday" the latest one; "this Friday" to come."""
        if weeks == 0:
            return Days(self.today).weekday(weekday)
        if weeks < 0:
            back = (self.today.weekday() - weekday) % 7 or 7
            return Day(self.today - timedelta(back))
        meant = self.in_week(weekday, weeks)
        nearer = meant - timedelta(7)
        return Day(meant, (nearer,) if nearer > self.today else ())

    def in_week(self, weekday: int, weeks: int) -> date:
        monday = self.today - timedelta(self.today.weekday())
        return monday + timedelta(7 * weeks + weekday)

    def month_day(self, month: int, day: int, weekday: int | None = None) -> Day | None:
        """A day without a year: the nearest in the direction looked, on that weekday if one is."""
        found = [
            candidate
            for year in self._years()
            if (candidate := make_date(year, month, day)) and self.lies_right(candidate)
        ]
        if not found:
            return None
        fits = [d for d in found[:6] if weekday is None or d.weekday() == weekday]
        return Day(fits[0]) if fits else Day(found[0], doubtful=True)

    def _years(self) -> range:
        year = self.today.year
        return range(year, year - 9, -1) if self.past else range(year, year + 9)

    def lies_right(self, candidate: date) -> bool:
        return candidate <= self.today if self.past else candidate >= self.today

    def reaches(self, day: Day) -> bool:
        """Whether any part of it lies on the side looked to."""
        return self.lies_right(day.day) or self.lies_right(day.last)

    def day_of_month(self, day: int, weekday: int | None = None) -> Day | None:
        """ "the fifteenth": the next to come, today included."""
        step = -1 if self.past else 1
        first: date | None = None
        for months in range(_LONGEST_SEARCH):
            year, month = shift_month(self.today.year, self.today.month, step * months)
            candidate = make_date(year, month, day)
            if candidate is None or not self.lies_right(candidate):
                continue
            if weekday is None or candidate.weekday() == weekday:
                return Day(candidate)
            first = first or candidate
            if months > 13:
                break
        return Day(first, doubtful=True) if first else None

    def day_in_month(self, day: int, months: int) -> Day | None:
        year, month = shift_month(self.today.year, self.today.month, months)
        found = make_date(year, month, day)
        return Day(found) if found else None

    def month(self, month: int, shift: int | None, at_end: bool) -> Day:
        """A month as a whole, named by its first day, or by its last after "until"."""
        year = self.today.year
        if (shift is not None and shift < 0) or self.past:
            year -= month >= self.today.month if shift else month > self.today.month
        elif month < self.today.month or (month == self.today.month and (shift or 0) > 0):
            year += 1
        day = calendar.monthrange(year, month)[1] if at_end else 1
        return Day(date(year, month, day), grain="month")

    def plus(self, count: int, unit: str, start: date | None = None) -> date | None:
        """`count` units later on the calendar; a month's end stays in its month."""
        start = start or self.today
        try:
            if unit in ("D", "W", "FN"):
                return start + timedelta(count * {"D": 1, "W": 7, "FN": 14}[unit])
            months = count * (12 if unit == "Y" else 1)
            year, month = shift_month(start.year, start.month, months)
            last = calendar.monthrange(year, month)[1]
            return date(year, month, min(start.day, last))
        except (OverflowError, ValueError):  # beyond the years a date can hold
            return None

    def working_days(self, count: int) -> date:
        day = self.today
        for _ in range(min(count, 1000)):
            day += timedelta(7 - day.weekday() if day.weekday() >= 4 else 1)
        return day

    def period(self, unit: str, shift: int) -> Day:
        """ "next week", "last month": named by its first day."""
        if unit == "WE":
            return Day(self.in_week(5, shift), grain="weekend")
        if unit == "W":
            return Day(self.in_week(0, shift), grain="week")
        if unit == "MO":
            year, month = shift_month(self.today.year, self.today.month, shift)
            return Day(date(year, month, 1), grain="month")
        if unit == "Y":
            return Day(date(self.today.year + shift, 1, 1), grain="year")
        return Day(self.today + timedelta(shift * (14 if unit == "FN" else 1)))

    def edge(self, edge: str, unit: str, shift: int) -> Day:
        """ "the end of the month": its last day; the end of a week is its Friday, or Sunday."""
        start = self.period(unit, shift).day
        if unit == "W":
            days = {"start": 0, "middle": 2, "end": 4}[edge]
            sunday = (start + timedelta(6),) if edge == "end" else ()
            return Day(start + timedelta(days), sunday)
        if unit == "Y":
            month_day = {"start": (1, 1), "middle": (7, 1), "end": (12, 31)}[edge]
            return Day(date(start.year, *month_day))
        last = calendar.monthrange(start.year, start.month)[1]
        return Day(start.replace(day={"start": 1, "middle": 15, "end": last}[edge]))

    def nth_weekday(self, weekday: int, nth: int, first: date) -> Day | None:
        """The n-th such weekday of the month that begins at `first`; -1 is the last one."""
        last = calendar.monthrange(first.year, first.month)[1]
        every = [first.replace(day=day) for day in range(1, last + 1)]
        found = [day for day in every if day.weekday() == weekday]
        return Day(found[nth - 1 if nth > 0 else nth]) if nth <= len(found) else None

    def holiday(self, rule: str, offset: int = 0) -> Day | None:
        for year in self._years():
            found = holiday_in(rule, year)
            if found and self.lies_right(found + timedelta(offset)):
                return Day(found + timedelta(offset))
        return None


def make_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def shift_month(year: int, month: int, months: int) -> tuple[int, int]:
    index = year * 12 + month - 1 + months
    return index // 12, index % 12 + 1


def holiday_in(rule: str, year: int) -> date | None:
    """ "12-25", "easter-2", the n-th weekday of a month, "05-mon--1", or later: "11-thu-4+1"."""
    if rule.startswith("easter"):
        return easter(year) + timedelta(int(rule[6:]))
    month, _, rest = rule.partition("-")
    if rest.isdecimal():
        return make_date(year, int(month), int(rest))
    name, _, nth = rest.partition("-")
    nth, _, later = nth.partition("+")
    weekday = _WEEKDAYS.index(name)
    first = date(year, int(month), 1)
    found = Days(first).nth_weekday(weekday, int(nth), first)
    return found.day + timedelta(int(later or 0)) if found else None


def easter(year: int) -> date:
    """Easter Sunday by the anonymous Gregorian computation."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)
