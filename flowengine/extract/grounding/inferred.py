"""Which values are judged by a model and which were said: only what was said is looked up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from flowengine.inputs import Json
from flowengine.llm.data import Schema, is_array, is_object
from flowengine.llm.refs import branches_of, resolve, types_of
from flowengine.llm.walk import Walk, under_index, under_key

_FLAT = frozenset(
    {"type", "description", "title", "enum", "const", "format", "pattern", "minLength", "maxLength"}
)
"""Words of a schema that lead to no other schema."""


def is_inferred(schema: Schema) -> bool:
    """Whether values are judged, not quoted: boolean, enum, const, a number between two bounds.

    A list or an object is inferred when everything in it is.
    """
    return _is_inferred(schema, schema, frozenset())


def _is_inferred(root: Schema, schema: Any, seen: frozenset[int]) -> bool:
    if not is_object(schema) or id(schema) in seen:
        return False
    seen = seen | {id(schema)}
    node = resolve(root, schema)
    branches = [one for one in branches_of(node) if types_of(resolve(root, one)) != ("null",)]
    if branches:
        return all(_is_inferred(root, branch, seen) for branch in branches)
    if _is_judged(node) or any(_is_inferred(root, one, seen) for one in node.get("allOf", ())):
        return True
    inner = [*node.get("properties", {}).values(), *([node["items"]] if "items" in node else ())]
    return bool(inner) and all(_is_inferred(root, child, seen) for child in inner)


def _is_judged(node: Schema) -> bool:
    types = node.get("type")
    several = cast("Sequence[Any]", types) if is_array(types) else [types]
    named = {one for one in several if one not in ("null", None)}
    if "enum" in node or "const" in node or named == {"boolean"}:
        return True
    low = {"minimum", "exclusiveMinimum"} & node.keys()
    high = {"maximum", "exclusiveMaximum"} & node.keys()
    return bool(low and high and named) and named <= {"number", "integer"}


def said_parts(
    schema: Schema, value: Json, name: str = ""
) -> Iterator[tuple[str | int | float, str]]:
    """The parts of a value that must have been said, each with the name of the key it is under."""
    if isinstance(value, str) and schema.keys() <= _FLAT:
        if not _is_judged(schema):
            yield value, name
        return
    yield from _parts(Walk(schema), [schema], value, name)


def _parts(
    walk: Walk, schemas: list[Any], value: Json, name: str
) -> Iterator[tuple[str | int | float, str]]:
    applying = walk.expand(schemas, value)
    if is_object(value):
        for key, child in value.items():
            yield from _parts(walk, under_key(applying, key), child, key)
    elif is_array(value):
        for index, child in enumerate(value):
            yield from _parts(walk, under_index(applying, index), child, name)
    elif not isinstance(value, str | int | float) or isinstance(value, bool):
        return
    elif not any(_is_judged(node) for node in applying):
        yield value, name
