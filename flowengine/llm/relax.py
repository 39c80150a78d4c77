"""The relaxation ladder: looser forms of a schema for a provider that finds it too complex.

Level 1 sends no bounds and formats; level 2 turns unions and long enums into words of the
description. What the schema no longer says is still checked here. Level 3 is another mode.
"""

from __future__ import annotations

from typing import Any

from flowengine.llm.data import Schema, compact, is_array, is_object
from flowengine.llm.dialect import Loss
from flowengine.llm.vocabulary import WarningKind

BOUNDS = (
    "minItems maxItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum "
    "multipleOf pattern format uniqueItems minProperties maxProperties"
)
_BOUNDS = frozenset(BOUNDS.split())
LONG_ENUM = 16
LOOSEST = 2


def relax(schema: Schema, level: int) -> tuple[Schema, tuple[Loss, ...]]:
    """A new schema of this level and what it no longer says; level 0 is the schema itself."""
    if level == 0:
        return schema, ()
    losses: list[Loss] = []
    return _relax(schema, level, "", losses), tuple(dict.fromkeys(losses))


def _relax(node: Any, level: int, path: str, losses: list[Loss]) -> Any:
    if is_array(node):
        return [_relax(child, level, path, losses) for child in node]
    if not is_object(node):
        return node
    kept = {key: part for key, part in node.items() if key not in _BOUNDS}
    for key in node:
        if key in _BOUNDS:
            losses.append(_loss(path, key))
    if level >= LOOSEST:
        kept = _flatten(kept, path, losses)
    return {key: _below(key, part, level, path, losses) for key, part in kept.items()}


def _below(key: str, part: Any, level: int, path: str, losses: list[Loss]) -> Any:
    if key in ("properties", "$defs"):
        sign = "." if key == "properties" else ".$"
        return {
            name: _relax(child, level, f"{path}{sign}{name}", losses)
            for name, child in part.items()
        }
    if key in ("enum", "const", "default", "examples", "required"):
        return part
    step = {"items": "[]", "additionalProperties": "{}"}.get(key, "")
    return _relax(part, level, path + step, losses)


def _flatten(node: Schema, path: str, losses: list[Loss]) -> Schema:
    members: list[Any] = node.get("enum", [])
    if len(members) > LONG_ENUM:
        losses.append(_loss(path, "enum"))
        return _described(node, "enum", f"One of: {', '.join(map(str, members))}.")
    for union in ("anyOf", "oneOf"):
        branches = [branch for branch in node.get(union, ()) if branch != {"type": "null"}]
        if len(branches) > 1:
            losses.append(_loss(path, union))
            return _described(node, union, f"Any of these schemas: {compact(branches)}")
    return node


def _described(node: Schema, keyword: str, words: str) -> Schema:
    kept = {key: part for key, part in node.items() if key not in (keyword, "discriminator")}
    kept["description"] = " ".join(filter(None, (node.get("description"), words)))
    return kept


def _loss(path: str, keyword: str) -> Loss:
    place = path.lstrip(".") or "$"
    return Loss(place, keyword, f"schema.relaxed.{keyword}", WarningKind.DROPPED)
