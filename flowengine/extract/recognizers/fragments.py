"""Pieces of a spoken date or time: what each grammar rule says, resolved on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal, TypeAlias

from flowengine.extract.recognizers.days import Day, Days, holiday_in, make_date
from flowengine.extract.recognizers.grammar import Match
from flowengine.extract.recognizers.locale import Locale
from flowengine.extract.recognizers.numbers import Number

Clock: TypeAlias = tuple[int, int]
_SECONDS = {"S": 1, "M": 60, "H": 3600}


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


@dataclass(frozen=True, slots=True)
class Reading:
    """What fragments are resolved against: today, the direction, the present moment, order."""

    locale: Locale
    now: datetime | None
    past: bool = False

    @property
    def days(self) -> Days | None:
        return Days(self.now.date(), self.past) if self.now else None


def fragments_of(match: Match, reading: Reading) -> list[Fragment]:
    """The fragments of one match; empty when its words make no date or time."""
    family, _, name = match.rule.partition(".")
    if family == "time" or match.rule == "bare.hour_minute":
        fragment = _time(match, reading, name)
        return [fragment] if fragment else []
    if family == "part":
        return _part(match, reading, name)
    if family == "offset":
        return _offset(match, reading, name)
    return _date(match, reading, name)


# Dates


def _date(match: Match, reading: Reading, name: str) -> list[Fragment]:
    rule = _DATE_RULES[name]
    day = rule(match, reading)
    if day is None:
        return []
    first, last = match.tokens
    fragment = Fragment("date", first, last, match.rule, day=day)
    if name == "relday" or name == "part_today":
        fragment.word = match.word("relday")
        part = reading.locale.classes["night_day"].get(fragment.word, "")
        part = part or (reading.locale.value("part", match.word("part")) if "part" in match else "")
        if part:
            return [fragment, Fragment("part", first, last, match.rule, part=part)]
    elif "weekday" in match:
        fragment.word = str(_weekday(match, reading))
    return [fragment]


def _weekday(match: Match, reading: Reading, slot: str = "weekday") -> int | None:
    if slot not in match:
        return None
    word = match.word(slot)
    classes = reading.locale.classes
    return int(classes["weekday"].get(word) or classes["short_weekday"][word])


def _shift(match: Match, reading: Reading, default: int = 0) -> int:
    if "shift2" in match:
        return 0  # "this coming Friday"
    return int(reading.locale.value("shift", match.word("shift"))) if "shift" in match else default


def _month(match: Match, reading: Reading) -> int:
    if match.number("month"):
        return int(match.value("month"))
    return int(reading.locale.value("month", match.word("month")))


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


def _written(match: Match, reading: Reading) -> Day | None:
    return parse_written(match.word("date"), reading.locale.day_first, reading.now)


def parse_written(text: str, day_first: bool, now: datetime | None) -> Day | None:
    """A date in digits; the locale's order first, the other where only that one exists."""
    fields = [int(field) for field in text.replace("/", "-").replace(".", "-").split("-")]
    if len(text.replace("/", "-").split("-")[0]) == 4:
        found = make_date(*fields)
        return Day(found) if found else None
    year = fields[2]
    if year < 100:
        pivot = (now.year if now else 2000) + 20
        year = year_of([Number(0, 1, year)], pivot)
    a, b = fields[0], fields[1]
    readings = [make_date(year, a, b), make_date(year, b, a)]
    if day_first:
        readings.reverse()
    found = [day for day in readings if day]
    return Day(found[0]) if found else None


def _month_day(match: Match, reading: Reading) -> Day | None:
    month, day = _month(match, reading), int(match.value("day"))
    years = match.numbers("year")
    if years:
        found = make_date(
            year_of(years, (reading.now.year if reading.now else 2000) + 20), month, day
        )
        return Day(found) if found else None
    days = reading.days
    return days.month_day(month, day, _weekday(match, reading)) if days else None


def _day_of_month(match: Match, reading: Reading) -> Day | None:
    days = reading.days
    return days.day_in_month(int(match.value("day")), _shift(match, reading)) if days else None


def _day(match: Match, reading: Reading) -> Day | None:
    days = reading.days
    day = int(match.value("day") or match.value("hour"))
    if days is None or not 1 <= day <= 31:
        return None
    return days.day_of_month(day, _weekday(match, reading))


def _shift_day(match: Match, reading: Reading) -> Day | None:
    """ "last thirteenth", "next thirtieth"."""
    days = reading.days
    if days is None:
        return None
    past = _shift(match, reading) < 0
    return Days(days.today, past).day_of_month(int(match.value("day")))


def _plain_weekday(match: Match, reading: Reading) -> Day | None:
    days, weekday = reading.days, _weekday(match, reading)
    if days is None or weekday is None:
        return None
    if "shift" not in match:
        return days.weekday(weekday)
    return days.shifted_weekday(weekday, match.word("shift"), _shift(match, reading))


