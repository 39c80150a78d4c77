"""Reactions to changes of keys, and the settle loop that brings them to rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from flowengine.errors import FunctionError, UnsettledError
from flowengine.inputs import Json
from flowengine.state.computed import ComputedKeys
from flowengine.state.keys import bare
from flowengine.state.state import State

ROUNDS = 8

Predicate: TypeAlias = Callable[[Json, Json], bool]
"""Judges (old, new); None stands for absent."""


def changed(old: Json, new: Json) -> bool:
    return old != new


def changed_to(value: Json) -> Predicate:
    return lambda old, new: new == value and old != value


def changed_from(value: Json) -> Predicate:
    return lambda old, new: old == value and new != value


def crossed_above(limit: float) -> Predicate:
    """From below `limit` to at least `limit`; an absent value crosses nothing."""
    return lambda old, new: _number(old) and _number(new) and old < limit <= new  # pyright: ignore


def crossed_below(limit: float) -> Predicate:
    """From at least `limit` to below it; an absent value crosses nothing."""
    return lambda old, new: _number(old) and _number(new) and old >= limit > new  # pyright: ignore


def became_true(old: Json, new: Json) -> bool:
    return new is True and old is not True


def became_false(old: Json, new: Json) -> bool:
    return old is True and new is not True


def _number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


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

    def matching(self, state: State, before: Mapping[str, Json]) -> list[tuple[Watcher, Json]]:
        """Each watcher that a net change since `before` sets off, with the old value."""
        found: list[tuple[Watcher, Json]] = []
        for key, old in before.items():
            for watcher in self.by_key.get(bare(key), ()):
                # A watcher of `x` does not see `derived:x` while `x` itself holds something.
                if key not in (watcher.key, _visible(state, watcher.key)):
                    continue
                if _judge(watcher, old, state.values.get(key)):
                    found.append((watcher, old))
        return sorted(found, key=lambda pair: pair[0].position)


def _visible(state: State, key: str) -> str:
    names = state.keys.names(key)
    return next((name for name in names if name in state.values), names[-1])


def _judge(watcher: Watcher, old: Json, new: Json) -> bool:
    try:
        return old != new and watcher.predicate(old, new)
    except Exception as error:
        raise FunctionError("watcher", watcher.name or watcher.key, error) from error


def settle(
    state: State,
    computed: ComputedKeys,
    watchers: WatchTable,
    fire: Callable[[Watcher, Json, Json], None],
) -> set[str]:
    """Recompute and fire watchers until nothing changes; the keys that changed.

    Round 1 compares with the last settling, each later round with the round before it.

    Raises:
        UnsettledError: still not at rest after eight rounds; the message shows the chain.
    """
    touched: set[str] = set()
    chain: list[str] = []
    while state.dirty:
        computed.recompute(state, tuple(state.dirty))
        before, state.dirty = state.dirty, {}
        touched.update(map(bare, before))
        due = watchers.matching(state, before) if watchers.by_key else ()
        if due and len(chain) == ROUNDS:
            raise UnsettledError(
                f"watchers do not come to rest after {ROUNDS} rounds: {' -> '.join(chain)}; "
                "let one of them stop writing when there is nothing left to change"
            )
        if due:
            chain.append(", ".join(dict.fromkeys(w.key for w, _ in due)))
        for watcher, old in due:
            fire(watcher, old, state.find(watcher.key))
    return touched
