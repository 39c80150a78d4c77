"""Which of several moments is most likely the one asked for: it comes first, and none is lost.

A day on the side that the question looks to goes before one on the other, an exact day before a
week, month or year; among equals the order in which they were said stays.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import date

from flowengine.extract.recognizers.base import Recognition
from flowengine.extract.recognizers.days import Days
from flowengine.extract.recognizers.grouping import Moment
from flowengine.extract.recognizers.ranges import is_range
from flowengine.extract.recognizers.text import Utterance


def ranked(
    found: Sequence[tuple[Moment, Recognition]], said: Utterance, today: date | None, past: bool
) -> list[Recognition]:
    """The recognitions of the moments, best first."""
    days = Days(today, past) if today else None
    ranks = [_rank(moment, days) for moment, _ in found]
    for at, (one, other) in enumerate(itertools.pairwise(found)):
        start, end = one[0].date, other[0].date
        if start and end and is_range(start, end, said):
            ranks[at] = ranks[at + 1] = min(ranks[at], ranks[at + 1])
    order = sorted(range(len(found)), key=ranks.__getitem__)
    return [found[at][1] for at in order]


def _rank(moment: Moment, days: Days | None) -> tuple[bool, bool]:
    """Lower is better; a time without a day is as good as any day.

    No open date resolves to the wrong side, so a day that lies there was said so: "last month",
    "yesterday", or with its year.
    """
    day = moment.date.day if moment.date else None
    if day is None:
        return False, False
    wrong = days is not None and not days.reaches(day)
    corrected = any(piece.kind == "date" for piece in moment.superseded)
    return wrong, day.grain != "day" and not corrected
