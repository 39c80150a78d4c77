"""date_of_birth: a day in the past, at most 120 years ago, however it was put."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer
from flowengine.extract.recognizers.days import make_date
from flowengine.extract.recognizers.grammar import Match
from flowengine.extract.recognizers.marks import standing
from flowengine.extract.recognizers.misheard import month_and_day
from flowengine.extract.recognizers.numbers import CONFUSED
from flowengine.extract.recognizers.text import Utterance

_OLDEST = 120
_SPOKEN, _NUMERIC, _COMPACT, _MISHEARD = 1.0, 0.8, 0.6, 0.4
_FEWEST_DIGITS = 5
_WEDNESDAY = 2
_HOMOPHONES = {"for": 4, "to": 2}
_SPLITS = {8: ((2, 2, 4),), 7: ((2, 1, 4), (1, 2, 4)), 6: ((2, 2, 2), (1, 1, 4)), 5: ((2, 2, 1),)}
"""How a run of digits may divide into two numbers and a year."""


@dataclass(slots=True)
class _Birth:
    """Possible days, the likeliest first, said at tokens `first` up to `last`."""

    first: int
    last: int
    days: tuple[date, ...]
    rule: str
    confidence: float


@dataclass(frozen=True, kw_only=True)
class DateOfBirthRecognizer(Recognizer):
    """The caller's birthday: "three five eighty four", "the second of the third seventy nine".

    Numbers alone are read in the locale's order; where both orders exist, the other is an
    alternative. Two-digit years are the latest that lie in the past.
    """

    kind: ClassVar[str] = "date_of_birth"

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        if context.ref is None or not _may_hold_date(said, bool(context.focus)):
            return []
        today = context.ref.date()
        lists = ("date_of_birth_twenty", "date_of_birth") if context.focus else ("date_of_birth",)
        births = [birth for match in said.matches(*lists) if (birth := _birth(match, said, today))]
        births = births or list(_compact(said, today))
        if context.focus and not births:
            births = list(_misheard(said, today))
        if births and said.marks.changing:
            births.extend(_with_other_year(births[-1], said, today))
        return [
            _recognition(birth, [old.days[0] for old in earlier], said, today)
            for birth, earlier in standing(births, said.marks)
        ]


def _may_hold_date(said: Utterance, asked: bool) -> bool:
    """A month with what may be a year, three numbers, one long one, or a written date.

    In an answer also "12:05 15": speech recognition takes digits for a clock.
    """
    lexemes, locale = said.lexemes, said.locale
    if not lexemes.mask & locale.digit_classes:
        return False
    numbers = lexemes.numbers()
    return (
        bool(lexemes.mask & locale.month_class and lexemes.mask & locale.year_classes)
        or len(numbers) > 1 + ("oh" not in said.words)
        or "date" in said.shapes
        or (asked and "clock" in said.shapes)
        or any(len(number.raw or "") >= _FEWEST_DIGITS - 1 for number in numbers)
    )


def _recognition(
    birth: _Birth, superseded: list[date], said: Utterance, today: date
) -> Recognition:
    value = birth.days[0].isoformat()
    others = (*birth.days[1:], *_confusable(birth.days, today))
    return Recognition(
        value=value,
        text=value,
        span=said.span(birth.first, birth.last),
        confidence=birth.confidence,
        rule=birth.rule,
        alternatives=tuple(day.isoformat() for day in others),
        superseded=tuple(day.isoformat() for day in superseded),
        ambiguous=len(birth.days) > 1,
        grain="day",
    )


def _confusable(days: tuple[date, ...], today: date) -> Iterator[date]:
    """Thirteen and thirty, 1919 and 1990: what speech recognition mixes up."""
    for day in days:
        century, year = divmod(day.year, 100)
        swapped = [
            make_date(century * 100 + CONFUSED.get(year, year), day.month, day.day),
            make_date(day.year, day.month, CONFUSED.get(day.day, 0)),
        ]
        yield from (
            other for other in swapped if other and _is_birth(other, today) and other not in days
        )


def _birth(match: Match, said: Utterance, today: date) -> _Birth | None:
    first, last = match.tokens
    days = tuple(_days(match, said, today))
    if not days:
        return None
    confidence = _SPOKEN if len(days) == 1 else _NUMERIC
    return _Birth(first, last, days, match.rule, confidence)


def _days(match: Match, said: Utterance, today: date) -> Iterator[date]:
    if match.rule == "birth.written":
        fields = [int(f) for f in match.word("date").replace("/", "-").replace(".", "-").split("-")]
        if fields[0] > 31:
            found = make_date(*fields)
            if found and _is_birth(found, today):
                yield found
            return
        yield from _orders(fields[0], fields[1], _full_year(fields[2], today), said, today)
        return
    year = _year(match, today)
    if match.rule == "birth.twenty":
        yield from _twenty(match, said, year, today)
        return
    if "month" in match:
        month = int(said.locale.value("month", match.word("month")))
        heard = _HOMOPHONES.get(match.word("homophone"), 0)
        found = make_date(year, month, heard or int(match.value("day")))
        if found and _is_birth(found, today):
            yield found
        return
    one, two = int(match.value("one")), int(match.value("two"))
    yield from _orders(one, two, year, said, today)


def _twenty(match: Match, said: Utterance, year: int, today: date) -> Iterator[date]:
    """ "Wednesday 9th": the twenty-ninth, unless that day was a Wednesday."""
    month, day = month_and_day(match, said)
    found = [make_date(year, month, 20 + day), make_date(year, month, day)]
    if "weekday" in match and found[1] and found[1].weekday() == _WEDNESDAY:
        found.reverse()
    yield from (one for one in found if one and _is_birth(one, today))


def _orders(one: int, two: int, year: int, said: Utterance, today: date) -> Iterator[date]:
    """The locale's order first, the other where it is a different day."""
    pairs = [(one, two), (two, one)]
    if said.locale.day_first:
        pairs.reverse()
    for month, day in dict.fromkeys(pairs):
        found = make_date(year, month, day)
        if found and _is_birth(found, today):
            yield found


