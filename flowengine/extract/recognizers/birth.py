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
from flowengine.extract.recognizers.text import Utterance

_OLDEST = 120
_SPOKEN, _NUMERIC, _COMPACT = 1.0, 0.8, 0.6
_FEWEST_DIGITS = 5
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
        if context.ref is None or not _may_hold_date(said):
            return []
        today = context.ref.date()
        births = [
            birth
            for match in said.matches("date_of_birth")
            if (birth := _birth(match, said, today))
        ]
        births = births or list(_compact(said, today))
        return [
            _recognition(birth, [old.days[0] for old in earlier], said)
            for birth, earlier in standing(births, said.marks)
        ]


def _may_hold_date(said: Utterance) -> bool:
    """A month with what may be a year, three numbers, one long one, or a written date."""
    lexemes, locale = said.lexemes, said.locale
    if not lexemes.mask & locale.digit_classes:
        return False
    numbers = lexemes.numbers()
    return (
        bool(lexemes.mask & locale.month_class and lexemes.mask & locale.year_classes)
        or len(numbers) > 1 + ("oh" not in said.words)
        or "date" in said.shapes
        or any(len(number.raw or "") >= _FEWEST_DIGITS - 1 for number in numbers)
    )


def _recognition(birth: _Birth, superseded: list[date], said: Utterance) -> Recognition:
    value = birth.days[0].isoformat()
    return Recognition(
        value=value,
        text=value,
        span=said.span(birth.first, birth.last),
        confidence=birth.confidence,
        rule=birth.rule,
        alternatives=tuple(day.isoformat() for day in birth.days[1:]),
        superseded=tuple(day.isoformat() for day in superseded),
        ambiguous=len(birth.days) > 1,
        grain="day",
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
    if "month" in match:
        month = int(said.locale.value("month", match.word("month")))
        heard = _HOMOPHONES.get(match.word("homophone"), 0)
        found = make_date(year, month, heard or int(match.value("day")))
        if found and _is_birth(found, today):
            yield found
        return
    one, two = int(match.value("one")), int(match.value("two"))
    yield from _orders(one, two, year, said, today)


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


def _compact(said: Utterance, today: date) -> Iterator[_Birth]:
    """Digits run together: "16042003", "1604 2003", "22081 980", "oh three oh five eighty four"."""
    runs = said.digit_runs
    digits = "".join(run.chars for run in runs)
    if not _FEWEST_DIGITS <= len(digits) <= 9:
        return
    days = list(_split(digits, said, today))
    if not days and len(digits) in (7, 9):
        days = [day for shorter in _one_less(digits) for day in _split(shorter, said, today)]
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


def _one_less(digits: str) -> Iterator[str]:
    """Speech recognition writes "twenty seven" as 207: a zero or a doubled digit too many."""
    for place, digit in enumerate(digits):
        if digit == "0" or digits[place + 1 : place + 2] == digit:
            yield digits[:place] + digits[place + 1 :]
