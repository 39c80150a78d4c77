"""Date rules: which day the words of each grammar rule mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from flowengine.extract.recognizers.days import Day, Days, holiday_in, make_date
from flowengine.extract.recognizers.fragments import Fragment, Reading, year_of
from flowengine.extract.recognizers.grammar import Match
from flowengine.extract.recognizers.numbers import Number


def date_fragments(match: Match, reading: Reading, name: str) -> list[Fragment]:
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
    if "shift2" in match:  # "this coming Friday" is this one, "this past Friday" the last
        return min(0, int(reading.locale.value("shift", match.word("shift2"))))
    return int(reading.locale.value("shift", match.word("shift"))) if "shift" in match else default


def _month(match: Match, reading: Reading) -> int:
    if match.number("month"):
        return int(match.value("month"))
    return int(reading.locale.value("month", match.word("month")))


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


def _weekdays_on(match: Match, reading: Reading) -> Day | None:
    """ "two Sundays from now": the second one to come."""
    days, weekday = reading.days, _weekday(match, reading)
    if days is None or weekday is None:
        return None
    ahead = (weekday - days.today.weekday()) % 7 or 7
    found = days.plus(7 * (int(match.value("count", 1)) - 1) + ahead, "D")
    return Day(found) if found else None


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


def _weekday_after(match: Match, reading: Reading) -> Day | None:
    """ "the Monday after next": a week after the one that "next Monday" is."""
    day = _plain_weekday(match, reading)
    return day.plus(7) if day else None


def _nth_weekday(match: Match, reading: Reading) -> Day | None:
    """ "the last Friday of the month", "the first Monday in April"."""
    days, weekday = reading.days, _weekday(match, reading)
    if days is None or weekday is None:
        return None
    number = match.number("nth")
    if number is None and reading.locale.value("edge", match.word("nth")) != "end":
        return None
    nth = int(number.value) if number else -1
    if "month" in match:
        first = days.month(_month(match, reading), None, at_end=False).day
        return days.nth_weekday(weekday, nth, first)
    first = days.period("MO", _shift(match, reading)).day
    return days.nth_weekday(weekday, nth, first)


def _nth_to_come(match: Match, reading: Reading) -> Day | None:
    """ "the first Wednesday": of this month or the next; "the fourth, Wednesday" if it is one."""
    days, weekday = reading.days, _weekday(match, reading)
    if days is None or weekday is None:
        return None
    nth = int(match.value("nth"))
    named = days.day_of_month(nth)
    if nth > 5 or (named and named.day.weekday() == weekday):
        return named
    months = (days.period("MO", shift).day for shift in ((0, -1) if days.past else (0, 1, 2)))
    found = (days.nth_weekday(weekday, nth, first) for first in months)
    return next((day for day in found if day and days.lies_right(day.day)), None)


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
    count = int(match.value("count", 1))
    moved = days.plus(-count if "before" in match else count, unit, start.day)
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
    day = _named_day(match, reading, days)
    if day is None or "direction" not in match:
        return day
    later = match.word("direction") in reading.locale.classes["past"]
    weekday = _weekday(match, reading)
    if weekday is not None:  # "the Friday after Thanksgiving"
        ahead = (weekday - day.day.weekday()) % 7 or 7
        return day.plus(ahead if later else ahead - 7 if ahead < 7 else -7)
    count = int(match.value("count", 1)) * (1 if later else -1)
    moved = days.plus(count, reading.locale.value("unit", match.word("unit")), day.day)
    return Day(moved) if moved else None


def _named_day(match: Match, reading: Reading, days: Days) -> Day | None:
    if "named_weekday" in match:
        return days.holiday(reading.locale.value("named_weekday", match.word("named_weekday")))
    if "holiday_weekday" in match:
        offset = {4: -2, 0: 1}.get(_weekday(match, reading, "holiday_weekday") or 0, 0)
        years = match.numbers("year")
        if years:
            found = holiday_in(f"easter{offset:+d}", year_of(years, days.today.year + 20))
            return Day(found) if found else None
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
    if "shift" in match:
        return _shifted_feast(rule, eve, match, reading, days)
    return days.holiday(rule, eve)


def _shifted_feast(rule: str, eve: int, match: Match, reading: Reading, days: Days) -> Day | None:
    """ "last Easter" is the latest one, "Easter of next year" that year's."""
    shift = _shift(match, reading)
    if match.has_word("year") and shift:
        found = holiday_in(rule, days.today.year + shift)
        return Day(found).plus(eve) if found else None
    return (Days(days.today, past=True) if shift < 0 else days).holiday(rule, eve)


def _whole_month(match: Match, reading: Reading) -> Day | None:
    numbers = match.numbers("year4") or match.numbers("year")
    if numbers:
        found = make_date(year_of(numbers, 0), _month(match, reading), 1)
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
    return days.period(unit, _shift(match, reading) + match.rule.endswith("_after"))


def _numeric(match: Match, reading: Reading) -> Day | None:
    one, two = int(match.value("one")), int(match.value("two"))
    if "year" not in match:
        days, pair = reading.days, (two, one) if reading.locale.day_first else (one, two)
        return days and (days.month_day(*pair) or days.month_day(*reversed(pair)))
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
    "weekday_after": _weekday_after,
    "weekdays_on": _weekdays_on,
    "nth_weekday": _nth_weekday,
    "nth_to_come": _nth_to_come,
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
    "period_after": _period,
}
