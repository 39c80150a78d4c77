"""What a key may hold: types that check every write and give guards something to compare."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from flowengine.errors import OwnershipError, WrongTypeError
from flowengine.inputs import Json

T = TypeVar("T")
Merge: TypeAlias = Literal["last", "append", "union", "max", "conflict"]

MODEL_WRITERS = ("extractor:", "decision:")
RUNTIME_WRITERS = ("computed", "runtime", "extractor:", "record:")
READ_ONLY_PREFIXES = ("derived:", "session:")
RUNTIME_PREFIXES = (
    "session:", "derived:", "flow:", "repair:", "correction:", "state_meta:", "idempotency:",
    "compensated:", "verbatim:", "decision:",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StateKey(Generic[T]):
    """A key's name together with the Python type of what it holds."""

    name: str
    type: type[T]


@dataclass(frozen=True, slots=True)
class KeyType:
    """A type of value: `accepts` judges its JSON form, `parse` gives what guards compare."""

    name: str
    accepts: Callable[[Any], bool]
    parse: Callable[[Any], Any]
    canonical: Callable[[Any], Json]
    """The stored form of a Python value; raises TypeError or ValueError if there is none."""


@dataclass(frozen=True, slots=True)
class KeySpec:
    """A declared key, as State needs to know it."""

    type: KeyType | None = None
    enum: tuple[Json, ...] | None = None
    pii: bool = False
    writers: frozenset[str] = frozenset()
    trusted: bool = False
    merge: Merge = "last"


UNDECLARED = KeySpec()


def bare(key: str) -> str:
    """The dependency that `derived:x` and `x` share."""
    return key[8:] if key.startswith("derived:") else key


class KeyTable:
    """The declared keys, and the one lookup rule that every reader follows.

    A key without prefix is looked up as itself, then as `derived:key`. A prefixed key never falls
    back, and neither does a key that names its writers or is trusted.
    """

    __slots__ = ("_names", "_specs")

    def __init__(self, specs: Mapping[str, KeySpec] | None = None) -> None:
        self._specs = dict(specs or {})
        self._names: dict[str, tuple[str, ...]] = {}

    def names(self, key: str) -> tuple[str, ...]:
        """The stored names to try, in order."""
        found = self._names.get(key)
        if found is None:
            found = self._names[key] = self._lookup(key)
        return found

    def _lookup(self, key: str) -> tuple[str, ...]:
        spec = self._specs.get(key, UNDECLARED)
        if ":" in key or spec.writers or spec.trusted:
            return (key,)
        return (key, f"derived:{key}")

    def spec(self, key: str) -> KeySpec:
        return self._specs.get(bare(key), UNDECLARED)

    def type_of(self, key: str) -> KeyType | None:
        return self.spec(key).type

    def declared(self) -> Mapping[str, KeySpec]:
        return self._specs

    def check_writer(self, key: str, by: str) -> None:
        """Raise OwnershipError unless `by` may write `key`, under whatever name."""
        spec = self._specs.get(bare(key).rpartition(".")[2], UNDECLARED)
        if spec.writers and by not in spec.writers:
            owners = ", ".join(sorted(spec.writers))
            raise OwnershipError(f"key {key!r} is written by {owners} alone, not by {by}")
        if spec.trusted and by.startswith(MODEL_WRITERS):
            raise OwnershipError(f"key {key!r} is trusted: {by} reports what a model thinks")
        if key.startswith(READ_ONLY_PREFIXES) and not by.startswith(RUNTIME_WRITERS):
            prefix = key.partition(":")[0]
            raise OwnershipError(f"key {key!r} is read-only: `{prefix}:` keys are the runtime's")


def checked(key: str, spec: KeySpec, value: Any) -> Json:
    """The canonical stored form of `value` for this key.

    Raises:
        WrongTypeError: it does not fit; the message names types, never the value.
    """
    if spec.type is None:
        return json_value(key, value)
    try:
        stored = spec.type.canonical(value)
    except (TypeError, ValueError, InvalidOperation):
        raise _wrong_type(key, spec.type.name, value) from None
    if spec.enum is not None and stored not in spec.enum:
        allowed = ", ".join(map(repr, spec.enum))
        raise WrongTypeError(f"key {key!r} takes one of {allowed}; the value is none of them")
    return stored


