"""Two dates as a range: "from the 3rd to the 6th of January", "Monday till Wednesday"."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from flowengine.extract.recognizers.days import Day, Days, make_date
from flowengine.extract.recognizers.fragments import Fragment
from flowengine.extract.recognizers.text import Utterance

DAYS_OF_MONTH = ("date.day", "bare.day", "date.number")
"""Rules that give a day of a month without the month."""
_APART = 2
"""Words between the two ends at most: "to the"."""


def in_order(fragments: Sequence[Fragment], said: Utterance) -> None:
    """Let the end of a range come after its beginning, and both lie in the month named once."""
    dates = [piece for piece in fragments if piece.kind == "date"]
    for start, end in itertools.pairwise(dates):
        if start.day and end.day and is_range(start, end, said):
            start.day, end.day = _fitted(start, end, start.day, end.day)


def is_range(start: Fragment, end: Fragment, said: Utterance) -> bool:
    """Whether two dates are the ends of one range."""
    between = said.words[start.last : end.first]
    if not between or len(between) > _APART:
        return False
    moved = end.first in said.marks.new_values  # "from Tuesday to Thursday" after "move it"
    return not moved and not said.locale.range_words.isdisjoint(between)


def _fitted(start: Fragment, end: Fragment, first: Day, last: Day) -> tuple[Day, Day]:
    if start.rule in DAYS_OF_MONTH and end.rule.startswith("date.day_month"):
        same_month = make_date(last.day.year, last.day.month, first.day.day)
        if same_month and same_month <= last.day:
            return Day(same_month), last
    if last.day < first.day:
        later = _later(end, first.day, last.day)
        return first, replace(last, day=later, alternatives=()) if later else last
    return first, last


def _later(end: Fragment, first: date, last: date) -> date | None:
    """The same weekday, or day of the month, after the beginning."""
    if end.rule == "date.weekday":
        return last + timedelta(-(-(first - last).days // 7) * 7)
    if end.rule in DAYS_OF_MONTH:
        found = Days(first).day_of_month(last.day)
        return found.day if found else None
    return None
