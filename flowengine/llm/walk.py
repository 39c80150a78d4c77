"""Walks a value along its schema: which schema nodes may speak about which part of the value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flowengine.llm.data import JSON, Schema, is_object
from flowengine.llm.refs import branches_of, fits_type, identity, resolve, types_of


class Walk:
    """A walk along one schema; `root` is where its references lead."""

    def __init__(self, root: Schema) -> None:
        self.root = root

    def expand(
        self, schemas: Iterable[Any], value: JSON, seen: frozenset[str | int] = frozenset()
    ) -> list[Schema]:
        """Every node that may speak about this value, behind references, parts and branches."""
        applying: list[Schema] = []
        for schema in schemas:
            inside = seen | {identity(schema)}
            if inside == seen:
                continue  # it leads back to itself and says nothing new
            node = resolve(self.root, schema)
            applying.append(node)
            applying += self.expand(node.get("allOf", ()), value, inside)
            applying += self.expand(self._matching(node, value), value, inside)
        return applying

    def _matching(self, node: Schema, value: JSON) -> list[Any]:
        """The union branches to check: those that fit best, all of them when none fits."""
        branches = branches_of(node)
        may = [branch for branch in branches if self.may_match(branch, value)]
        whole = [branch for branch in may if self._has_required(branch, value)]
        return whole or may or branches

    def may_match(self, schema: Any, value: JSON, seen: frozenset[str | int] = frozenset()) -> bool:
        """Whether nothing in the value contradicts the schema; missing and null keys do not."""
        inside = seen | {identity(schema)}
        if inside == seen:
            return True
        node = resolve(self.root, schema)
        if not fits_type(value, types_of(node)):
            return False
        if "const" in node and not same(node["const"], value):
            return False
        if "enum" in node and not any(same(member, value) for member in node["enum"]):
            return False
        branches = branches_of(node)
        if branches and not any(self.may_match(branch, value, inside) for branch in branches):
            return False
        if not all(self.may_match(part, value, inside) for part in node.get("allOf", ())):
            return False
        properties: Schema = node.get("properties", {})
        return not is_object(value) or all(
            self.may_match(child, value[key])
            for key, child in properties.items()
            if value.get(key) is not None
        )

    def _has_required(self, schema: Any, value: JSON) -> bool:
        node = resolve(self.root, schema)
        required: list[str] = node.get("required", [])
        return not is_object(value) or all(key in value for key in required)


def under_key(applying: list[Schema], key: str) -> list[Any]:
    """The schemas of one key of an object."""
    named = [node["properties"][key] for node in applying if key in node.get("properties", ())]
    if named:
        return named
    extra = [node.get("additionalProperties") for node in applying]
    return [schema for schema in extra if is_object(schema)]


def under_index(applying: list[Schema], index: int) -> list[Any]:
    """The schemas of one item of an array."""
    found: list[Any] = []
    for node in applying:
        prefix: list[Any] = node.get("prefixItems", [])
        if index < len(prefix):
            found.append(prefix[index])
        elif is_object(node.get("items")):
            found.append(node["items"])
    return found


def is_open(applying: list[Schema]) -> bool:
    """Whether some node lets any key in, or none of them describes an object's keys at all."""
    opened = any(node.get("additionalProperties", False) is not False for node in applying)
    described = any("properties" in node or "additionalProperties" in node for node in applying)
    return opened or not described or any("patternProperties" in node for node in applying)


def same(member: JSON, value: JSON) -> bool:
    """Equality as JSON has it: Python says True == 1."""
    return member == value and isinstance(member, bool) == isinstance(value, bool)
