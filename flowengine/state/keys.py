"""What a key may hold and who may write it: declared keys, and the lookup rule of all readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_origin

from flowengine.errors import OwnershipError, WrongTypeError
from flowengine.inputs import Json
from flowengine.state.types import (
    KEY_TYPES,
    PYTHON_TYPES,
    UNFIT,
    KeyType,
    copied,
    json_form,
    parse_duration,
    same,
)

__all__ = [
    "KEY_TYPES", "KeySpec", "KeyTable", "KeyType", "Merge", "StateKey", "bare", "checked",
    "json_value", "parse_duration",
]  # fmt: skip

T = TypeVar("T")
V = TypeVar("V")
Merge: TypeAlias = Literal["last", "append", "union", "max", "conflict"]

MODEL_WRITERS = ("extractor:", "decision:")
READ_ONLY: Mapping[str, tuple[str, ...]] = {
    "derived:": ("computed", "runtime", "extractor:", "record:"),
    **dict.fromkeys(
        (
            "session:",
            "flow:",
            "repair:",
            "correction:",
            "state_meta:",
            "idempotency:",
            "compensated:",
            "verbatim:",
            "decision:",
        ),
        ("runtime",),
    ),
}
"""Prefixes that users only read, with the writers they belong to."""
RUNTIME_PREFIXES = (
    "session:", "derived:", "flow:", "repair:", "correction:", "state_meta:", "idempotency:",
    "compensated:", "verbatim:", "decision:",
)  # fmt: skip
LOOKUPS = 4096
_EXAMPLES = {
    "decimal": "a Decimal or a string such as '12.50'",
    "date": "a date or a string such as '2026-03-04'",
    "time": "a time or a string such as '15:30'",
    "datetime": "a datetime or a string such as '2026-03-04T15:30'",
    "duration": "a timedelta or a string such as 'PT1H30M'",
}


@dataclass(frozen=True, slots=True)
class StateKey(Generic[T]):
    """A key's name together with the Python type of what it holds."""

    name: str
    type: type[T]

    def read(self, value: Json) -> T:
        """A stored value as the Python type; raises WrongTypeError."""
        kind = get_origin(self.type) or self.type
        try:
            if kind in PYTHON_TYPES and isinstance(value, str):
                return KEY_TYPES[PYTHON_TYPES[kind]].parse(value)
        except UNFIT:
            pass
        if isinstance(value, bool) and kind in (int, float):
            kind = bool  # an int to Python, not to whoever asks for a number
        elif kind is float and isinstance(value, int):
            return value  # pyright: ignore[reportReturnType]
        elif isinstance(value, kind):
            return copied(value)  # pyright: ignore[reportReturnType, reportArgumentType]
        raise WrongTypeError(
            f"key {self.name!r} holds {type(value).__name__}, not {self.type.__name__}"
        )


@dataclass(frozen=True, slots=True)
class KeySpec:
    """A declared key, as State needs to know it."""

    type: KeyType | None = None
    enum: tuple[Json, ...] | None = None
    pii: bool = False
    writers: frozenset[str] = frozenset()
    trusted: bool = False
    merge: Merge = "last"
    repeats: bool = False
    """It is private only for what it is made of."""

    @property
    def owned(self) -> bool:
        return bool(self.writers) or self.trusted


UNDECLARED = KeySpec()


def bare(key: str) -> str:
    """The dependency that `derived:x` and `x` share."""
    return key[8:] if key.startswith("derived:") else key


def _parents(key: str) -> list[str]:
    """The objects that a dotted key may be a field of."""
    parts = key.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


_AS_IS: Mapping[str, frozenset[type]] = {
    "boolean": frozenset({bool}),
    "integer": frozenset({int}),
    "number": frozenset({int}),
    "string": frozenset({str}),
}
"""Python types whose values are stored as they are, by key type."""
_SCALARS = frozenset({bool, int, str})


class Slot:
    """What a write of one key needs to know, looked up once."""

    __slots__ = ("as_is", "bare", "passing", "pii", "spec", "veiled", "writers")

    def __init__(
        self, key: str, spec: KeySpec, private: bool = False, veiled: bool = False
    ) -> None:
        self.spec, self.bare, self.pii = spec, bare(key), spec.pii or private
        self.veiled = self.pii or veiled
        """What it holds is private, or may repeat what is."""
        self.passing = key.startswith("turn:")
        """The key ends with its turn."""
        self.writers: set[str] = set()
        """Writers that have been found to be allowed."""
        self.as_is: frozenset[type] = frozenset()
        """Types that need no further check."""
        if spec.enum is None and spec.merge == "last":
            self.as_is = _AS_IS.get(spec.type.name, frozenset()) if spec.type else _SCALARS


