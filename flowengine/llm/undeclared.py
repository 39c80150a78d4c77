"""Finds a key that no schema declares, because a validator would drop it without a word.

A misspelled optional field is the usual case. The walk is stricter than JSON Schema: an object
with `properties` is closed unless `additionalProperties` opens it. Where a union leaves a choice,
a key is undeclared only if none of the branches that may apply declares it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flowengine.errors import near_miss
from flowengine.llm.data import JSON, Path, Schema, is_array, is_object, show_path
from flowengine.llm.reasons import UndeclaredKey
from flowengine.llm.walk import Walk, is_open, under_index, under_key

MAX_DEPTH = 200


def find_undeclared(schema: Schema, value: JSON) -> UndeclaredKey | None:
    """The first offender in document order, outer objects before inner ones, or None."""
    return _check(Walk(schema), [schema], value, (), ())


def _check(
    walk: Walk, schemas: Iterable[Any], value: JSON, path: Path, place: Path
) -> UndeclaredKey | None:
    """`place` is `path` with `*` for keys the schema does not name."""
    applying = walk.expand(schemas, value) if len(path) < MAX_DEPTH else []
    children: list[tuple[str | int, str | int, list[Any], JSON]] = []
    if is_array(value):
        children = [(i, i, under_index(applying, i), child) for i, child in enumerate(value)]
    elif is_object(value):
        declared = {name for node in applying for name in node.get("properties", ())}
        stray = next((key for key in value if key not in declared), None)
        if stray is not None and not is_open(applying):
            return _report(stray, path, place, declared)
        children = [
            (key, key if key in declared else "*", under_key(applying, key), child)
            for key, child in value.items()
        ]
    for step, shown, below, child in children:
        found = _check(walk, below, child, (*path, step), (*place, shown))
        if found:
            return found
    return None


def _report(key: str, path: Path, place: Path, declared: set[str]) -> UndeclaredKey:
    meant = near_miss(key, declared)
    shown = f"{key} (did you mean {meant}?)" if meant else "*"
    return UndeclaredKey(
        key=key,
        path=show_path((*path, key)),
        declared=tuple(sorted(declared)),
        place=show_path((*place, shown)),
    )