def _weekday_of_week(match: Match, reading: Reading) -> Day | None:
    days, weekday = reading.days, _weekday(match, reading)
    if days is None or weekday is None:
        return None
    return Day(days.in_week(weekday, _shift(match, reading)))


def _weekday_plus(match: Match, reading: Reading) -> Day | None:
    days, weekday = reading.days, _weekday(match, reading)
    if days is None or weekday is None:
        return None
    unit = reading.locale.value("unit", match.word("unit")) if "unit" in match else "W"
    start = days.weekday(weekday)
    if "shift" in match:
        start = days.shifted_weekday(weekday, match.word("shift"), _shift(match, reading))
    moved = days.plus(int(match.value("count", 1)), unit, start.day)
    return Day(moved) if moved else None


def _relday(match: Match, reading: Reading) -> Day | None:
    if reading.now is None:
        return None
    shift = int(reading.locale.value("relday", match.word("relday"))) if "relday" in match else 0
    return Day(reading.now.date() + timedelta(shift))


def _day_after(match: Match, reading: Reading) -> Day | None:
    start = _relday(match, reading)
    if start is None:
        return None
    past = match.word("direction") in reading.locale.classes["past"]
    return start.plus(1 if past else -1)


def _plus_from(match: Match, reading: Reading) -> Day | None:
    start, days = _relday(match, reading), reading.days
    if start is None or days is None:
        return None
    unit = reading.locale.value("unit", match.word("unit"))
    moved = days.plus(int(match.value("count", 1)), unit, start.day)
    return Day(moved) if moved else None


def _edge(match: Match, reading: Reading) -> Day | None:
    days = reading.days
    edge = reading.locale.value("edge", match.word("edge"))
    if days is None:
        return None
    if "month" in match:
        first = days.month(_month(match, reading), None, at_end=edge == "end")
        return Day(first.day.replace(day=15)) if edge == "middle" else Day(first.day)
    unit = reading.locale.value("unit", match.word("unit"))
    return days.edge(edge, unit, _shift(match, reading)) if unit in ("W", "MO", "Y") else None


def _holiday(match: Match, reading: Reading) -> Day | None:
    days = reading.days
    if days is None:
        return None
    if "holiday_weekday" in match:
        offset = {4: -2, 0: 1}.get(_weekday(match, reading, "holiday_weekday") or 0, 0)
        return days.holiday(f"easter{offset:+d}")
    eve = -1 if match.has_word("eve") else 0
    if "year_word" in match:
        rule, eve = ("12-31" if eve else "01-01"), 0
    else:
        slot = "holiday" if "holiday" in match else "holiday_day"
        rule = reading.locale.value(slot, match.word(slot))
    years = match.numbers("year") or match.numbers("year4")
    if years:
        found = holiday_in(rule, year_of(years, days.today.year + 20))
        return Day(found).plus(eve) if found else None
    return days.holiday(rule, eve)


def _whole_month(match: Match, reading: Reading) -> Day | None:
    if "year4" in match:
        found = make_date(int(match.value("year4")), _month(match, reading), 1)
        return Day(found, grain="month") if found else None
    days = reading.days
    if days is None:
        return None
    lead = match.word_before
    shift = _shift(match, reading) if "shift" in match else None
    if lead in reading.locale.classes["since"]:
        days = replace(days, past=True)
    return days.month(_month(match, reading), shift, lead in reading.locale.classes["until"])


def _period(match: Match, reading: Reading) -> Day | None:
    days = reading.days
    if days is None:
        return None
    unit = reading.locale.value("unit", match.word("unit"))
    return days.period(unit, _shift(match, reading))


def _numeric(match: Match, reading: Reading) -> Day | None:
    one, two = int(match.value("one")), int(match.value("two"))
    year = year_of(match.numbers("year"), (reading.now.year if reading.now else 2000) + 20)
    pair = (two, one) if reading.locale.day_first else (one, two)
    found = make_date(year, *pair) or make_date(year, *reversed(pair))
    return Day(found) if found else None


_DATE_RULES: Mapping[str, Callable[[Match, Reading], Day | None]] = {
    "written": _written,
    "month_day_year": _month_day,
    "day_month_year": _month_day,
    "month_day": _month_day,
    "day_month": _month_day,
    "day_of_month": _day_of_month,
    "month_shift_day": _day_of_month,
    "weekday_day": _day,
    "day": _day,
    "number": _day,
    "shift_day": _shift_day,
    "numeric": _numeric,
    "weekday": _plain_weekday,
    "week_weekday": _weekday_of_week,
    "weekday_week": _weekday_of_week,
    "weekday_in_weeks": _weekday_plus,
    "weekday_plus": _weekday_plus,
    "day_after": _day_after,
    "plus_from": _plus_from,
    "edge": _edge,
    "edge_month": _edge,
    "holiday": _holiday,
    "part_today": _relday,
    "relday": _relday,
    "month": _whole_month,
    "month_year": _whole_month,
    "period": _period,
}


