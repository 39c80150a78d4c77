"""datetime, date and time: fragments of an utterance put together to moments."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from flowengine.extract.recognizers.base import (
    MOST_VALUES,
    Context,
    Prefer,
    Recognition,
    Recognizer,
    RecognizerError,
)
from flowengine.extract.recognizers.feasts import Feasts
from flowengine.extract.recognizers.fragments import Clock, Fragment, Reading
from flowengine.extract.recognizers.grouping import Moment, grouped
from flowengine.extract.recognizers.narrowing import narrow
from flowengine.extract.recognizers.options import one_from
from flowengine.extract.recognizers.ranges import in_order
from flowengine.extract.recognizers.ranking import ranked
from flowengine.extract.recognizers.text import Utterance
from flowengine.extract.recognizers.times import fragments_of
from flowengine.extract.recognizers.wall import (
    canonical,
    check_clock_change,
    half_day,
    hour_in_part,
    other_values,
)

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DOUBTFUL, _HEDGED, _BARE = 0.7, 0.8, 0.9


@dataclass(frozen=True, kw_only=True)
class DatetimeRecognizer(Recognizer):
    """Dates, times and both: "a week from Friday", "tomorrow at half past three".

    `hours` are the business hours that decide a bare "at four"; `form="parts"` makes the value
    an object with time, day, weekday, part and date. `holidays` names a country, or a part of one
    as "CA-ON", whose public holidays count by name; it needs the extra `flowengine[holidays]`.
    """

    kind: ClassVar[str] = "datetime"
    wants: ClassVar[frozenset[str]] = frozenset({"date", "time"})
    prefer: Prefer | None = None
    form: str = "value"
    hours: Sequence[int] = (7, 18)
    holidays: str | None = None
    _feasts: Feasts | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        one_from(self.kind, "form", self.form, ("value", "parts"))
        one_from(self.kind, "prefer", self.prefer or "future", ("future", "past"))
        hours = tuple(self.hours)
        if len(hours) != 2 or not all(0 <= hour <= 24 for hour in hours) or hours[0] > hours[1]:
            raise RecognizerError(f"{self.kind}: hours are two of 0..24 in order, such as [7, 18].")
        object.__setattr__(self, "hours", hours)
        object.__setattr__(self, "_feasts", Feasts(self.holidays) if self.holidays else None)

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        if not self._feasts and not said.lexemes.mask & said.locale.datetime_classes:
            return []
        moments = self._moments(said, context)
        if not moments:
            return []
        zone = _zone(context.tz)
        read = [(moment, self._recognition(moment, said, zone)) for moment in moments]
        found = [(moment, one) for moment, one in read if one]
        results = [one for _, one in found]
        if len(results) <= 1:
            return results
        _link(results, said)
        now = _now(context)
        return ranked(found, said, now.date() if now else None, self._looks_back(context))

    def _looks_back(self, context: Context) -> bool:
        return (self.prefer or context.prefer) == "past"

    def _moments(self, said: Utterance, context: Context) -> list[Moment]:
        """What was said, shared by datetime, date and time fields asked in the same way."""
        past = self._looks_back(context)
        bare = _may_be_bare(said, context) and self._dates_are_asked(context)
        key = (context.ref, context.tz, past, context.focus, bare, self.holidays)
        found = said.memo.get(key)
        if found is None:
            reading = Reading(said.locale, _now(context), past)
            pieces = self._fragments(said, context, reading)
            if self._feasts:
                pieces = _merged(pieces, self._feasts.fragments(said, reading))
            found = said.memo[key] = grouped(pieces, said)
        return found

    def _fragments(self, said: Utterance, context: Context, reading: Reading) -> list[Fragment]:
        lists = ["datetime", "date_lead"]
        if _may_be_bare(said, context):
            if context.focus and self._dates_are_asked(context):
                lists.append("date_bare")
            lists.append("datetime_bare")
        found: list[Fragment] = []
        for match in said.matches(*lists):
            if not self._counts(match.rule, said, context):
                continue
            if match.rule.startswith("bare.") and not self._takes_bare(
                match.rule, match.tokens[0], found, said, context
            ):
                continue
            if match.rule == "bare.number":
                match = match.renamed(self._bare_number(context))
            found.extend(fragments_of(match, reading))
            if len(found) > MOST_VALUES:
                break
        kept = _without_needless(found, said)
        if len(kept) > 1:
            in_order(kept, said)
            if reading.days:
                narrow(kept, said, reading.days)
        return kept

    def _counts(self, rule: str, said: Utterance, context: Context) -> bool:
        """ "five thirty" may be an amount when another question was put, "around six" a count."""
        if rule == "time.opening":
            return context.focus is not False
        return rule != "time.near" or bool(context.focus) or not said.elliptical

    def _bare_number(self, context: Context) -> str:
        """A lone number answers the question: a day where a date was asked, else an hour."""
        return "date.number" if self._dates_are_asked(context) else "time.bare"

    def _dates_are_asked(self, context: Context) -> bool:
        return self.kind == "date" or context.asked == "date"

    def _takes_bare(
        self, rule: str, first: int, before: Sequence[Fragment], said: Utterance, context: Context
    ) -> bool:
        if context.focus:
            return True
        plain = rule in ("bare.hour_minute", "bare.numeric")
        if context.focus is None and said.elliptical and plain:
            return True
        timed = [piece for piece in before if piece.kind == "time"]
        return bool(timed) and said.marks.corrected(timed[-1].last, first)

    def _recognition(
        self, moment: Moment, said: Utterance, zone: ZoneInfo | None
    ) -> Recognition | None:
        pieces = [piece for piece in moment.pieces() if piece.kind in self.wants]
        if not pieces:
            return None
        day = moment.date.day if moment.date and "date" in self.wants else None
        clock, other = self._clock(moment) if moment.time and "time" in self.wants else (None, None)
        value = canonical(day.day if day else None, clock)
        others = tuple(other_values(day, clock, other)) if other or (day and day.ambiguous) else ()
        first = min(pieces[0].first, pieces[-1].first)
        last = max(pieces[0].last, pieces[-1].last)
        marks = said.marks
        found = Recognition(
            value=value,
            text=value,
            span=said.span(first, last),
            confidence=1.0,
            rule="+".join([piece.rule for piece in pieces]),
            alternatives=others,
            superseded=tuple([self._plain(piece) for piece in moment.superseded]),
            ambiguous=bool(others) or (day is not None and day.ambiguous),
            approximate=marks.approximate(first, last),
            grain="minute" if clock else (day.grain if day else None),
            bound=marks.bound(first),
            parts=_parts(moment, day is not None, value),
        )
        if day and clock and zone:
            check_clock_change(found, day.day, clock, zone)
        found.confidence = _confidence(found, pieces, said)
        if self.form == "parts":
            found.value = {name: part for name, part in (found.parts or {}).items() if part}
        return found

    def _plain(self, piece: Fragment) -> str:
        clock = self._clock(Moment(time=piece))[0] if piece.clock else None
        return canonical(piece.day.day if piece.day else None, clock)

    def _clock(self, moment: Moment) -> tuple[Clock, Clock | None]:
        """The hour on 24 hours and, where nothing decides it, the other reading."""
        piece = moment.time
        assert piece is not None
        assert piece.clock is not None
        hour, minute = piece.clock
        if piece.meridiem:
            return (half_day(hour, piece.meridiem == "p"), minute), None
        if moment.part and hour <= 12:
            return (hour_in_part(hour, moment.part), minute), None
        if piece.fixed or hour > 12:
            return (hour, minute), None
        early, late = hour % 12, hour % 12 + 12
        opening, closing = self.hours
        chosen = early if opening <= early < closing and early else late
        if not opening <= chosen <= closing and opening <= early <= closing:
            chosen = early
        return (chosen, minute), (early + late - chosen, minute)


@dataclass(frozen=True, kw_only=True)
class DateRecognizer(DatetimeRecognizer):
    """Only the day."""

    kind: ClassVar[str] = "date"
    wants: ClassVar[frozenset[str]] = frozenset({"date"})


@dataclass(frozen=True, kw_only=True)
class TimeRecognizer(DatetimeRecognizer):
    """Only the time of day."""

    kind: ClassVar[str] = "time"
    wants: ClassVar[frozenset[str]] = frozenset({"time"})


def _merged(pieces: list[Fragment], named: list[Fragment]) -> list[Fragment]:
    """Named days in place of what lies inside their names."""
    kept = [
        piece
        for piece in pieces
        if not any(piece.first < day.last and day.first < piece.last for day in named)
    ]
    return sorted([*kept, *named], key=lambda piece: piece.first)


def _without_needless(found: list[Fragment], said: Utterance) -> list[Fragment]:
    """Beside a date in full a bare number is none: "I need one on Friday"; so with times."""
    full = {piece.kind for piece in found if not piece.bare}
    before: Fragment | None = None
    kept: list[Fragment] = []
    for piece in found:
        marks = said.marks
        corrects = before is not None and marks.corrected(before.last, piece.first)
        offered = any(
            marks.joined(piece.last, other.first) or marks.joined(other.last, piece.first)
            for other in found
        )
        if not piece.bare or piece.kind not in full or corrects or offered:
            kept.append(piece)
            before = piece
    return kept


def _may_be_bare(said: Utterance, context: Context) -> bool:
    """Whether numbers without a word of time may count: in an answer, or after a correction."""
    marks = said.marks
    corrected = marks.corrections or marks.new_values
    return bool(context.focus or corrected or (context.focus is None and said.elliptical))


def _now(context: Context) -> datetime | None:
    now = context.ref
    if now is None:
        return None
    zone = _zone(context.tz)
    if zone is None:
        return now
    return now.replace(tzinfo=zone) if now.tzinfo is None else now.astimezone(zone)


def _zone(name: str | None) -> ZoneInfo | None:
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise RecognizerError(f"there is no time zone {name!r}; write it as Area/City.") from error


def _parts(moment: Moment, dated: bool, value: str) -> dict[str, Any]:
    word = moment.date.word if moment.date else ""
    date, time = (value[:10], value[11:]) if dated else (None, value)
    return {
        "time": time or None,
        "day": word.removesuffix("'s") if word and not word.isdecimal() else None,
        "weekday": _WEEKDAYS[int(word)] if word.isdecimal() else None,
        "part": moment.part or None,
        "date": date,
    }


def _confidence(found: Recognition, pieces: Iterable[Fragment], said: Utterance) -> float:
    confidence = 1.0
    if found.ambiguous:
        confidence *= _DOUBTFUL
    if said.marks.hedged():
        confidence *= _HEDGED
    if any(piece.bare or piece.rule.startswith("bare.") for piece in pieces):
        confidence *= _BARE
    return 1.0 if confidence == 1.0 else round(confidence, 3)


def _link(results: Sequence[Recognition], said: Utterance) -> None:
    """Two moments offered together are alternatives of each other."""
    for one, other in itertools.pairwise(results):
        ends = [end for end in said.ends if end <= one.span[1]]
        starts = [start for start in said.starts if start < other.span[0]]
        if said.marks.joined(len(ends), len(starts)):
            one.ambiguous = other.ambiguous = True
            one.alternatives = (other.value, *one.alternatives)
            other.alternatives = (one.value, *other.alternatives)
