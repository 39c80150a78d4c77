"""What is certain about a transition's condition without knowing State."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from flowengine.flow.action import Action
from flowengine.flow.keys import sources_of
from flowengine.flow.model import Flow, Transition
from flowengine.guards import AllOf, Atom, Compare, Guard, always, atoms_of, names_of
from flowengine.inputs import Json
from flowengine.state.keys import bare

_MOVING = {"caller_spoke", "done", "in_phase", "corrected", "called_ok"}
"""Atoms that entering a phase or the end of a turn changes."""


def is_unconditional(data: Transition) -> bool:
    """It is taken as soon as its phase is active, whatever State holds."""
    if data.on is not None or data.after is not None:
        return False
    return data.immediately if data.when is None else data.when == always()


def waits_for_caller(data: Transition) -> bool:
    """It has no condition of its own, so it waits for the caller's words."""
    conditions = (data.when, data.on, data.after)
    return all(condition is None for condition in conditions) and not data.immediately


def conjuncts(data: Transition) -> frozenset[Guard]:
    """Guards all of which must hold; an empty set always does."""
    if data.when is None or data.when == always():
        return frozenset()
    return frozenset(data.when.guards if isinstance(data.when, AllOf) else (data.when,))


def stays_true(guard: Guard) -> bool:
    """Whether it reads State alone, so that moving to another phase leaves it as it is."""
    for leaf in atoms_of(guard):
        if isinstance(leaf, Atom) and (leaf.kind in _MOVING or leaf.kind == "custom"):
            return False
        if isinstance(leaf, Compare) and any(
            getattr(term, "kind", "") in ("turns_in_phase", "elapsed") for term in leaf.terms
        ):
            return False
    return not any(name.startswith(("phase:", "turn:")) for name in names_of(guard, "key"))


def may_falsify(flow: Flow, actions: Iterable[Action], guard: Guard) -> bool:
    """Whether doing this can make a guard that holds stop holding, watchers included."""
    if guard == always():
        return False
    actions = list(actions)
    if any(written(action) for action in actions):
        actions += [action for watch in flow.watch for action in watch.do]
    keys = _read(flow, guard)
    return any(_may_falsify(action, guard, keys) for action in actions)


def _may_falsify(action: Action, guard: Guard, keys: frozenset[str] | None) -> bool:
    if action.run is not None or (action.reset and names_of(guard, "phase")):
        return True
    if action.resolve is not None and action.resolve in names_of(guard, "resolver"):
        return True
    if keys is None:
        return bool(written(action))
    changed = any(_touches(key, w) for key in keys for w in written(action))
    return changed and not _keeps(action, guard)


def written(action: Action) -> set[str]:
    """The keys that it writes or clears."""
    return {bare(key) for part in (action.set, action.copy_, action.clear) for key in part or ()}


def _touches(key: str, written: str) -> bool:
    return key == written or key.startswith(f"{written}.")


def _read(flow: Flow, guard: Guard) -> frozenset[str] | None:
    """The keys behind a guard; None where a function may read any."""
    found, is_all = keys_behind(flow, names_of(guard, "key"))
    return found if is_all else None


def keys_behind(flow: Flow, names: Iterable[str]) -> tuple[frozenset[str], bool]:
    """These keys and those behind them through computed keys; whether these are known to be all."""
    computed = {bare(name): spec for name, spec in flow.computed.items()}
    found, waiting, is_all = set[str](), [bare(name) for name in names], True
    while waiting:
        key = waiting.pop()
        if key in found:
            continue
        found.add(key)
        spec = computed.get(key) or computed.get(key.partition(".")[0])
        is_all = is_all and (spec is None or spec.run is None or spec.reads is not None)
        waiting += [bare(name) for name in (sources_of(spec) if spec else ())]
    return frozenset(found), is_all


def _keeps(action: Action, guard: Guard) -> bool:
    """`set: {x: true}` leaves `is_true(x)` as it is, and any value leaves `captured(x)`."""
    if not isinstance(guard, Atom) or action.set is None or guard.kind not in _KEPT:
        return False
    values = {bare(key): value for key, value in action.set.items()}
    return all(_KEPT[guard.kind](values.get(bare(name), True)) for name in guard.names)


_KEPT: Mapping[str, Callable[[Json], bool]] = {
    "is_true": lambda value: value is True,
    "is_set": lambda value: value is not None,
    "captured": lambda value: value is not None,
}
