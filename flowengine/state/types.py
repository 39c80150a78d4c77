"""What a value may be: each type's one stored form, and what guards compare."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from flowengine.inputs import Json

Canonical: TypeAlias = Callable[[Any], Json]

UNFIT = (TypeError, ValueError, ArithmeticError)
"""What a canonical form or a parse raises when the value is not of its type."""

_ENDLESS = 10**4300

DECIMAL_DIGITS = 100
"""A decimal is written out in full, so `1e999999` must not become a megabyte of zeros."""


@dataclass(frozen=True, slots=True)
class KeyType:
    """A type of value: `accepts` judges its JSON form, `parse` gives what guards compare."""

    name: str
    accepts: Callable[[Any], bool]
    parse: Callable[[Any], Any]
    canonical: Canonical
    """The stored form of a Python value; raises one of `UNFIT` if there is none."""


def json_form(value: Any) -> Json:
    """`value` as JSON all the way down: tuples as lists, decimals and dates as strings.

    Containers are always new. Raises one of `UNFIT`.
    """
    if value is None or type(value) in (str, bool):
        return value
    if type(value) is int:
        return _written(value)
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, Mapping):
        return {_text(k): json_form(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return [json_form(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    for kind in PYTHON_TYPES:
        if isinstance(value, kind):
            return KEY_TYPES[PYTHON_TYPES[kind]].canonical(value)
    if isinstance(value, str):  # an enumeration of strings, say
        return str.__str__(value)
    if isinstance(value, int):
        return _written(int(value))
    raise TypeError(type(value).__name__)


def _written(value: int) -> int:
    """A number that can be written down: Python refuses to write, or read, more digits."""
    if not -_ENDLESS < value < _ENDLESS:
        raise ValueError
    return value


def same(left: Json, right: Json) -> bool:
    """Equal as JSON: 1 is 1.0, and true is not 1."""
    if left != right:
        return False
    kind = type(left)
    if kind is type(right) and kind is not list and kind is not dict:
        return True
    if isinstance(left, list) and isinstance(right, list):
        return all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return all(same(value, right[name]) for name, value in left.items())
    return isinstance(left, bool) == isinstance(right, bool)


def copied(value: Json) -> Json:
    """The value, containers anew: to hand out what State itself keeps."""
    if isinstance(value, list):
        return [copied(v) for v in value]
    if isinstance(value, dict):
        return {k: copied(v) for k, v in value.items()}
    return value


def _text(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{type(key).__name__} as a name")
    return str.__str__(key)


def _instance(kind: type) -> Canonical:
    def canonical(value: Any) -> Json:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise TypeError
        return json_form(value)

    return canonical


def _container(*kinds: type) -> Canonical:
    def canonical(value: Any) -> Json:
        if not isinstance(value, kinds):
            raise TypeError
        return json_form(value)

    return canonical


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return value


def _finite(value: Any) -> Json:
    number = _number(value)
    if isinstance(number, float):
        if not math.isfinite(number):
            raise ValueError
        return float(number)
    return int(number)


def _decimal(value: Any) -> Json:
    if isinstance(value, bool) or not isinstance(value, Decimal | int | str):
        raise TypeError
    number = Decimal(value)
    if not number.is_finite():
        raise ValueError
    if len(number.as_tuple().digits) + abs(int(number.as_tuple().exponent)) > DECIMAL_DIGITS:
        raise ValueError
    return format(number if number else abs(number), "f")


def _iso(kind: type[date] | type[time] | type[datetime]) -> Canonical:
    """The shortest ISO spelling; no stand-in for another type: a date is no datetime."""

    def canonical(value: Any) -> Json:
        if isinstance(value, str):
            if kind is datetime and ":" not in value:
                raise ValueError
            value = kind.fromisoformat(value)
        if type(value) is not kind:
            raise TypeError
        if isinstance(value, date) and not isinstance(value, datetime):
            return value.isoformat()
        whole = not value.second and not value.microsecond
        return value.isoformat(timespec="minutes" if whole else "auto")

    return canonical


def _duration(value: Any) -> Json:
    """ISO 8601 in days and smaller; a span of months or years stays as it was said."""
    if isinstance(value, str):
        span = parse_duration(value)
        if "Y" in value or "M" in value.partition("T")[0]:
            return value
    elif isinstance(value, timedelta):
        span = value
    else:
        raise TypeError
    if span < timedelta(0):
        raise ValueError
    minutes, seconds = divmod(span.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{span.microseconds:06}".rstrip("0") if span.microseconds else ""
    days = f"{span.days}D" if span.days else ""
    parts = ((hours, "H"), (minutes, "M"), (f"{seconds}{fraction}" if fraction else seconds, "S"))
    clock = "".join(f"{n}{unit}" for n, unit in parts if n)
    return f"P{days}T{clock}" if clock else f"P{days}" if days else "PT0S"


_ISO_DURATION = re.compile(
    r"P(?:(\d+(?:\.\d+)?)Y)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?"
    r"(?:T(?=\d)(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?",
    re.ASCII,
)


def parse_duration(text: str) -> timedelta:
    """ISO 8601 with a year of 365 days and a month of 30, enough to compare two spans."""
    match = _ISO_DURATION.fullmatch(text)
    if not match or not any(match.groups()):
        raise ValueError("not a duration")
    years, months, weeks, days, hours, minutes, seconds = (float(g or 0) for g in match.groups())
    return timedelta(
        days=years * 365 + months * 30 + weeks * 7 + days,
        hours=hours, minutes=minutes, seconds=seconds,
    )  # fmt: skip


def _type(name: str, canonical: Canonical, parse: Callable[[Any], Any]) -> KeyType:
    def accepts(value: Any) -> bool:
        try:
            canonical(value)
        except UNFIT:
            return False
        return isinstance(value, bool | int | float | str | list | dict)

    return KeyType(name, accepts, parse, canonical)


def _same(value: Any) -> Any:
    return value


PYTHON_TYPES: Mapping[type, str] = {
    Decimal: "decimal", datetime: "datetime", date: "date", time: "time", timedelta: "duration",
}  # fmt: skip
"""Types whose stored form is a string; a datetime comes before the date that it also is."""

KEY_TYPES: Mapping[str, KeyType] = {
    kind.name: kind
    for kind in (
        _type("boolean", _instance(bool), _same),
        _type("integer", _instance(int), _number),
        _type("number", _finite, _number),
        _type("string", _instance(str), _same),
        _type("decimal", _decimal, lambda v: Decimal(str(v))),
        _type("date", _iso(date), date.fromisoformat),
        _type("time", _iso(time), time.fromisoformat),
        _type("datetime", _iso(datetime), datetime.fromisoformat),
        _type("duration", _duration, parse_duration),
        _type("object", _container(dict, Mapping), _same),
        _type("array", _container(list, tuple), _same),
    )
}
