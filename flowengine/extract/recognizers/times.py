"""Time rules: clocks, parts of day and offsets from the present moment."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from flowengine.extract.recognizers.dates import date_fragments
from flowengine.extract.recognizers.days import Day
from flowengine.extract.recognizers.fragments import Clock, Fragment, Reading
from flowengine.extract.recognizers.grammar import Match

_SECONDS = {"S": 1, "M": 60, "H": 3600}


def fragments_of(match: Match, reading: Reading) -> list[Fragment]:
    """The fragments of one match; empty when its words make no date or time."""
    family, _, name = match.rule.partition(".")
    if family == "none":
        return []
    if family == "time" or match.rule == "bare.hour_minute":
        fragment = _time(match, reading, name)
        return [fragment] if fragment else []
    if family == "part":
        return _part(match, reading, name)
    if family == "offset":
        return _offset(match, reading, name)
    return date_fragments(match, reading, name)


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
    if name == "half":
        hour = int(match.value("hour"))
        return (hour, 30) if reading.locale.region.get("half") and 1 <= hour <= 12 else None
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
    word = match.word("named_time")
    classes = reading.locale.classes
    named = classes["named_time"].get(word) or classes["mid_time"][word]
    hour, minute = named.split(":")
    return int(hour), int(minute)


def _relative_clock(match: Match, reading: Reading) -> Clock | None:
    """ "quarter to five", "ten past six", "twenty minutes after noon"."""
    number = match.number("minute")
    if number is None or number.ordinal:  # "cuarto" is also the fourth
        word = match.word("minute")
        minutes = int(reading.locale.value("fraction", word)) if word else 15
    else:
        minutes = int(number.value)
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
    count = {"half": 0.5, "quarter": 0.25, "quarters": 0.75, "compound": count + 0.5}.get(
        name, count
    )
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
