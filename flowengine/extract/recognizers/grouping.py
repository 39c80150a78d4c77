"""Dates, times and parts of day of one utterance, put together to moments."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from flowengine.extract.recognizers.fragments import Fragment
from flowengine.extract.recognizers.marks import standing
from flowengine.extract.recognizers.text import Utterance


@dataclass(slots=True)
class Moment:
    """A date, a time or both that belong together."""

    date: Fragment | None = None
    time: Fragment | None = None
    part: str = ""
    superseded: list[Fragment] = field(default_factory=list[Fragment])
    shared_date: bool = False

    def pieces(self) -> list[Fragment]:
        own_date = None if self.shared_date else self.date
        return [piece for piece in (own_date, self.time) if piece]


def grouped(fragments: Sequence[Fragment], said: Utterance) -> list[Moment]:
    """Groups fragments: a second date or time begins the next moment."""
    marks = said.marks
    if len(fragments) <= 1 and not marks.changing:
        return [
            Moment(date=piece) if piece.kind == "date" else Moment(time=piece)
            for piece in fragments
            if piece.kind != "part"
        ]
    replaced: dict[int, list[Fragment]] = {}
    kept: set[int] = set()
    for kind in ("date", "time"):
        pieces = [piece for piece in fragments if piece.kind == kind]
        for piece, earlier in standing(pieces, marks):
            replaced[id(piece)] = earlier
            kept.add(id(piece))
    moments = [Moment()]
    for piece in fragments:
        if piece.kind == "part":
            continue
        if id(piece) not in kept:
            continue
        moment = moments[-1]
        if getattr(moment, piece.kind) is not None:
            moment = Moment()
            moments.append(moment)
        setattr(moment, piece.kind, piece)
        moment.superseded.extend(replaced[id(piece)])
    _spread_parts(moments, fragments)
    _share_dates(moments, said)
    if len(moments) == 1 and not moments[0].pieces():
        return []
    return moments


def _spread_parts(moments: Sequence[Moment], fragments: Sequence[Fragment]) -> None:
    """A part of day belongs to the time nearest to it, else to the nearest date."""
    for part in fragments:
        if part.kind != "part":
            continue
        timed = [m for m in moments if m.time] or [m for m in moments if m.date]
        if timed:
            nearest = min(timed, key=lambda m: _gap(part, m.time or m.date))
            if _gap(part, nearest.time or nearest.date) <= 6:
                nearest.part = part.part


def _gap(one: Fragment, other: Fragment | None) -> int:
    if other is None:
        return 99
    return max(other.first - one.last, one.first - other.last, 0)


def _share_dates(moments: Sequence[Moment], said: Utterance) -> None:
    """ "Friday at two or three", "between two and four on Friday": one date for both times."""
    for one, other in itertools.pairwise(moments):
        if one.time is None or other.time is None:
            continue
        if other.time.first - one.time.last > 2:
            continue
        for giver, taker in ((one, other), (other, one)):
            if giver.date and not giver.shared_date and taker.date is None:
                taker.date, taker.shared_date = giver.date, True
        if other.part and not one.part and not one.time.fixed:
            one.part = other.part
