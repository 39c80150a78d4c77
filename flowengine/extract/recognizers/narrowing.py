"""A day named right after a period lies in it: "next week, let's say Thursday"."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from flowengine.extract.recognizers.days import Day, Days
from flowengine.extract.recognizers.fragments import Fragment
from flowengine.extract.recognizers.ranges import DAYS_OF_MONTH
from flowengine.extract.recognizers.text import Utterance

_APART = 4
"""Words between the period and its day at most: "probably on the"."""


def narrow(fragments: Sequence[Fragment], said: Utterance, days: Days) -> None:
    """Move such a day into its period; the day it would be by itself stays its alternative.

    A day is not moved to the side that the question does not look to: "I was ill last week, on
    Friday I can pay".
    """
    dates = [piece for piece in fragments if piece.kind == "date"]
    for period, piece in itertools.pairwise(dates):
        if period.day is None or piece.day is None or not _is_narrowed(period, piece, said):
            continue
        found = _within(period.day, piece, piece.day.day)
        if found and found != piece.day.day and days.lies_right(found):
            piece.day = replace(piece.day, day=found, alternatives=(piece.day.day,))


def _is_narrowed(period: Fragment, piece: Fragment, said: Utterance) -> bool:
    """Whether nothing but "let's say", "probably on the" or the like stands between the two."""
    between = said.words[period.last : piece.first]
    if not period.day or period.day.grain == "day" or len(between) > _APART:
        return False
    if "." in said.breaks[period.last : piece.first + 1]:
        return False
    ruled_out = said.marks.negated(period.first) or said.marks.refused(period.last)
    return not ruled_out and said.locale.narrowing_words.issuperset(between)


def _within(period: Day, piece: Fragment, day: date) -> date | None:
    """The same weekday, day of the month or day of the year in a period that has one."""
    first = period.day.replace(day=1) if period.grain == "month" else period.day
    found: date | None = None
    if piece.rule == "date.weekday" and period.grain in ("week", "weekend"):
        if piece.last - piece.first > 1:  # "this Friday" says by itself which one it is
            return None
        found = first + timedelta((day.weekday() - first.weekday()) % 7)
    elif piece.rule in DAYS_OF_MONTH:
        found = _day(Days(first).day_of_month(day.day))
    elif piece.rule in ("date.month_day", "date.day_month"):
        found = _day(Days(first).month_day(day.month, day.day))
    return found if found and found <= period.last else None


def _day(found: Day | None) -> date | None:
    return found.day if found else None
