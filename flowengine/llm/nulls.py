"""The strict form of a schema, and the removal of the nulls that only exist because of it.

Strict output lists every property as required and lets an optional one be null. On the way back
such a null means "not mentioned", so that the field's own default applies.
"""

from __future__ import annotations

from typing import Any

from flowengine.llm.data import JSON, Schema, is_array, is_object
from flowengine.llm.refs import accepts_null
from flowengine.llm.walk import Walk, under_index, under_key


def strict_schema(schema: Schema) -> Schema:
    """A new schema in which every property is required and optional ones accept null."""
    return _strict(schema, schema)


def drop_strict_nulls(schema: Schema, value: JSON) -> JSON:
    """A new value without nulls in optional fields whose own schema does not accept null."""
    return _drop(Walk(schema), [schema], value)


def _strict(root: Schema, node: Any) -> Any:
    if is_array(node):
        return [_strict(root, child) for child in node]
    if not is_object(node):
        return node
    out: Schema = {
        key: child if key in ("enum", "const", "default", "examples") else _strict(root, child)
        for key, child in node.items()
        if key not in ("properties", "$defs")
    }
    if "$defs" in node:
        out["$defs"] = {name: _strict(root, child) for name, child in node["$defs"].items()}
    if "properties" in node:
        required: list[str] = node.get("required", [])
        out["properties"] = {
            name: _strict(root, child) if name in required else _nullable(root, child)
            for name, child in node["properties"].items()
        }
        out["required"] = list(out["properties"])
        out.setdefault("additionalProperties", False)
    return out


def _nullable(root: Schema, child: Any) -> Any:
    strict = _strict(root, child)
    if accepts_null(root, child):
        return strict
    if "anyOf" in strict:
        return {**strict, "anyOf": [*strict["anyOf"], {"type": "null"}]}
    notes = {key: strict[key] for key in ("title", "description") if key in strict}
    bare = {key: part for key, part in strict.items() if key not in notes and key != "default"}
    return {"anyOf": [bare, {"type": "null"}], **notes}


def _drop(walk: Walk, schemas: list[Any], value: JSON) -> JSON:
    if is_array(value):
        applying = walk.expand(schemas, value)
        items: list[JSON] = value
        return [_drop(walk, under_index(applying, i), child) for i, child in enumerate(items)]
    if not is_object(value):
        return value
    applying = walk.expand(schemas, value)
    required = {name for node in applying for name in node.get("required", ())}
    named = {name for node in applying for name in node.get("properties", ())}
    kept: dict[str, JSON] = {}
    for key, child in value.items():
        below = under_key(applying, key)
        optional = key in named and key not in required
        if child is None and optional and not any(accepts_null(walk.root, s) for s in below):
            continue
        kept[key] = _drop(walk, below, child)
    return kept