def _is_birth(day: date, today: date) -> bool:
    return day <= today and today.year - day.year <= _OLDEST


def _year(match: Match, today: date) -> int:
    if "year_clock" in match:  # "19:19" for 1919
        return int(match.word("year_clock").replace(":", ""))
    values = [int(number.value) for number in match.numbers("year")]
    if len(values) == 1 and values[0] >= 1000 and match.slot_size("year") > 1:
        return values[0] + _HOMOPHONES.get(match.word("year"), 0)
    if len(values) == 2:
        return values[0] + values[1] if values[0] > 1000 else values[0] * 100 + values[1]
    return _full_year(values[0], today)


def _full_year(value: int, today: date) -> int:
    """Two digits: the latest such year that has begun."""
    if value >= 100:
        return value
    century = today.year // 100 * 100
    return century + value if century + value <= today.year else century - 100 + value


def _with_other_year(birth: _Birth, said: Utterance, today: date) -> Iterator[_Birth]:
    """ "March fifth eighty four, no, eighty five": the rest of the date stays."""
    for match in said.matches("year"):
        first, last = match.tokens
        if first >= birth.last and said.marks.corrected(birth.last, first, last):
            days = [make_date(_year(match, today), day.month, day.day) for day in birth.days]
            kept = tuple(day for day in days if day and _is_birth(day, today))
            if kept:
                yield _Birth(first, last, kept, match.rule, birth.confidence)


def _misheard(said: Utterance, today: date) -> Iterator[_Birth]:
    """A date of which one part is no number; a guess, for the answer to the question only."""
    for match in said.matches("date_of_birth_heard"):
        first, last = match.tokens
        found = make_date(_year(match, today), *month_and_day(match, said))
        if found and _is_birth(found, today):
            yield _Birth(first, last, (found,), match.rule, _MISHEARD)


def _compact(said: Utterance, today: date) -> Iterator[_Birth]:
    """Digits run together: "16042003", "1604 2003", "22081 980", "oh three oh five eighty four"."""
    runs = said.digit_runs
    digits = "".join(run.chars for run in runs)
    if not _FEWEST_DIGITS <= len(digits) <= 9:
        return
    days = list(_split(digits, said, today))
    if not days and len(digits) in (7, 9):
        days = [day for other in _repaired(digits) for day in _split(other, said, today)]
    if days:
        unique = tuple(dict.fromkeys(days))
        yield _Birth(runs[0].first, runs[-1].last, unique, "birth.digits", _COMPACT)


def _split(digits: str, said: Utterance, today: date) -> Iterator[date]:
    for one, two, year in _SPLITS.get(len(digits), ()):
        a, b = int(digits[:one]), int(digits[one : one + two])
        full = _full_year(int(digits[one + two : one + two + year]), today)
        yield from _orders(a, b, full, said, today)
    if len(digits) == 8:
        found = make_date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
        if found and _is_birth(found, today):
            yield found


def _repaired(digits: str) -> Iterator[str]:
    """Speech recognition writes "twenty seven" as 207, and "nineteen eighty eight" as 198."""
    for place, digit in enumerate(digits):
        if digit == "0" or digits[place + 1 : place + 2] == digit:
            yield digits[:place] + digits[place + 1 :]
    if len(digits) == 7:
        yield digits + digits[-1]
