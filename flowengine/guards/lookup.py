"""Reading a key or a path under the one lookup rule, with everything decided beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from flowengine.guards.view import Keys, View
from flowengine.inputs import Json
from flowengine.state.evidence import Evidence

Reader: TypeAlias = Callable[[View], Json]

DERIVED = "derived:"


def bare(key: str) -> str:
    """The dependency that `derived:x` and `x` share."""
    return key.removeprefix(DERIVED)


def splits(name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Every way to read a dotted name as a key and fields below it, longest key first."""
    parts = name.split(".")
    if not all(parts):
        return ((name, ()),)
    return tuple((".".join(parts[:n]), tuple(parts[n:])) for n in range(len(parts), 0, -1))


def roots(name: str) -> tuple[str, ...]:
    """The keys that a name may turn out to read: itself, then each shorter one."""
    return tuple(bare(key) for key, _ in splits(name))


def value_reader(name: str, keys: Keys) -> Reader:
    """The key's value, or the field's; None when it is not set."""
    stored = keys.names[name]
    if "." in name or stored[2:]:
        places = _places(name, keys)
        return lambda view: _first(view.values, places)
    first, *more = stored
    if not more:
        return lambda view: view.values.get(first)
    second = more[0]

    def read(view: View) -> Json:
        values = view.values
        value = values.get(first)
        return values.get(second) if value is None else value

    return read


def look_up(name: str, find: Callable[[str], Json]) -> Json:
    """The key's value, or the field's, through any look-up of keys."""
    for key, path in splits(name):
        value = find(key)
        if value is not None:
            return _field(value, path)
    return None


def argument_reader(name: str) -> Reader:
    places = splits(name)
    return lambda view: _first(view.args, places)


def evidence_reader(name: str, keys: Keys) -> Callable[[View], Evidence | None]:
    """The evidence of the key that the name reads now."""
    places = _places(name, keys)

    def read(view: View) -> Evidence | None:
        for key, path in places:
            value = view.values.get(key)
            if value is not None:
                return view.evidence.get(key) if _field(value, path) is not None else None
        return None

    return read


def _places(name: str, keys: Keys) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((stored, path) for key, path in splits(name) for stored in keys.names[key])


def _first(values: Mapping[str, Json], places: Iterable[tuple[str, tuple[str, ...]]]) -> Json:
    for key, path in places:
        value = values.get(key)
        if value is not None:
            return _field(value, path)
    return None


def _field(value: Json, path: tuple[str, ...]) -> Json:
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isascii() and step.isdecimal():
            value = value[int(step)] if int(step) < len(value) else None
        else:
            return None
    return value