# Times and parts of day


def _time(match: Match, reading: Reading, name: str) -> Fragment | None:
    first, last = match.tokens
    fragment = Fragment("time", first, last, match.rule, meridiem=match.initial("mer"))
    clock = _clock_of(match, reading, name)
    if clock is None:
        return None
    hour, minute = clock
    if not (0 <= minute < 60 and (0 <= hour < 24 or (hour, minute) == (24, 0))):
        return None
    fragment.clock = (hour % 24, minute)
    raw = match.number("hour")
    zero_led = raw is not None and (raw.raw or "").startswith("0") and hour > 0
    written_led = "clock" in match and match.word("clock").startswith("0")
    fragment.fixed = bool(fragment.meridiem) or hour > 12 or hour == 0 or zero_led or written_led
    fragment.fixed = fragment.fixed or "named_time" in match or name == "hundred"
    return fragment


def _clock_of(match: Match, reading: Reading, name: str) -> Clock | None:
    if "clock" in match:
        hour, minute = match.word("clock").split(":")
        return int(hour), int(minute)
    if name == "relative":
        return _relative_clock(match, reading)
    if "named_time" in match:
        return _named(match, reading)
    number = match.number("hour")
    if number is None:
        return None
    if number.raw and not number.raw.isdecimal():
        hour, minute = number.raw.split(".")
        return int(hour), int(minute)
    value = int(number.value)
    if value > 24 or len(number.raw or "") > 2:
        return divmod(value, 100)
    return value, int(match.value("minute"))


def _named(match: Match, reading: Reading) -> Clock:
    hour, minute = reading.locale.value("named_time", match.word("named_time")).split(":")
    return int(hour), int(minute)


def _relative_clock(match: Match, reading: Reading) -> Clock | None:
    """ "quarter to five", "ten past six", "twenty minutes after noon"."""
    number = match.number("minute")
    if number is None:
        word = match.word("minute")
        minutes = int(reading.locale.value("fraction", word)) if word else 15
    else:
        minutes = int(number.value)
        if minutes % 5 and "clock_unit" not in match and "mer" not in match:
            return None  # "four to six" is a range
    hour = _named(match, reading)[0] if "named_time" in match else int(match.value("hour"))
    sign_word = match.word("sign")
    if sign_word in reading.locale.classes["past"]:
        return hour, minutes
    return ((hour - 1) % 24 or 12 if hour <= 12 else hour - 1), 60 - minutes


def _part(match: Match, reading: Reading, name: str) -> list[Fragment]:
    first, last = match.tokens
    if name == "night":
        if reading.now is None:
            return []
        day = Day(reading.now.date() - timedelta(1))
        return [
            Fragment("date", first, last, match.rule, day=day),
            Fragment("part", first, last, match.rule, part="night"),
        ]
    part = reading.locale.value("part", match.word("part"))
    return [Fragment("part", first, last, match.rule, part=part)]


# Offsets from the present moment


def _offset(match: Match, reading: Reading, name: str) -> list[Fragment]:
    now = reading.now
    if now is None:
        return []
    word = match.word("unit")
    unit = reading.locale.value("unit", word) if word else "H"
    first, last = match.tokens
    sign = -1 if name == "ago" or match.last_word in ("ago", "back") else 1
    if unit not in _SECONDS:
        return _day_offset(match, reading, unit, sign * int(match.value("count", 1)))
    count = float(match.value("count", 1))
    count = {"half": 0.5, "quarter": 0.25, "compound": count + 0.5}.get(name, count)
    moved = _later(now, sign * count * _SECONDS[unit])
    if moved is None:
        return []
    return [
        Fragment("date", first, last, match.rule, day=Day(moved.date())),
        Fragment("time", first, last, match.rule, clock=(moved.hour, moved.minute), fixed=True),
    ]


def _later(now: datetime, seconds: float) -> datetime | None:
    """Hours pass in real time, also over a change of the clocks."""
    try:
        if now.tzinfo is None:
            return now + timedelta(seconds=seconds)
        moved = now.astimezone(UTC) + timedelta(seconds=seconds)
        return moved.astimezone(now.tzinfo)
    except OverflowError:
        return None


def _day_offset(match: Match, reading: Reading, unit: str, count: int) -> list[Fragment]:
    days = reading.days
    if days is None:
        return []
    moved: date | None
    if "business" in match and unit == "D" and count > 0:
        moved = days.working_days(count)
    else:
        moved = days.plus(count, unit)
    if moved is None:
        return []
    first, last = match.tokens
    return [Fragment("date", first, last, match.rule, day=Day(moved))]
