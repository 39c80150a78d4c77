"""Reactive memory of a conversation: writes in batches that roll back, evidence, a journal."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from flowengine.inputs import Json
from flowengine.state.evidence import Evidence, plain
from flowengine.state.keys import KeySpec, KeyTable, StateKey, bare, checked, json_value, respelled
from flowengine.state.merge import combined
from flowengine.state.reading import Reading
from flowengine.state.types import copied, same

T = TypeVar("T")
SCALARS = frozenset({bool, int, str})
SUPERSEDED = 8
WRITERS = 64
"""Allowed writers that a key's slot remembers."""
JOURNAL = 1024
"""Writes that the journal keeps at least; older ones leave it between batches."""


class Change(NamedTuple):
    """One write in the journal; `changed` is False when an equal value only renewed evidence."""

    seq: int
    key: str
    old: Json
    new: Json
    evidence: Evidence
    changed: bool


class _Batch(NamedTuple):
    """What the writes of one batch share."""

    by: str
    mark: int
    """The journal's cursor when the outermost batch began."""
    given: dict[str, Json]
    """What `conflict` keys were given so far."""


class State(Reading):
    """A mapping of keys to JSON values.

    Values and evidence may be shared with a snapshot: they are copied before the first write, so
    that a rollback is to drop this object. `dirty` maps each key that changed since it was last
    emptied to the value it had then.
    """

    __slots__ = ("_batch", "_react", "_seq", "_shared", "dirty", "evidence", "journal")

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
        self.journal: list[Change] = []
        self.dirty: dict[str, Json] = {}
        self._batch: _Batch | None = None
        self._react: Callable[[], Callable[[], None]] | None = None
        self._shared = False
        self._seq = 0
        for key, value in (values or {}).items():
            stored = checked(key, self.keys.spec(key), value)
            if stored is not None:
                self.values[key] = stored

    @classmethod
    def over(cls, values: dict[str, Json], evidence: dict[str, Evidence], keys: KeyTable) -> State:
        """A State over a snapshot's own dictionaries, which it never changes."""
        state = cls.__new__(cls)
        state.keys, state.values, state.evidence = keys, values, evidence
        state.journal, state.dirty = [], {}
        state._batch, state._react, state._shared, state._seq = None, None, True, 0
        return state

    # -- writing ------------------------------------------------------------------------------

    def set(
        self,
        key: str | StateKey[T],
        value: Any,
        *,
        by: str | None = None,
        evidence: Evidence | None = None,
    ) -> bool:
        """Write one key, None clears it; True if its value changed.

        `by` is the writer; by default the evidence's, else the batch's, else "user". Under a merge
        policy the value is combined with the present one.

        Raises:
            WrongTypeError, OwnershipError, ConflictError: nothing was written.
        """
        name = key.name if isinstance(key, StateKey) else key
        if self._react is not None and self._batch is None:
            with self.batch(by):
                return self.set(key, value, by=by, evidence=evidence)
        by = by or (evidence.by if evidence is not None else self._writer)
        slot = self.keys.slots[name]
        if by not in slot.writers:
            self.keys.check_writer(name, by)
            if len(slot.writers) < WRITERS:
                slot.writers.add(by)
        stored = value if type(value) in slot.as_is else self._stored(name, slot.spec, value)
        if isinstance(key, StateKey) and stored is not None:
            key.read(stored)
        return self._write(name, stored, evidence or plain(by))

    def _stored(self, name: str, spec: KeySpec, value: Any) -> Json:
        """The form in which a value that is not stored as it is will be."""
        if spec.merge == "last" or value is None:
            stored = checked(name, spec, value)
        else:
            given = self._batch.given if self._batch is not None else None
            stored = combined(name, spec, self.values.get(name), value, given)
        return stored if spec.type is None else respelled(spec, self.values.get(name), stored)

    def offer(self, key: str, value: Any, evidence: Evidence) -> bool:
        """Write unless the present value comes from a later (turn, declaration order).

        None is never written: hearing nothing erases nothing.
        """
        present = self.evidence.get(key)
        if value is None:
            return False
        if present is not None and (evidence.turn, evidence.order) < (present.turn, present.order):
            return False
        self.set(key, value, by=evidence.by, evidence=evidence)
        return True

    def write_derived(self, key: str, value: Any, evidence: Evidence) -> bool:
        """Write what the runtime itself works out: no ownership, no declared type."""
        if value is None:
            return key in self.values and self._write(key, None, evidence)
        stored = json_value(key, value)
        if key in self.values and same(self.values[key], stored):
            return False
        return self._write(key, stored, evidence)

    def update(self, values: Mapping[str, Any], *, by: str | None = None) -> None:
        """Write several keys, all or none."""
        with self.batch(by):
            for key, value in values.items():
                self.set(key, value)

    def remove(self, key: str, *, by: str | None = None) -> Json:
        """Clear a key; its former value. Clears no other key that the lookup rule would find."""
        by = by or self._writer
        self.keys.check_writer(key, by)
        old = self.values.get(key)
        if old is not None:
            with self.batch(by):
                self._write(key, None, plain(by))
        return copied(old)

    def modify(
        self, key: str, work: Callable[[Any], Any], default: Any = None, *, by: str | None = None
    ) -> Any:
        """Replace the value by `work(present value or default)`; the new value.

        What `work` itself writes counts with it: all or none.
        """
        with self.batch(by):
            by = self._writer
            self.keys.check_writer(key, by)
            stored = checked(key, self.keys.spec(key), work(self.get(key, default)))
            self._write(key, stored, plain(by))
        return self.get(key)

    @contextmanager
    def batch(self, by: str | None = None) -> Generator[State]:
        """Apply all writes together, or none of them if the block raises. Batches nest.

        Reads inside the block see its writes; `by` is their writer unless they name another.
        """
        outer = self._batch
        before = self.values, self.evidence, dict(self.dirty), self._shared
        cursor = self._seq
        self.values, self.evidence, self._shared = dict(self.values), dict(self.evidence), False
        batch = self._batch = (
            _Batch(by or "user", cursor, {}) if outer is None
            else _Batch(by or outer.by, outer.mark, dict(outer.given))
        )  # fmt: skip
        publish = None
        try:
            yield self
            if outer is None and self._react is not None:
                publish = self._react()
        except BaseException:
            self.values, self.evidence, self.dirty, self._shared = before
            self._forget(cursor)
            self._batch = outer
            raise
        self._batch = outer
        if outer is not None:
            outer.given.update(batch.given)
        if publish is not None:
            publish()

    @property
    def _writer(self) -> str:
        return self._batch.by if self._batch is not None else "user"

    def _write(self, name: str, value: Json, evidence: Evidence) -> bool:
        old = self.values.get(name)
        kind = type(value)
        if kind is type(old) and kind in SCALARS:
            changed = old != value
        else:
            changed = not same(old, value)
        if value is None and not changed:
            return False
        if self._shared:
            self.values, self.evidence = dict(self.values), dict(self.evidence)
            self._shared = False
        present = self.evidence.get(name)
        if value is None:
            self.values.pop(name, None)
            self.evidence.pop(name, None)
        else:
            if changed:
                self.values[name] = value
            self.evidence[name] = _succeed(present, evidence, old if changed else None)
        if changed:
            self.dirty.setdefault(name, old)
        self._record(name, old, value, evidence, changed)
        return changed

    def _record(self, name: str, old: Json, new: Json, evidence: Evidence, changed: bool) -> None:
        if len(self.journal) >= 2 * JOURNAL and self._at_rest():
            del self.journal[:-JOURNAL]
        self._seq += 1
        self.journal.append(Change(self._seq, name, old, new, evidence, changed))

    def _at_rest(self) -> bool:
        """No write of an open batch is in the journal, so a rollback cannot miss what leaves it."""
        return self._batch is None or self._batch.mark == self._seq

    def _forget(self, cursor: int) -> None:
        """Take back what was recorded after `cursor`."""
        while self.journal and self.journal[-1].seq > cursor:
            self.journal.pop()
        self._seq = cursor

    def attach(self, react: Callable[[], Callable[[], None]]) -> None:
        """Call `react` at the end of each outermost batch, and its result once that is committed.

        If `react` raises, the batch rolls back; what its result raises undoes nothing.
        """
        self._react = react

    # -- several keys, and the journal --------------------------------------------------------

    def rename(self, old: str, new: str, *, by: str | None = None) -> None:
        """Move a value to another key, both or neither."""
        with self.batch(by):
            value = self.remove(old)
            if value is not None:
                self.set(new, value)

    def clear_prefix(self, prefix: str, *, by: str | None = None) -> None:
        """Remove every key under `prefix:`."""
        start = f"{prefix}:"
        with self.batch(by):
            for key in [k for k in self.values if k.startswith(start)]:
                self.remove(key)

    @property
    def cursor(self) -> int:
        """A place in the journal, for `changes_since`."""
        return self._seq

    def changes_since(self, cursor: int) -> tuple[list[Change], bool]:
        """The writes after a cursor, and whether older ones have already left the ring."""
        kept = [
            change._replace(old=copied(change.old), new=copied(change.new))
            for change in self.journal
            if change.seq > cursor
        ]
        return kept, len(kept) < self._seq - cursor

    def changed_keys(self) -> set[str]:
        """The dependencies behind `dirty`, where `derived:x` and `x` are one."""
        return {bare(key) for key in self.dirty}


def _succeed(present: Evidence | None, new: Evidence, replaced: Json) -> Evidence:
    """The new evidence, remembering what it replaces."""
    superseded = present.superseded if present is not None else ()
    if replaced is not None:
        superseded = (*superseded[-SUPERSEDED + 1 :], replaced)
    # As a bare tuple: `_replace` costs five times as much, and this is on the way of every write.
    return tuple.__new__(Evidence, (*new[:-1], superseded)) if superseded else new
