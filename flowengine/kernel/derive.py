"""The reactive part of a flow for State: its keys, computed keys and watchers, compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from flowengine.extract.compiled import targets
from flowengine.flow.functions import Functions
from flowengine.flow.index import Index
from flowengine.flow.model import Flow
from flowengine.flow.reaction import Computed as ComputedSpec
from flowengine.flow.reaction import Watch
from flowengine.guards import CompiledGuard, compile_guard
from flowengine.guards.lookup import look_up, roots
from flowengine.inputs import Json
from flowengine.kernel.actions import compile_actions, perform
from flowengine.state import (
    KEY_TYPES,
    Computed,
    ComputedKeys,
    KeySpec,
    KeyTable,
    Watcher,
    WatchTable,
)
from flowengine.state import watchers as predicates
from flowengine.state.keys import bare


def key_table(flow: Flow) -> KeyTable:
    """The keys as State checks them: those declared, and those that hold a pii key's value too."""
    specs = {
        name: KeySpec(
            KEY_TYPES[key.type], key.enum, key.pii, frozenset(key.writers), key.trusted,
            key.merge,
        )
        for name, key in flow.state.items()
    }  # fmt: skip
    for name in _private(flow):
        spec = specs.get(name, KeySpec())
        specs[name] = replace(spec, pii=True, repeats=not spec.pii)
    return KeyTable(specs, _declared_private(flow))


def _declared_private(flow: Flow) -> Iterable[str]:
    """The keys declared `pii`, and those that fill a field of one."""
    own = {name for name, key in flow.state.items() if key.pii}
    filled = (key for extract in flow.extract for key in targets(extract))
    found = (spec.to for record in flow.records.values() for spec in record.fields.values())
    parts = {key for key in (*filled, *found) if key and bare(key).partition(".")[0] in own}
    return sorted(own | parts)


def _private(flow: Flow) -> Iterable[str]:
    """What repeats a pii key, directly or through others."""
    private = {bare(name) for name, key in flow.state.items() if key.pii}
    left = dict(_made_of(flow)) if private else {}
    while found := [
        name for name, sources in left.items() if sources is None or _overlap(sources, private)
    ]:
        yield from found
        private.update(map(bare, found))
        for name in found:
            del left[name]


def _made_of(flow: Flow) -> Iterator[tuple[str, set[str] | None]]:
    """Keys with those from whose values theirs are made; None if that may be any."""
    yield from _copies(flow).items()
    for name, resolver in flow.resolvers.items():
        yield f"{name}:result", set(map(bare, resolver.reads))
    for name, record in flow.records.items():
        if record.on_complete is not None:
            yield f"{name}:result", None
    for extract in flow.extract:
        yield extract.name, set(map(bare, targets(extract)))
    for name, computed in flow.computed.items():
        yield name, _sources(computed)


def _copies(flow: Flow) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for _, action in Index(flow).actions:
        for target, source in (action.copy_ or {}).items():
            found.setdefault(target, set()).add(bare(source))
    return found


def _sources(spec: ComputedSpec) -> set[str] | None:
    """Which case holds does not tell a value; a function whose reads are tracked may read any."""
    if spec.run is not None and spec.reads is None:
        return None
    if spec.of is not None:
        return {bare(spec.of)}
    reads = spec.value.reads() if spec.value is not None else spec.reads or ()
    return set(map(bare, reads))


def _overlap(sources: set[str], private: set[str]) -> bool:
    """One is a private key, a part of one, or has one as a part."""
    return any(
        source == key or source.startswith(f"{key}.") or key.startswith(f"{source}.")
        for source in sources
        for key in private
    )


def computed_keys(flow: Flow, keys: KeyTable, functions: Functions) -> ComputedKeys:
    """Every computed key of the flow in a stable order."""
    return ComputedKeys(
        _computed(name, spec, keys, functions) for name, spec in flow.computed.items()
    )


def watch_table(flow: Flow, functions: Functions) -> WatchTable:
    """Every watcher of the flow; its action writes in the step that set it off."""
    return WatchTable(
        _watcher(position, watch, functions) for position, watch in enumerate(flow.watch)
    )


def _computed(name: str, spec: ComputedSpec, keys: KeyTable, functions: Functions) -> Computed:
    if spec.map is not None:
        return _mapped(name, spec)
    if spec.cases is not None:
        return _by_cases(name, spec, keys, functions)
    if spec.value is not None:
        expression = spec.value
        return Computed(
            name,
            lambda view: expression.evaluate(lambda key: look_up(key, view.find)),
            _roots(expression.reads()),
        )
    function = functions.lookup("computed", spec.run or name)
    return Computed(name, lambda view: function(_Mapped(view)), spec.reads)


def _mapped(name: str, spec: ComputedSpec) -> Computed:
    source, table, otherwise = spec.of or "", spec.map or {}, spec.else_

    def work(view: Any) -> Json:
        return table.get(_label(look_up(source, view.find)), otherwise)

    return Computed(name, work, _roots([source]))


def _roots(names: Iterable[str]) -> tuple[str, ...]:
    """All that the names may turn out to read: `person.name` is a key, or a field of `person`."""
    return tuple(dict.fromkeys(root for name in names for root in roots(name)))


def _label(value: Json) -> str:
    """A value as the key of a `map`: `true` and 3 are written as they stand in YAML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _by_cases(name: str, spec: ComputedSpec, keys: KeyTable, functions: Functions) -> Computed:
    custom = functions.of("guard")
    cases = [
        (compile_guard(case.when, keys, functions=custom), case.value) for case in spec.cases or ()
    ]
    reads = {read for guard, _ in cases for read in guard.reads if not read.startswith("@")}

    def work(view: Any) -> Json:
        return next((value for guard, value in cases if _holds(guard, view)), spec.else_)

    return Computed(name, work, tuple(sorted(reads)))


def _holds(guard: CompiledGuard, view: Any) -> bool:
    return guard.test(view)


class _Mapped:
    """What a registered computed function sees: a mapping whose reads are tracked."""

    __slots__ = ("_view",)

    def __init__(self, view: Any) -> None:
        self._view = view

    def get(self, key: str, default: Any = None) -> Any:
        value = self._view.find(key)
        return default if value is None else value

    def __getitem__(self, key: str) -> Any:
        value = self._view.find(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: str) -> bool:
        return self._view.find(key) is not None


def _watcher(position: int, watch: Watch, functions: Functions) -> Watcher:
    actions = compile_actions(watch.do, f"watcher:{watch.key}", functions)

    def act(old: Json, new: Json, state: Any) -> None:
        perform(actions, state, old, new)

    return Watcher(
        watch.key, _predicate(watch, functions), act, f"{watch.key}.{watch.predicate}", position
    )


def _predicate(watch: Watch, functions: Functions) -> Callable[[Json, Json], bool]:
    kind = watch.predicate
    if kind == "custom":
        function = functions.lookup("watcher", watch.custom or "")
        return lambda old, new: function(old, new) is True
    simple = {
        "changed": predicates.changed,
        "became_true": predicates.became_true,
        "became_false": predicates.became_false,
    }
    if kind in simple:
        return simple[kind]
    return getattr(predicates, kind)(getattr(watch, kind))
