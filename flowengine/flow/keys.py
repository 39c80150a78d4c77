"""What a flow says about its keys must hold together: owners, literals, and no cycle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from flowengine.errors import StateError, near_miss
from flowengine.flow.cycles import cycles
from flowengine.flow.diagnostic import Finding, Path, listing, warning
from flowengine.flow.index import Index
from flowengine.flow.model import Key
from flowengine.flow.reaction import Computed, Watch
from flowengine.flow.uses import Use, root_of, writes
from flowengine.guards import Compare, Constant, Read, atoms_of, names_of
from flowengine.inputs import Json
from flowengine.state.keys import (
    KEY_TYPES,
    MODEL_WRITERS,
    RUNTIME_PREFIXES,
    KeySpec,
    bare,
    checked,
)
from flowengine.tools.spec import Tool


def declared_once(index: Index) -> Iterator[Finding]:
    """`x` and `derived:x` are one key."""
    for section, names in (("state", index.flow.state), ("computed", index.flow.computed)):
        for name in names:
            if name != bare(name) and bare(name) in names:
                message = f"{bare(name)!r} and {name!r} are the same key"
                yield Finding("same_key", message, (section, name), on_key=True)


def owned_keys(index: Index) -> Iterator[Finding]:
    """A computed key or a promotion does not write what is reserved for other writers."""
    keys = index.flow.state
    for use in writes(index):
        spec = keys.get(bare(use.key)) if use.by and use.by != "action" else None
        if spec is None:
            continue
        if spec.writers and use.by not in spec.writers:
            yield _owned(use, f"is written by {', '.join(spec.writers)} alone")
        elif spec.trusted and use.by.startswith((*MODEL_WRITERS, "computed")):
            yield _owned(use, "is trusted: no model, no decision and no computed key writes it")


def _owned(use: Use, why: str) -> Finding:
    what = "a computed key" if use.by == "computed" else use.by
    message = f"key {use.key!r} {why}, so {what} cannot"
    return Finding("owned_key", message, use.path, on_key=use.by == "computed", word=use.key)


def reserved_keys(index: Index) -> Iterator[Finding]:
    """Keys that the runtime keeps are not declared and not written."""
    named = [Use(name, ("state", name)) for name in index.flow.state if bare(name) == name]
    for use in [*named, *(use for use in writes(index) if use.by and use.by != "computed")]:
        prefix = next((p for p in RUNTIME_PREFIXES if use.key.startswith(p)), None)
        if prefix:
            message = f"key {use.key!r}: `{prefix}` keys are written by the runtime alone"
            yield Finding("reserved_key", message, use.path, on_key=_is_key(use), word=use.key)


def _is_key(use: Use) -> bool:
    return bool(use.path) and use.path[-1] == use.key


def computed_cycles(index: Index) -> Iterator[Finding]:
    """No computed key depends on itself, by whatever way round."""
    graph = {bare(name): sources_of(c) for name, c in index.flow.computed.items()}
    spelled = {bare(name): name for name in index.flow.computed}
    for cycle in cycles({name: sorted(sources) for name, sources in graph.items()}):
        path = ("computed", spelled[cycle[0]])
        chain = " -> ".join([*cycle, cycle[0]])
        yield Finding("computed_cycle", f"computed keys go in a circle: {chain}", path, on_key=True)


def sources_of(computed: Computed) -> set[str]:
    """The keys that it says it reads, a path also by its first part."""
    named = {*(computed.reads or ()), *(computed.value.reads() if computed.value else ())}
    if computed.of is not None:
        named.add(computed.of)
    for case in computed.cases or ():
        named.update(names_of(case.when, "key"))
    return {part for name in named for part in (bare(name), bare(name).partition(".")[0])}


def literals(index: Index) -> Iterator[Finding]:
    """Values written down for a declared key fit its type."""
    for key, value, path in _written(index):
        spec = index.flow.state.get(bare(key))
        if spec is None or value is None:
            continue
        try:
            checked(key, key_spec(spec), value)
        except StateError as error:
            yield Finding("wrong_value", str(error), path)


def key_spec(key: Key) -> KeySpec:
    """The part of a declared key by which State judges a value."""
    return KeySpec(type=KEY_TYPES[key.type], enum=key.enum)


def _written(index: Index) -> Iterator[tuple[str, Json, Path]]:
    for name, key in index.flow.state.items():
        yield name, key.default, ("state", name, "default")
        yield from ((name, value, path) for value, path in _enum(key, ("state", name, "enum")))
    for path, action in index.actions:
        yield from ((k, v, (*path, "set", k)) for k, v in (action.set or {}).items())
    for path, tool in index.all_of(Tool):
        yield from ((k, v, (*path, "set", k)) for k, v in tool.set.items() if _is_literal(v))
    for path, watch in index.all_of(Watch):
        yield watch.key, watch.changed_to, (*path, "changed_to")
        yield watch.key, watch.changed_from, (*path, "changed_from")
    for name, computed in index.flow.computed.items():
        yield from ((name, value, path) for value, path in _results(computed, ("computed", name)))


def _enum(key: Key, path: Path) -> Iterator[tuple[Json, Path]]:
    return ((value, (*path, at)) for at, value in enumerate(key.enum or ()))


def _results(computed: Computed, path: Path) -> Iterator[tuple[Json, Path]]:
    for source, value in (computed.map or {}).items():
        yield value, (*path, "map", source)
    for at, case in enumerate(computed.cases or ()):
        yield case.value, (*path, "cases", at, "value")
    yield computed.else_, (*path, "else")


def _is_literal(value: Json) -> bool:
    """In a tool's `set`, text may read the response and the arguments."""
    return not (isinstance(value, str) and value.startswith(("result", "args.")))


def compared_literals(index: Index) -> Iterator[Finding]:
    """A guard compares a key with a value that it can hold."""
    for path, guard in index.guards:
        for leaf in atoms_of(guard):
            if isinstance(leaf, Compare):
                yield from _never(index, leaf, path)


def _never(index: Index, compare: Compare, path: Path) -> Iterator[Finding]:
    for name, op, value in _compared(compare):
        key = index.flow.state.get(root_of(name, index.flow.state) or "")
        if key is None or key.enum is None or bare(name) not in index.flow.state:
            continue
        options = cast("list[Json]", value) if op == "in" else [value]
        for option in options:
            if op in ("==", "in") and option is not None and option not in key.enum:
                yield warning(
                    "not_in_enum",
                    f"key {name!r} never is {option!r}",
                    path,
                    suggestion=_option(option, key.enum),
                    word=str(option),
                )


def _option(value: Json, enum: tuple[Json, ...]) -> str:
    options = [str(option) for option in enum]
    guess = near_miss(str(value), options)
    return f"did you mean {guess!r}?" if guess else listing(options)


def _compared(compare: Compare) -> Iterator[tuple[str, str, Any]]:
    """Pairs of a key and a constant beside each other."""
    for op, left, right in zip(compare.ops, compare.terms, compare.terms[1:], strict=False):
        for key, value in ((left, right), (right, left)):
            if isinstance(key, Read) and key.kind == "key" and isinstance(value, Constant):
                yield key.name, op, value.value
