"""Rewrites a JSON Schema into what a provider accepts, and names every constraint lost.

What can be said another way is rewritten without loss (`const` as a one-word `enum`). What only
explains (`default`, `examples`) goes silently. A constraint that goes is a `Loss`: the provider
will not hold the model to it, but the value is still checked against it here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flowengine.llm.data import Schema, is_array, is_object
from flowengine.llm.refs import follow, resolve, types_of
from flowengine.llm.vocabulary import RequestField, WarningKind
from flowengine.llm.warnings import Warning_

EXPLAINING = "$schema $comment default examples example deprecated readOnly writeOnly discriminator"
GEMINI_KEYWORDS = (
    "$id $defs $ref $anchor type format title description enum items prefixItems minItems "
    "maxItems minimum maximum anyOf properties additionalProperties required propertyOrdering"
)
OPENAI_KEYWORDS = (
    "$defs $ref type format title description enum const items minItems maxItems minimum "
    "maximum exclusiveMinimum exclusiveMaximum multipleOf pattern anyOf properties "
    "additionalProperties required"
)
_EXPLAINING = frozenset(EXPLAINING.split())


@dataclass(frozen=True)
class Loss:
    """A constraint the sent schema does not carry; `path` is a place in the value."""

    path: str
    keyword: str
    code: str
    kind: WarningKind = WarningKind.DROPPED

    def warning(self, provider: str, field: RequestField) -> Warning_:
        return Warning_(
            kind=self.kind,
            field=field,
            path=self.path,
            provider=provider,
            code=self.code,
            message=f"{self.keyword} is not sent; the value is still checked against it",
        )


@dataclass(frozen=True)
class Dialect:
    """What a provider accepts; `required_recursion`: a required property may lead back."""

    keywords: frozenset[str]
    formats: frozenset[str] | None = None
    enum_types: tuple[type, ...] = (str, int, float)
    required_recursion: bool = True

    def adapt(self, schema: Schema) -> tuple[Schema, tuple[Loss, ...]]:
        """A new schema in this dialect, and what was lost. Raises `ForeignReference`."""
        rewrite = _Rewrite(self, schema)
        adapted = rewrite.node(schema, "")
        return adapted, tuple(dict.fromkeys(rewrite.losses))


class ForeignReference(ValueError):
    """A `$ref` that leads out of the schema; it is never fetched."""


GEMINI = Dialect(
    keywords=frozenset(GEMINI_KEYWORDS.split()),
    formats=frozenset({"date-time", "date", "time"}),
    required_recursion=False,
)

OPENAI_STRICT = Dialect(
    keywords=frozenset(OPENAI_KEYWORDS.split()),
    formats=frozenset({"date-time", "date", "time", "duration", "email", "ipv4", "ipv6", "uuid"}),
    enum_types=(str, int, float, bool, type(None)),
)


class _Rewrite:
    def __init__(self, dialect: Dialect, root: Schema) -> None:
        self.dialect = dialect
        self.root = root
        self.losses: list[Loss] = []
        self._inside: str | None = None
        self._reach: dict[str, frozenset[str]] = {}

    def lose(self, path: str, keyword: str, kind: WarningKind = WarningKind.DROPPED) -> None:
        word = "dropped" if kind is WarningKind.DROPPED else "loosened"
        self.losses.append(Loss(path.lstrip(".") or "$", keyword, f"schema.{word}.{keyword}", kind))

    def node(self, node: Any, path: str) -> Any:
        if not is_object(node):
            return node
        schema = self._merged(dict(node), path)
        for keyword, rule in _RULES.items():
            if keyword in schema and keyword not in self.dialect.keywords:
                rule(self, schema, path)
        self._check_format(schema, path)
        self._check_enum(schema, path)
        out: Schema = {}
        for keyword, part in schema.items():
            if keyword in self.dialect.keywords:
                out[keyword] = self._part(keyword, part, path)
            elif keyword not in _EXPLAINING:
                self.lose(path, keyword)
        self._loosen_recursion(out, path)
        return _ref_alone(out)

    def _part(self, keyword: str, part: Any, path: str) -> Any:
        match keyword:
            case "properties":
                return {name: self.node(child, f"{path}.{name}") for name, child in part.items()}
            case "$defs":
                return {name: self._definition(name, child) for name, child in part.items()}
            case "items" | "additionalProperties":
                return self.node(part, path + ("[]" if keyword == "items" else "{}"))
            case "prefixItems":
                return [self.node(child, f"{path}[{i}]") for i, child in enumerate(part)]
            case "anyOf":
                return [self.node(child, path) for child in part]
            case "$ref":
                return self._checked_ref(part)
            case _:
                return part

    def _definition(self, name: str, node: Any) -> Any:
        outer, self._inside = self._inside, f"#/$defs/{name}"
        try:
            return self.node(node, f".${name}")
        finally:
            self._inside = outer

    def _checked_ref(self, ref: str) -> str:
        if follow(self.root, ref) is None:
            raise ForeignReference(f"the schema refers to {ref}, which it does not contain")
        return ref

    def _merged(self, schema: Schema, path: str) -> Schema:
        """`allOf` folded into its node; where two parts disagree the first one stands."""
        parts: list[Any] = schema.pop("allOf", [])
        for part in parts:
            if self._stays_reference(part, alone=len(parts) == 1):
                found: Schema = part
            else:
                found = self._merged(dict(resolve(self.root, part)), path)
            self._fold(found, schema, path)
        return schema

    def _stays_reference(self, part: Any, *, alone: bool) -> bool:
        """A part that would be unfolded without end, or need not be unfolded at all."""
        if not is_object(part) or "$ref" not in part:
            return False
        ref = self._checked_ref(part["$ref"])
        return alone or ref in self._reachable(ref)

    def _fold(self, part: Schema, schema: Schema, path: str) -> None:
        for keyword, value in part.items():
            if keyword == "properties":
                schema[keyword] = {**value, **schema.get(keyword, {})}
            elif keyword == "required":
                schema[keyword] = list(dict.fromkeys([*schema.get(keyword, []), *value]))
            elif schema.setdefault(keyword, value) != value and keyword not in _EXPLAINING:
                self.lose(path, "allOf", WarningKind.LOOSENED)

    def _check_format(self, schema: Schema, path: str) -> None:
        formats = self.dialect.formats
        if "format" in schema and formats is not None and schema["format"] not in formats:
            del schema["format"]
            self.lose(path, "format")

    def _check_enum(self, schema: Schema, path: str) -> None:
        members: list[Any] = schema.get("enum", [])
        allowed = [member for member in members if _is_a(member, self.dialect.enum_types)]
        lost = [member for member in members if not _is_a(member, self.dialect.enum_types)]
        if not lost:
            return
        del schema["enum"]
        if lost == [None]:
            self._null_apart(schema, allowed)
        elif not _is_every_boolean(members):
            self.lose(path, "enum")

    def _null_apart(self, schema: Schema, others: list[Any]) -> None:
        """An `enum` with null among its words, as a union, which says the same."""
        if not others:
            schema["type"] = "null"
            return
        named = [name for name in types_of(schema) if name != "null"]
        words: Schema = {"enum": others, **({"type": named[0]} if len(named) == 1 else {})}
        schema.pop("type", None)
        schema["anyOf"] = [words, {"type": "null"}]

    def _loosen_recursion(self, out: Schema, path: str) -> None:
        if self.dialect.required_recursion or self._inside is None:
            return
        required: list[str] = out.get("required", [])
        properties: Schema = out.get("properties", {})
        looping = [name for name in required if self._loops(properties.get(name), self._inside)]
        for name in looping:
            self.lose(f"{path}.{name}", "required", WarningKind.LOOSENED)
        if looping:
            out["required"] = [name for name in required if name not in looping]

    def _loops(self, node: Any, inside: str) -> bool:
        """Whether this part of a definition leads back to it, however indirectly."""
        return any(ref == inside or inside in self._reachable(ref) for ref in _refs(node))

    def _reachable(self, ref: str) -> frozenset[str]:
        if ref not in self._reach:
            seen: set[str] = set()
            waiting = list(_refs(follow(self.root, ref)))
            while waiting:
                step = waiting.pop()
                if step not in seen:
                    seen.add(step)
                    waiting += _refs(follow(self.root, step))
            self._reach[ref] = frozenset(seen)
        return self._reach[ref]


def _refs(node: Any) -> set[str]:
    if is_array(node):
        return set[str]().union(*(_refs(child) for child in node))
    if not is_object(node):
        return set()
    own = {str(node["$ref"])} if "$ref" in node else set[str]()
    return own.union(*(_refs(child) for key, child in node.items() if key != "$defs"))


def _is_a(member: Any, types: tuple[type, ...]) -> bool:
    if isinstance(member, bool):
        return bool in types
    return isinstance(member, types)


def _is_every_boolean(members: list[Any]) -> bool:
    return all(isinstance(member, bool) for member in members) and len({*members}) == 2


def _ref_alone(schema: Schema) -> Schema:
    """A `$ref` may have no siblings; a description beside it is kept by wrapping the `$ref`."""
    beside = {key: part for key, part in schema.items() if not key.startswith("$")}
    if "$ref" not in schema or not beside:
        return schema
    alone = {key: part for key, part in schema.items() if key.startswith("$") and key != "$defs"}
    top = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return {"anyOf": [alone], **beside, **top}


def _const(rewrite: _Rewrite, schema: Schema, path: str) -> None:
    schema["enum"] = [schema.pop("const")]


def _one_of(rewrite: _Rewrite, schema: Schema, path: str) -> None:
    schema["anyOf"] = [*schema.get("anyOf", []), *schema.pop("oneOf")]


def _bound(keyword: str, inclusive: str, step: int) -> Callable[[_Rewrite, Schema, str], None]:
    def rule(rewrite: _Rewrite, schema: Schema, path: str) -> None:
        bound: float = schema.pop(keyword)
        whole = types_of(schema) == ("integer",)
        if whole:
            bound = (math.floor(bound) + 1) if step > 0 else (math.ceil(bound) - 1)
        else:
            rewrite.lose(path, keyword, WarningKind.LOOSENED)
        tightest = max if step > 0 else min
        schema[inclusive] = tightest(bound, schema.get(inclusive, bound))

    return rule


_RULES: dict[str, Callable[[_Rewrite, Schema, str], None]] = {
    "const": _const,
    "oneOf": _one_of,
    "exclusiveMinimum": _bound("exclusiveMinimum", "minimum", 1),
    "exclusiveMaximum": _bound("exclusiveMaximum", "maximum", -1),
}
