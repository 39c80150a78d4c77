"""The half of State that reads: one lookup rule, typed reads, and views of several keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, overload

from flowengine.errors import UnknownKeyError, WrongTypeError, did_you_mean
from flowengine.inputs import Json
from flowengine.state.keys import KeyTable, StateKey
from flowengine.state.types import UNFIT, copied, same

T = TypeVar("T")


class Reading:
    """Reads of keys and values.

    What it hands out is the reader's own: containers are copies, and a declared decimal, date,
    time, datetime or duration is read as that type. `find` and the views give the stored JSON.
    """

    __slots__ = ("keys", "values")

    keys: KeyTable
    values: dict[str, Json]

    def find(self, key: str) -> Json:
        """The stored JSON under the lookup rule, or None; null and absent are the same.

        For the engine itself: a container is State's own and must not be changed.
        """
        for name in self.keys.names[key]:
            value = self.values.get(name)
            if value is not None:
                return value
        return None

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.find(key) is not None

    def __getitem__(self, key: str) -> Any:
        return self.require(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def get(self, key: StateKey[T], default: None = None) -> T | None: ...
    @overload
    def get(self, key: StateKey[T], default: T) -> T: ...
    @overload
    def get(self, key: str, default: Any = None) -> Any: ...
    def get(self, key: str | StateKey[Any], default: Any = None) -> Any:
        """Lenient: what is absent, or not of a typed key's type, reads as the default."""
        name = key.name if isinstance(key, StateKey) else key
        value = self.find(name)
        if value is None:
            return default
        try:
            return self._read(key, value)
        except WrongTypeError:
            return default

    @overload
    def require(self, key: StateKey[T]) -> T: ...
    @overload
    def require(self, key: str) -> Any: ...
    def require(self, key: str | StateKey[Any]) -> Any:
        """The value, or UnknownKeyError if absent, WrongTypeError if not of the key's type."""
        name = key.name if isinstance(key, StateKey) else key
        value = self.find(name)
        if value is None:
            raise UnknownKeyError(f"no value for key {name!r}.{did_you_mean(name, self.values)}")
        return self._read(key, value)

    def try_get(self, key: StateKey[T]) -> T | None:
        """None if absent; WrongTypeError if present with another type."""
        return self.require(key) if key.name in self else None

    def snapshot(self, keys: Iterable[str] | None = None) -> dict[str, Json]:
        """A copy of these keys, or of all; absent keys are None."""
        if keys is None:
            return {key: copied(value) for key, value in self.values.items()}
        return {key: copied(self.find(key)) for key in keys}

    def diff(self, previous: Mapping[str, Json]) -> list[tuple[str, Json, Json]]:
        """(key, old, new) for each key of an earlier `snapshot` that differs now."""
        pairs = ((key, old, self.find(key)) for key, old in previous.items())
        return [(key, old, copied(new)) for key, old, new in pairs if not same(old, new)]

    def pick(self, keys: Iterable[str]) -> dict[str, Json]:
        """These keys, as far as they hold something."""
        return {key: copied(value) for key in keys if (value := self.find(key)) is not None}

    def with_prefix(self, prefix: str) -> dict[str, Json]:
        """The keys under `prefix:`, without it."""
        start = f"{prefix}:"
        under = (key for key in self.values if key.startswith(start))
        return {key[len(start) :]: copied(self.values[key]) for key in under}

    def _read(self, key: str | StateKey[Any], value: Json) -> Any:
        if isinstance(key, StateKey):
            return key.read(value)
        try:
            return self.keys.typed(key, value)
        except UNFIT:
            kind = self.keys.type_of(key)
            raise WrongTypeError(
                f"key {key!r} reads as {kind.name if kind else 'JSON'}; what was derived for it "
                f"is a {type(value).__name__} of no such form"
            ) from None
