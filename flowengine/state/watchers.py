"""Reactions to changes of keys, and the settle loop that brings them to rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from flowengine.errors import FunctionError, UnsettledError
from flowengine.inputs import Json
from flowengine.state.computed import ComputedKeys
from flowengine.state.keys import KeyTable, bare
from flowengine.state.state import State
from flowengine.state.types import KEY_TYPES, same

ROUNDS = 8

Predicate: TypeAlias = Callable[[Json, Json], bool]
"""Judges (old, new); None stands for absent, and a declared decimal comes as a Decimal."""

_DECIMAL = KEY_TYPES["decimal"]


def changed(old: Json, new: Json) -> bool:
    return not same(old, new)


def changed_to(value: Json) -> Predicate:
    return lambda old, new: _is(new, value) and not _is(old, value)


def changed_from(value: Json) -> Predicate:
    return lambda old, new: _is(old, value) and not _is(new, value)


def crossed_above(limit: float) -> Predicate:
    """From below `limit` to at least `limit`; an absent value crosses nothing."""
    return lambda old, new: _ordered(old, new) and _below(old, limit) and not _below(new, limit)


def crossed_below(limit: float) -> Predicate:
    """From at least `limit` to below it; an absent value crosses nothing."""
    return lambda old, new: _ordered(old, new) and not _below(old, limit) and _below(new, limit)


def became_true(old: Json, new: Json) -> bool:
    return new is True and old is not True


def became_false(old: Json, new: Json) -> bool:
    return old is True and new is not True


def _ordered(*values: Any) -> bool:
    return all(isinstance(v, int | float | Decimal) and not isinstance(v, bool) for v in values)


def _below(value: Any, limit: float) -> bool:
    return value < (Decimal(str(limit)) if isinstance(value, Decimal) else limit)


def _is(held: Any, value: Json) -> bool:
    if not isinstance(held, Decimal):
        return same(held, value)
    return (
        not isinstance(value, bool) and _DECIMAL.accepts(str(value)) and held == Decimal(str(value))
    )


@dataclass(frozen=True, slots=True)
class Watcher:
    """Calls `action(old, new, state)` when a change of `key` meets `predicate`."""

    key: str
    predicate: Predicate
    action: Callable[[Json, Json, State], None]
    name: str = ""
    position: int = 0


class WatchTable:
    """Watchers by key, in declaration order."""

    __slots__ = ("by_key",)

    def __init__(self, watchers: Iterable[Watcher] = ()) -> None:
        self.by_key: dict[str, tuple[Watcher, ...]] = {}
        for watcher in watchers:
            key = bare(watcher.key)
            self.by_key[key] = (*self.by_key.get(key, ()), watcher)

    def matching(
        self, state: State, before: Mapping[str, Json]
    ) -> list[tuple[Watcher, Json, Json]]:
        """Each watcher that a net change since `before` sets off, with the old and new value."""
        found: list[tuple[Watcher, Json, Json]] = []
        seen: set[int] = set()
        for key in before:
            for watcher in self.by_key.get(bare(key), ()):
                if id(watcher) in seen:  # both `x` and `derived:x` changed
                    continue
                seen.add(id(watcher))
                old, new = _visible(state, watcher.key, before), state.find(watcher.key)
                if _judge(watcher, old, new, state.keys):
                    found.append((watcher, old, new))
        return sorted(found, key=lambda due: due[0].position)


def _visible(state: State, key: str, before: Mapping[str, Json]) -> Json:
    """What a reader of the key found then."""
    names = state.keys.names[key]
    held = (before[name] if name in before else state.values.get(name) for name in names)
    return next((value for value in held if value is not None), None)


def _judge(watcher: Watcher, old: Json, new: Json, keys: KeyTable) -> bool:
    if same(old, new):
        return False
    key = watcher.key
    judge: Callable[[Any, Any], bool] = watcher.predicate
    try:
        return judge(keys.number(key, old), keys.number(key, new))
    except Exception as error:
        raise FunctionError("watcher", watcher.name or key, error) from error


def settle(
    state: State,
    computed: ComputedKeys,
    watchers: WatchTable,
    fire: Callable[[Watcher, Json, Json], None],
) -> set[str]:
    """Recompute and fire watchers until nothing changes; the keys that ended up different.

    Round 1 compares with the last settling, each later round with the round before it.

    Raises:
        UnsettledError: still not at rest after eight rounds; the message shows the chain.
    """
    first: dict[str, Json] = {}
    chain: list[str] = []
    while state.dirty:
        if computed.order:
            computed.recompute(state, tuple(state.dirty))
        before, state.dirty = state.dirty, {}
        first = {**before, **first} if first else before
        due = watchers.matching(state, before) if watchers.by_key else ()
        if due and len(chain) == ROUNDS:
            raise UnsettledError(
                f"watchers do not come to rest after {ROUNDS} rounds: {' -> '.join(chain)}; "
                "let one of them stop writing when there is nothing left to change"
            )
        if due:
            chain.append(", ".join(dict.fromkeys(w.key for w, _, _ in due)))
        for watcher, old, new in due:
            fire(watcher, old, new)
    keys, values = state.keys, state.values
    return {keys.slots[key].bare for key, old in first.items() if not same(old, values.get(key))}