class Kept(dict[str, V]):
    """What is looked up again and again, made when it is first wanted; a bounded number."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[str], V]) -> None:
        self._make = make

    def __missing__(self, key: str) -> V:
        if len(self) >= LOOKUPS:  # keys made at run time must not fill the memory
            self.clear()
        made = self[key] = self._make(key)
        return made


class KeyTable:
    """The declared keys, and the one lookup rule that every reader follows.

    A key without prefix is looked up as itself, then as `derived:key`. A prefixed key never falls
    back, and neither does a key that names its writers or is trusted.
    """

    __slots__ = ("_specs", "names", "private", "slots")

    def __init__(
        self, specs: Mapping[str, KeySpec] | None = None, private: Iterable[str] = ()
    ) -> None:
        self._specs = dict(specs or {})
        self.private = tuple(private)
        """Keys whose values others must not repeat to readers."""
        self.names: Mapping[str, tuple[str, ...]] = Kept(self._lookup)
        """Key -> the stored names to try, in order."""
        self.slots: Mapping[str, Slot] = Kept(self._slot)

    def _lookup(self, key: str) -> tuple[str, ...]:
        if ":" in key or self._specs.get(key, UNDECLARED).owned:
            return (key,)
        return (key, f"derived:{key}")

    def spec(self, key: str) -> KeySpec:
        return self._specs.get(bare(key), UNDECLARED)

    def _slot(self, key: str) -> Slot:
        private = any(self.spec(parent).pii for parent in _parents(bare(key)))
        return Slot(key, self.spec(key), private, bool(self.private))

    def type_of(self, key: str) -> KeyType | None:
        return self.spec(key).type

    def declared(self) -> Mapping[str, KeySpec]:
        return self._specs

    def typed(self, key: str, value: Json) -> Any:
        """A stored value as its declared type reads: Decimal, date, ...; containers are copies.

        Raises one of `UNFIT` for a derived value that is not of that type.
        """
        kind = self.type_of(key)
        if kind is not None and kind.name in _EXAMPLES:
            return kind.parse(value)
        return copied(value)

    def number(self, key: str, value: Json) -> Json | Decimal:
        """A stored value to calculate with: a declared decimal as a Decimal, others as they are."""
        kind = self.type_of(key)
        if kind is None or kind.name != "decimal" or value is None:
            return value
        return kind.parse(value) if kind.accepts(value) else value

    def check_writer(self, key: str, by: str) -> None:
        """Raise OwnershipError unless `by` may write `key`, under whatever name."""
        spec = self._specs.get(key)
        if spec is not None:
            _check_owner(key, spec, by)
        if ":" in key or "." in key:
            self._check_forms(key, by)

    def _check_forms(self, key: str, by: str) -> None:
        """`x` is also behind `derived:x` and `{extractor}.x`, and `x.y` is a part of it."""
        parts = bare(key).split(".")
        for start in range(len(parts)):
            for end in range(start + 1, len(parts) + 1):
                name = ".".join(parts[start:end])
                _check_owner(key, self._specs.get(name, UNDECLARED), by)
        for prefix, owners in READ_ONLY.items():
            if key.startswith(prefix) and not by.startswith(owners):
                raise OwnershipError(f"key {key!r} is read-only: `{prefix}` keys are the runtime's")


def _check_owner(key: str, spec: KeySpec, by: str) -> None:
    if spec.writers and by not in spec.writers:
        owners = ", ".join(sorted(spec.writers))
        raise OwnershipError(f"key {key!r} is written by {owners} alone, not by {by}")
    if spec.trusted and by.startswith(MODEL_WRITERS):
        raise OwnershipError(f"key {key!r} is trusted: {by} reports what a model thinks")


def checked(key: str, spec: KeySpec, value: Any) -> Json:
    """The canonical stored form of `value` for this key; None, which clears it, as it is.

    Raises:
        WrongTypeError: it does not fit; the message names types, never the value.
    """
    if value is None:
        return None
    kind = spec.type
    form = json_form if kind is None else kind.canonical
    stored = _formed(key, form, "JSON" if kind is None else kind.name, value)
    if spec.enum is not None and not any(same(stored, allowed) for allowed in spec.enum):
        allowed = ", ".join(map(repr, spec.enum))
        raise WrongTypeError(f"key {key!r} takes one of {allowed}; the value is none of them")
    return stored


def json_value(key: str, value: Any) -> Json:
    """`value` as JSON; raises WrongTypeError, which names the key, if it has no such form."""
    return _formed(key, json_form, "JSON", value)


def _formed(key: str, form: Callable[[Any], Json], kind: str, value: Any) -> Json:
    try:
        return form(value)
    except RecursionError:
        raise WrongTypeError(f"key {key!r} was given a value nested too deeply") from None
    except UNFIT as error:
        given = type(value).__name__
        culprit = str(error) if isinstance(error, TypeError) else ""
        if culprit and culprit != given:
            given = f"{given} with {culprit} inside"
        unlike = (
            f", not {given}" if isinstance(error, TypeError) else f"; this {given} has no such form"
        )
        cure = f": give {_EXAMPLES[kind]}" if kind in _EXAMPLES else ""
        raise WrongTypeError(f"key {key!r} holds {kind}{unlike}{cure}") from None


def respelled(spec: KeySpec, present: Json, stored: Json) -> Json:
    """The present spelling of a decimal, where a write only spells the same number otherwise."""
    if spec.type is None or spec.type.name != "decimal" or not spec.type.accepts(present):
        return stored
    return present if spec.type.parse(present) == spec.type.parse(stored) else stored
