"""Values written down for keys must be values that the keys can hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from flowengine.errors import GuardError, StateError, near_miss
from flowengine.flow.diagnostic import Finding, Patch, Path, listing, pointer, warning
from flowengine.flow.index import Index
from flowengine.flow.model import Key
from flowengine.flow.reaction import Computed, Watch
from flowengine.flow.uses import root_of
from flowengine.guards import Compare, Constant, Guard, Read, atoms_of, compile_guard
from flowengine.inputs import Json
from flowengine.state.keys import KEY_TYPES, KeySpec, KeyTable, bare, checked
from flowengine.tools.spec import Tool

_PLAIN: Mapping[str, tuple[type, ...]] = {
    "boolean": (bool,), "integer": (int, float), "number": (int, float), "string": (str,),
}  # fmt: skip
"""Python types of the literals with which a key can be compared, by its type."""
_BOOLEANS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}
_PATH = re.compile(r"(\w+)((?:\.\w+)+)")


def literals(index: Index) -> Iterator[Finding]:
    """Values written down for a declared key fit its type."""
    for key, value, path in _written(index):
        spec = index.flow.state.get(bare(key))
        if spec is None or value is None:
            continue
        try:
            checked(key, key_spec(spec), value)
        except StateError as error:
            found = Finding("wrong_value", str(error), path)
            yield _to_response(_to_boolean(found, spec, value), value)


def misread_responses(index: Index) -> Iterator[Finding]:
    """`results.x`, where `result.x` was meant, is written to the key as that very text."""
    for path, tool in index.all_of(Tool):
        for key, value in tool.set.items():
            spec = index.flow.state.get(bare(key))
            fits = spec is None or (spec.type == "string" and spec.enum is None)
            if fits and _response(value):
                message = f"key {key!r} becomes the text {value!r} itself"
                yield _to_response(warning("literal_path", message, (*path, "set", key)), value)


def _to_boolean(finding: Finding, spec: Key, value: Json) -> Finding:
    """With the cure where `yes` or `no`, which YAML takes for text, was to be a boolean."""
    meant = _as_type(value, "boolean") if spec.type == "boolean" else None
    if meant is None:
        return finding
    fix: Patch = ({"op": "replace", "path": pointer(finding.path), "value": meant},)
    return finding._replace(suggestion=f"write {_shown(meant)}", fix=fix)


def _to_response(finding: Finding, value: Json) -> Finding:
    """With the cure where a tool's `set` nearly reads its response."""
    guess = _response(value) if "set" in finding.path and finding.path[0] == "tools" else None
    if guess is None:
        return finding
    fix: Patch = ({"op": "replace", "path": pointer(finding.path), "value": guess},)
    return finding._replace(suggestion=f"did you mean {guess!r}?", fix=fix)


def _response(value: Json) -> str | None:
    """`result.x` for `results.x`, `resutl.x` and the like."""
    match = _PATH.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[1] == "result" or near_miss(match[1], ["result"]) is None:
        return None
    return f"result{match[2]}"


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
    """In a tool's `set`, `result` and `result.x` read the response."""
    return not (isinstance(value, str) and value.partition(".")[0] == "result")


def compared_literals(index: Index) -> Iterator[Finding]:
    """A guard compares a key with a value that it can hold."""
    keys = KeyTable({name: key_spec(key) for name, key in index.flow.state.items()})
    for path, guard in index.guards:
        for leaf in atoms_of(guard):
            if not isinstance(leaf, Compare):
                continue
            try:
                compile_guard(leaf, keys)
            except GuardError as error:
                yield Finding("wrong_value", str(error), path, word=str(leaf))
            yield from _never(index, leaf, path)
            yield from _unlike(index, leaf, path, guard)


def _unlike(index: Index, compare: Compare, path: Path, guard: Guard) -> Iterator[Finding]:
    """A boolean is never a text, and a number never one in quotes."""
    for name, op, value in _compared(compare):
        key = index.flow.state.get(bare(name))
        kinds = _PLAIN.get(key.type) if key is not None else None
        if key is None or key.enum is not None or kinds is None or op == "matches":
            continue
        options = cast("list[Json]", value) if op == "in" else [value]
        for option in options:
            if option is not None and type(option) not in kinds:
                meant = _as_type(option, key.type)
                yield warning(
                    "never_equal",
                    f"key {name!r} holds {key.type}, so comparing it with {_shown(option)} never "
                    "holds",
                    path,
                    suggestion=f"write {_shown(meant)}" if meant is not None else "",
                    fix=_with(compare, option, meant, guard, path) if meant is not None else (),
                    word=_shown(option),
                )


def _as_type(value: Json, kind: str) -> Json:
    """What was meant by a value of another type, where that is plain."""
    if kind == "boolean":
        return _BOOLEANS.get(value.lower()) if isinstance(value, str) else None
    if kind == "string":
        return None if isinstance(value, list | dict) else json.dumps(value)
    try:
        number: Any = json.loads(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return number if type(number) in _PLAIN[kind] else None


def questions(index: Index) -> Iterator[Finding]:
    """`confirm: yes` is text in YAML, and would be asked as a question."""
    for name, tool in index.flow.tools.items():
        meant = _BOOLEANS.get(tool.confirm.lower()) if isinstance(tool.confirm, str) else None
        if meant is not None:
            path: Path = ("tools", name, "confirm")
            yield Finding(
                "wrong_value",
                f"the text {tool.confirm!r} would be asked as the question",
                path,
                suggestion=f"write {_shown(meant)}, or the question itself",
                fix=({"op": "replace", "path": pointer(path), "value": meant},),
            )


def _with(compare: Compare, old: Json, new: Json, guard: Guard, path: Path) -> Patch:
    """The guard with the value that was meant; only where the old one stands by itself."""
    was = str(compare)
    text, spelled = str(guard), _shown(old)
    if was.count(spelled) != 1 or text.count(was) != 1:
        return ()
    cured = text.replace(was, was.replace(spelled, _shown(new)))
    return ({"op": "replace", "path": pointer(path), "value": cured},)


def _shown(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


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