def json_value(key: str, value: Any) -> Json:
    """`value` if it is JSON all the way down, with tuples as lists and decimals as strings."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise WrongTypeError(f"key {key!r} cannot hold {value!r}: JSON has no such number")
        return value
    if isinstance(value, Mapping):
        return {str(k): json_value(key, v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return [json_value(key, v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    for kind in ("decimal", "datetime", "date", "time", "duration"):
        if isinstance(value, _PYTHON[kind]):
            return KEY_TYPES[kind].canonical(value)
    raise _wrong_type(key, "JSON", value)


def _wrong_type(key: str, wanted: str, value: Any) -> WrongTypeError:
    return WrongTypeError(
        f"key {key!r} holds {wanted}, not {type(value).__name__}"
        + ("" if wanted != "decimal" else "; give a Decimal or a string such as '12.50'")
    )


def _instance(*types: type) -> Callable[[Any], Json]:
    def canonical(value: Any) -> Json:
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise TypeError
        return value

    return canonical


def _json_container(kind: type, other: type) -> Callable[[Any], Json]:
    def canonical(value: Any) -> Json:
        if not isinstance(value, kind | other):
            raise TypeError
        return json_value("", value)

    return canonical


def _decimal(value: Any) -> Json:
    if isinstance(value, bool) or not isinstance(value, Decimal | int | str):
        raise TypeError
    number = Decimal(value)
    if not number.is_finite():
        raise ValueError
    return format(number, "f")


def _duration(value: Any) -> Json:
    """ISO 8601, days and smaller: the form that the recognizers give."""
    if isinstance(value, str):
        parse_duration(value)
        return value
    if not isinstance(value, timedelta):
        raise TypeError
    minutes, seconds = divmod(value.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days = f"{value.days}D" if value.days else ""
    clock = "".join(f"{n}{u}" for n, u in ((hours, "H"), (minutes, "M"), (seconds, "S")) if n)
    return f"P{days}T{clock}" if clock else f"P{days}" if days else "PT0S"


_ISO_DURATION = re.compile(
    r"P(?:(\d+(?:\.\d+)?)Y)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?"
    r"(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)


def parse_duration(text: str) -> timedelta:
    """ISO 8601 with a year of 365 days and a month of 30, enough to compare two spans."""
    match = _ISO_DURATION.fullmatch(text)
    if not match or not any(match.groups()):
        raise ValueError(text)
    years, months, weeks, days, hours, minutes, seconds = (float(g or 0) for g in match.groups())
    return timedelta(
        days=years * 365 + months * 30 + weeks * 7 + days,
        hours=hours, minutes=minutes, seconds=seconds,
    )  # fmt: skip


def _iso(kind: type[date] | type[time] | type[datetime]) -> Callable[[Any], Json]:
    def canonical(value: Any) -> Json:
        if isinstance(value, str):
            kind.fromisoformat(value)
            return value
        if type(value) is not kind:
            raise TypeError
        if isinstance(value, date) and not isinstance(value, datetime):
            return value.isoformat()
        whole = not value.second and not value.microsecond
        return value.isoformat(timespec="minutes" if whole else "auto")

    return canonical


def _finite(value: Any) -> Json:
    if not math.isfinite(_number(value)):
        raise ValueError
    return value


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return value


_PYTHON: Mapping[str, type] = {
    "decimal": Decimal, "date": date, "time": time, "datetime": datetime, "duration": timedelta,
}  # fmt: skip


def _type(name: str, canonical: Callable[[Any], Json], parse: Callable[[Any], Any]) -> KeyType:
    def accepts(value: Any) -> bool:
        try:
            return canonical(value) == value
        except (TypeError, ValueError, InvalidOperation):
            return False

    return KeyType(name, accepts, parse, canonical)


def _same(value: Any) -> Any:
    return value


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
        _type("object", _json_container(dict, Mapping), _same),
        _type("array", _json_container(list, tuple), _same),
    )
}
