"""What a value means and what a caller's words mean, in one form, so that the two compare.

A meaning is a kind with a canonical value: ("number", Decimal), ("money", (Decimal, currency)),
("percent", Decimal), ("date", "2026-03-06"), ("time", "19:00"), ("duration", (months, seconds)),
("quantity", (Decimal, unit)), ("digits", "0123"), ("email", "a@b.c").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

from flowengine.extract.recognizers import (
    Context,
    Recognition,
    Recognizer,
    Utterance,
    recognizer,
)
from flowengine.transcript import Turn

Meaning: TypeAlias = tuple[str, Any]

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(r"\d{2}:\d{2}(?::00)?", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*", re.ASCII)
_DURATION = re.compile(
    r"P(?=[\dT])(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?"
    r"(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?",
    re.ASCII,
)
_WRITTEN_DIGITS = re.compile(r"\+?(?:\d+[ -])?(?:\(\d+\)[ -]?)?\d+(?:[ -]\d+)*", re.ASCII)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", re.ASCII)
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
_UNREAD = re.compile(r"[^\w\s.,;:!?\u2026'\u2019$\u20ac\u00a3\u00a5\u20b9%@#&+/*-]")
"""Signs that the recognizers pass over, such as the brackets of "(5)": the text may mean more."""
_MOST_DIGITS = 40
_BY_QUESTION = frozenset({"date", "time", "datetime", "money"})
"""Kinds that are often said bare: "seven", "the fifteenth", "three fifty"."""
_DAYS = (None, "day", "minute")
"""The grains of what names a day; "this week" and "in March" do not."""


class Setting(NamedTuple):
    """What readings depend on besides the words."""

    locale: str = "en-US"
    ref: datetime | None = None
    timezone: str | None = None

    def of(self, turn: Turn) -> Setting:
        """As it was when the turn began: "tomorrow" counts from the day on which it was said."""
        if self.ref is None or not turn.at:
            return self
        try:
            then = datetime.fromtimestamp(turn.at / 1000, self.ref.tzinfo)
        except (ValueError, OverflowError, OSError):
            return self  # a clock that went wild
        return self._replace(ref=then)

    def context(self, focus: bool | None, past: bool = False) -> Context:
        return Context(
            focus=focus, ref=self.ref, tz=self.timezone, locale=self.locale,
            prefer="past" if past else None,
        )  # fmt: skip

    def reading(self, reader: str, past: bool = False) -> Context:
        """How a recognizer reads what may have answered a question for its kind of value."""
        return self.context(True if reader in _BY_QUESTION else None, past)


@cache
def kind(name: str) -> Recognizer:
    """A recognizer without options."""
    return recognizer(name)


def amount(value: Any) -> Decimal | None:
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return None
    return found.normalize() if found.is_finite() else None


def meanings_of_number(value: int | float) -> tuple[Meaning, ...]:
    found = amount(value)
    return () if found is None else (("number", found),)


def written(text: str, setting: Setting) -> tuple[Meaning, ...]:
    """What a value in its canonical spelling means; () for one in words."""
    if not any(map(str.isdigit, text)):
        return (("email", text.lower()),) if "@" in text and _EMAIL.fullmatch(text) else ()
    if _DATE.fullmatch(text):
        return (("date", text),) if _is_date(text) else ()
    if _TIME.fullmatch(text):
        return (("time", text[:5]),) if text[:2] < "24" and text[3:5] < "60" else ()
    if _MOMENT.fullmatch(text):
        return _moment(text, setting)
    if _EMAIL.fullmatch(text):
        return (("email", text.lower()),)
    if _WRITTEN_DIGITS.fullmatch(text):
        digits = "".join(char for char in text if char.isdigit())[:_MOST_DIGITS]
        number = meanings_of_number(int(text)) if _NUMBER.fullmatch(text) else ()
        return (*number, ("digits", digits))
    if _NUMBER.fullmatch(text):
        found = amount(text)
        return () if found is None else (("number", found),)
    return _duration(text)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _moment(text: str, setting: Setting) -> tuple[Meaning, ...]:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return ()
    if moment.tzinfo and setting.timezone:
        moment = moment.astimezone(ZoneInfo(setting.timezone))
    if moment.second or moment.microsecond:
        return ()
    return (("moment", (moment.date().isoformat(), f"{moment:%H:%M}")),)


def _duration(text: str) -> tuple[Meaning, ...]:
    found = _DURATION.fullmatch(text)
    if found is None:
        return ()
    years, months, weeks, days, hours, minutes, seconds = (int(n or 0) for n in found.groups())
    whole = ((weeks * 7 + days) * 24 + hours) * 3600 + minutes * 60 + seconds
    return (("duration", (years * 12 + months, whole)),)


def read_whole(said: Utterance, setting: Setting, *, sure: bool = False) -> tuple[Meaning, ...]:
    """What the recognizers read where one reading holds every word; () for a name or a sentence.

    `sure` leaves out what has a second reading, such as "at seven", or is only near, "about 50".
    """
    if not said.words or not said.lexemes.mask or _UNREAD.search(said.text):
        return ()
    found: dict[Meaning, None] = {}
    span = said.span(0, len(said))
    for name in ("datetime", "money", "percent", "duration", "quantity", "number", "digits"):
        for one in kind(name).recognize(said, setting.context(None)):
            if sure and (one.ambiguous or one.approximate or one.bound):
                continue
            if one.span == span and not one.superseded:
                found.update(dict.fromkeys(canonical(name, one, one.value)))
    return tuple(found)


def canonical(name: str, read: Recognition, value: Any) -> tuple[Meaning, ...]:
    """The meanings of one value that a recognizer read, or of one of its alternatives."""
    match name:
        case "datetime" | "date" | "time" | "date_of_birth":
            return (_of_calendar(name, read, value),)
        case "money":
            return (("money", (Decimal(value).normalize(), read.unit)),)
        case "duration":
            return _duration(value)
        case "quantity":
            parts = read.parts or {}
            return (("quantity", (amount(parts["amount"]), parts["unit"])),)
        case "number" | "percent":
            return ((name, amount(value)),)
        case "digits" | "phone":
            return (("digits", value.removeprefix("+")),)
        case "letters" | "postal_code":
            return (("letters", "".join(filter(str.isalnum, value)).upper()),)
        case _:
            return ((name, value.lower()),)


def _of_calendar(name: str, read: Recognition, value: str) -> Meaning:
    """ "tonight" and "this week" hold a day, yet mean another thing than the day itself."""
    day, _, clock = value.partition("T") if "-" in value else ("", "", value)
    if read.grain not in _DAYS:
        return "period", (value, read.grain)
    part = (read.parts or {}).get("part")
    if part and not clock and name == "datetime":
        return "period", (value, part)
    if day and clock:
        return "moment", (day, clock)
    return ("date", day) if day else ("time", clock)


def amounts(name: str, read: Recognition) -> Iterator[Decimal]:
    """The bare numbers that a reading with a unit supports: 30 for "thirty days"."""
    if name == "money":
        yield Decimal(read.value).normalize()
        yield from (Decimal(other).normalize() for other in read.alternatives)
        return
    found = amount(read.value if name == "percent" else (read.parts or {}).get("amount"))
    if found is not None:
        yield found
        if name == "percent":
            yield (found / 100).normalize()
