"""Reactive memory of a conversation: one lookup rule, batches that roll back, a journal."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar, overload

from flowengine.errors import ConflictError, UnknownKeyError, WrongTypeError, did_you_mean
from flowengine.inputs import Json
from flowengine.state.evidence import Evidence, plain
from flowengine.state.keys import KeyTable, StateKey, bare, checked, json_value

T = TypeVar("T")
SUPERSEDED = 8
JOURNAL = 1024


class Change(NamedTuple):
    """One write in the journal; `changed` is False when an equal value only renewed evidence."""

    seq: int
    key: str
    old: Json
    new: Json
    evidence: Evidence
    changed: bool


class State:
    """A mapping of keys to JSON values.

    Values and evidence may be shared with a snapshot: they are copied before the first write, so
    that a rollback is to drop this object. `dirty` maps each key that changed since it was last
    emptied to the value it had then.
    """

    __slots__ = (
        "_batch", "_react", "_seq", "_shared", "dirty", "evidence", "journal", "keys", "values",
    )  # fmt: skip

    def __init__(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        keys: KeyTable | None = None,
        evidence: Mapping[str, Evidence] | None = None,
    ) -> None:
        self.keys = keys or KeyTable()
        self.values: dict[str, Json] = {}
        self.evidence: dict[str, Evidence] = dict(evidence or {})
        self.journal: deque[Change] | list[Change] = deque(maxlen=JOURNAL)
        self.dirty: dict[str, Json] = {}
        self._batch: dict[str, Json] | None = None
        self._react: Callable[[], None] | None = None
        self._shared = False
        self._seq = 0
        for key, value in (values or {}).items():
            self.values[key] = checked(key, self.keys.spec(key), value)

    @classmethod
    def over(cls, values: dict[str, Json], evidence: dict[str, Evidence], keys: KeyTable) -> State:
        """A State over a snapshot's own dictionaries, which it never changes."""
        state = cls.__new__(cls)
        state.keys, state.values, state.evidence = keys, values, evidence
        state.journal, state.dirty = [], {}
        state._batch, state._react, state._shared, state._seq = None, None, True, 0
        return state

    # -- reading ------------------------------------------------------------------------------

    def find(self, key: str) -> Json:
        """The value under the lookup rule, or None; null and absent are the same to a reader."""
        for name in self.keys.names(key):
            value = self.values.get(name)
            if value is not None:
                return value
        return None

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.find(key) is not None

    def __getitem__(self, key: str) -> Json:
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
        if isinstance(key, StateKey):
            value = self.find(key.name)
            return value if _fits(value, key.type) else default
        value = self.find(key)
        return default if value is None else value

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
        if isinstance(key, StateKey) and not _fits(value, key.type):
            raise WrongTypeError(
                f"key {name!r} holds {type(value).__name__}, not {key.type.__name__}"
            )
        return value

    def try_get(self, key: StateKey[T]) -> T | None:
        """None if absent; WrongTypeError if present with another type."""
        return self.require(key) if key.name in self else None

    # -- writing ------------------------------------------------------------------------------

    def set(
        self,
        key: str | StateKey[T],
        value: Any,
        *,
        by: str = "user",
        evidence: Evidence | None = None,
    ) -> bool:
        """Write one key; True if its value changed.

        Raises:
            WrongTypeError, OwnershipError: nothing was written.
        """
        name = key.name if isinstance(key, StateKey) else key
        if self._react is not None and self._batch is None:
            with self.batch(by):
                return self.set(name, value, by=by, evidence=evidence)
        self.keys.check_writer(name, by)
        spec = self.keys.spec(name)
        if spec.merge != "last":
            value = self._merged(name, spec.merge, value)
        stored = checked(name, spec, value)
        if spec.merge == "conflict" and self._batch is not None:
            self._forbid_conflict(name, stored)
        return self._write(name, stored, evidence or plain(by))

    def offer(self, key: str, value: Any, evidence: Evidence) -> bool:
        """Write unless the present value comes from a later (turn, declaration order)."""
        present = self.evidence.get(key)
        if present is not None and (evidence.turn, evidence.order) < (present.turn, present.order):
            return False
        self.set(key, value, by=evidence.by, evidence=evidence)
        return True

    def write_derived(self, key: str, value: Json, evidence: Evidence) -> bool:
        """Write what the runtime itself works out: no ownership, no declared type."""
        if value is None:
            return key in self.values and self._write(key, None, evidence)
        stored = json_value(key, value)
        if key in self.values and self.values[key] == stored:
            return False
        return self._write(key, stored, evidence)

    def update(self, values: Mapping[str, Any], *, by: str = "user") -> None:
        """Write several keys, all or none."""
        with self.batch(by):
            for key, value in values.items():
                self.set(key, value, by=by)

    def remove(self, key: str, *, by: str = "user") -> Json:
        """Clear a key; its former value."""
        self.keys.check_writer(key, by)
        old = self.values.get(key)
        if old is not None:
            with self.batch(by):
                self._write(key, None, plain(by))
        return old

    def modify(self, key: str, work: Callable[[Any], Any], default: Any = None) -> Json:
        """Write `work(present value or default)`; the new value."""
        self.set(key, work(self.get(key, default)))
        return self.find(key)

    @contextmanager
    def batch(self, by: str = "user") -> Generator[State]:
        """Apply all writes together, or none of them if the block raises. Batches nest.

        Reads inside the block see its writes.
        """
        before = self.values, self.evidence, dict(self.dirty), self._batch, self._shared
        mark = self._seq
        self.values, self.evidence = dict(self.values), dict(self.evidence)
        self._shared, self._batch = False, {} if self._batch is None else self._batch
        try:
            yield self
            if before[3] is None and self._react is not None:
                self._react()
        except BaseException:
            self.values, self.evidence, self.dirty, self._batch, self._shared = before
            while self.journal and self.journal[-1].seq > mark:
                self.journal.pop()
            self._seq = mark
            raise
        self._batch = before[3]

    def _write(self, name: str, value: Json, evidence: Evidence) -> bool:
        old = self.values.get(name)
        if self._shared:
            self.values, self.evidence = dict(self.values), dict(self.evidence)
            self._shared = False
        changed = old != value or type(old) is not type(value)
        present = self.evidence.get(name)
        if value is None:
            self.values.pop(name, None)
            self.evidence.pop(name, None)
        else:
            self.values[name] = value
            if present is not None or changed:
                self.evidence[name] = _succeed(present, evidence, old if changed else None)
        if changed:
            self.dirty.setdefault(name, old)
        elif present is None:
            return False
        self._seq += 1
        self.journal.append(Change(self._seq, name, old, value, evidence, changed))
        return changed

    def _merged(self, name: str, merge: str, value: Any) -> Any:
        present = self.values.get(name)
        if merge == "max":
            return value if present is None or value > present else present
        if merge in ("append", "union"):
            items = list(present) if isinstance(present, list) else []
            new: list[Any] = list(value) if isinstance(value, list | tuple) else [value]  # pyright: ignore[reportUnknownArgumentType]
            return items + [v for v in new if merge == "append" or v not in items]
        return value

    def _forbid_conflict(self, name: str, value: Json) -> None:
        assert self._batch is not None
        if name in self._batch and self._batch[name] != value:
            raise ConflictError(f"key {name!r} was given two different values in one batch")
        self._batch[name] = value

    def attach(self, react: Callable[[], None]) -> None:
        """Call `react` at the end of each outermost batch; if it raises, the batch rolls back."""
        self._react = react

    # -- views --------------------------------------------------------------------------------

    def snapshot(self, keys: Iterable[str] | None = None) -> dict[str, Json]:
        """A copy of these keys, or of all; absent keys are None."""
        if keys is None:
            return dict(self.values)
        return {key: self.find(key) for key in keys}

    def diff(self, previous: Mapping[str, Json]) -> list[tuple[str, Json, Json]]:
        """(key, old, new) for each key of an earlier `snapshot` that differs now."""
        pairs = ((key, old, self.find(key)) for key, old in previous.items())
        return [(key, old, new) for key, old, new in pairs if old != new]

    def pick(self, keys: Iterable[str]) -> dict[str, Json]:
        """These keys, as far as they hold something."""
        return {key: value for key in keys if (value := self.find(key)) is not None}

    def with_prefix(self, prefix: str) -> dict[str, Json]:
        """The keys under `prefix:`, without it."""
        start = f"{prefix}:"
        return {k[len(start) :]: v for k, v in self.values.items() if k.startswith(start)}

    def rename(self, old: str, new: str, *, by: str = "user") -> None:
        """Move a value to another key, both or neither."""
        with self.batch(by):
            value = self.remove(old, by=by)
            if value is not None:
                self.set(new, value, by=by)

    def clear_prefix(self, prefix: str, *, by: str = "user") -> None:
        """Remove every key under `prefix:`."""
        start = f"{prefix}:"
        with self.batch(by):
            for key in [k for k in self.values if k.startswith(start)]:
                self.remove(key, by=by)

    @property
    def cursor(self) -> int:
        """A place in the journal, for `changes_since`."""
        return self._seq

    def changes_since(self, cursor: int) -> tuple[list[Change], bool]:
        """The writes after a cursor, and whether older ones have already left the ring."""
        kept = [change for change in self.journal if change.seq > cursor]
        return kept, len(kept) < self._seq - cursor

    def changed_keys(self) -> set[str]:
        """The dependencies behind `dirty`, where `derived:x` and `x` are one."""
        return {bare(key) for key in self.dirty}


def _fits(value: Any, kind: type) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _succeed(present: Evidence | None, new: Evidence, replaced: Json) -> Evidence:
    """The new evidence, remembering what it replaces."""
    superseded = present.superseded if present else ()
    if replaced is not None:
        superseded = (*superseded[-SUPERSEDED + 1 :], replaced)
    return new._replace(superseded=superseded) if superseded else new
