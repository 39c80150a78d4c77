"""Reading a JSON Schema: following `$ref`, and what a node says of nulls and types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flowengine.llm.data import JSON, Schema, is_object

UNIONS = ("anyOf", "oneOf")
_SINGLE = (
    *(("[]", key) for key in ("items", "contains")),
    *(("{}", key) for key in ("additionalProperties", "propertyNames")),
    *(("", key) for key in ("not", "if", "then", "else")),
)


def resolve(root: Schema, node: Any) -> Schema:
    """The node a `$ref` leads to, merged under the siblings of the `$ref`; others as they are.

    `True` and anything that is no schema count as the empty schema, which allows everything.
    """
    seen: set[str] = set()
    siblings: Schema = {}
    while is_object(node) and "$ref" in node:
        ref: str = str(node["$ref"])
        siblings = {**{k: v for k, v in node.items() if k != "$ref"}, **siblings}
        if ref in seen:
            node = {}
            break
        seen.add(ref)
        node = follow(root, ref)
    found: Schema = node if is_object(node) else {}
    return {**found, **siblings} if siblings else found


def follow(root: Schema, ref: str) -> Any:
    """What a local reference points at, or None; nothing is ever fetched."""
    if not ref.startswith("#"):
        return None
    node: Any = root
    for step in ref.removeprefix("#").strip("/").split("/"):
        if not step:
            continue
        name = step.replace("~1", "/").replace("~0", "~")
        if not is_object(node) or name not in node:
            return None
        node = node[name]
    return node


def types_of(node: Schema) -> tuple[str, ...]:
    """The declared types, as many as there are."""
    declared: Any = node.get("type", ())
    return (declared,) if isinstance(declared, str) else tuple(declared)


def type_name(value: JSON) -> str:
    """The JSON Schema type of a value; a whole number is an `integer`."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def fits_type(value: JSON, declared: tuple[str, ...]) -> bool:
    name = type_name(value)
    return not declared or name in declared or (name == "integer" and "number" in declared)


def identity(node: Any) -> str | int:
    """The same for every mention of one definition, so that a way back to it is noticed."""
    return str(node["$ref"]) if is_object(node) and "$ref" in node else id(node)


def accepts_null(root: Schema, node: Any, seen: frozenset[str | int] = frozenset()) -> bool:
    """Whether null is a value of this schema; an unconstrained schema says yes."""
    found = resolve(root, node)
    inside = seen | {identity(node)}
    if inside == seen:
        return True
    if not fits_type(None, types_of(found)):
        return False
    if "const" in found and found["const"] is not None:
        return False
    if "enum" in found and None not in found["enum"]:
        return False
    if not all(accepts_null(root, part, inside) for part in found.get("allOf", ())):
        return False
    for union in UNIONS:
        branches: list[Any] = found.get(union, [])
        if branches and not any(accepts_null(root, branch, inside) for branch in branches):
            return False
    return True


def branches_of(node: Schema) -> list[Any]:
    """The members of the node's unions."""
    return [branch for union in UNIONS for branch in node.get(union, ())]


def children(node: Schema) -> Iterator[tuple[str, Any]]:
    """Every direct subschema with its step in a value's path, such as `.price`, `[]` or ``."""
    for name, child in node.get("properties", {}).items():
        yield f".{name}", child
    for name, child in node.get("$defs", {}).items():
        yield f"${name}", child
    for pattern, child in node.get("patternProperties", {}).items():
        yield f"{{{pattern}}}", child
    for step, key in _SINGLE:
        if is_object(node.get(key)):
            yield step, node[key]
    for index, child in enumerate(node.get("prefixItems", ())):
        yield f"[{index}]", child
    for key in ("allOf", *UNIONS):
        for child in node.get(key, ()):
            yield "", child


def bad_reference(root: Schema) -> str | None:
    """What is wrong with some reference of a schema, None when each leads to a place in it."""
    return next((fault for node in _nodes(root) if (fault := _fault_of(root, node))), None)


def _nodes(node: Any) -> Iterator[Schema]:
    if is_object(node):
        yield node
        for _, child in children(node):
            yield from _nodes(child)


def _fault_of(root: Schema, node: Schema) -> str | None:
    ref = node.get("$ref", node.get("$dynamicRef"))
    if ref is not None and ("$dynamicRef" in node or follow(root, ref) is None):
        return f"the reference {ref} leads nowhere in the schema; use #/$defs/..."
    if _leads_back(root, node):
        return f"the reference {ref or 'in a part'} only leads back to itself"
    return None


def _leads_back(root: Schema, node: Schema) -> bool:
    """Whether a node says of a value what it says of that value, without end."""
    seen: set[int] = set()
    waiting = _in_place(root, node)
    while waiting:
        step = waiting.pop()
        if step is node:
            return True
        if is_object(step) and id(step) not in seen:
            seen.add(id(step))
            waiting += _in_place(root, step)
    return False


def _in_place(root: Schema, node: Schema) -> list[Any]:
    """The schemas that speak of the same value as this one does."""
    found = [follow(root, node["$ref"])] if "$ref" in node else []
    found += [part for key in ("allOf", *UNIONS) for part in node.get(key, ())]
    return found + [node[key] for key in ("not", "if", "then", "else") if key in node]
