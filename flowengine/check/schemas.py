"""Schemas of model extractions that are none, and fields that their keys cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from jsonschema import Draft202012Validator, SchemaError

from flowengine.errors import near_miss
from flowengine.extract.spec import ExtractSpec, Promotion, fields_of
from flowengine.flow.diagnostic import Finding, Path, listing, pointer, warning
from flowengine.flow.index import Index
from flowengine.flow.model import Key
from flowengine.inputs import Json
from flowengine.llm.refs import types_of
from flowengine.state.keys import bare
from flowengine.tools.spec import JSON_TYPES

_HELD_BY = {
    "boolean": ("boolean",),
    "integer": ("integer",),
    "number": ("integer", "number"),
    "decimal": ("integer", "string"),
    "object": ("object",),
    "array": ("array",),
}
"""JSON types that a key of a type can hold; all others hold text."""
_SPELLED = ("pattern", "format", "enum", "const")
"""Words of a schema that say how a text is spelled."""

_WORDS = {
    *cast("dict[str, Any]", Draft202012Validator.VALIDATORS),
    *("title", "description", "default", "examples", "definitions", "$defs", "$schema", "$id"),
    *("$anchor", "$dynamicAnchor", "$comment", "$vocabulary", "deprecated", "readOnly"),
    *("writeOnly", "then", "else", "contentEncoding", "contentMediaType", "contentSchema"),
}
"""What may stand in a JSON Schema."""


_ELSEWHERE = frozenset({"properties", "$ref", "anyOf", "oneOf", "allOf"})
"""With one of these the fields are told."""


def broken_schemas(index: Index) -> Iterator[Finding]:
    """What an extraction asks for is a JSON Schema."""
    for at, extract in enumerate(index.flow.extract):
        path: Path = ("extract", at, "schema")
        found = [*_beside_properties(extract, path), *_in_fields(extract, (*path, "properties"))]
        yield from found or _in_whole(extract.schema_, path)


def _beside_properties(extract: ExtractSpec, path: Path) -> Iterator[Finding]:
    """A schema passes over words that it does not know: fields that stand there are not asked."""
    schema = extract.schema_
    if not _ELSEWHERE.isdisjoint(schema):
        return
    strange = [name for name, value in schema.items() if _is_like_a_field(name, value)]
    if not strange:
        return
    yield Finding(
        "wrong_schema",
        f"the fields of {extract.name!r} stand under `properties`, else nothing is asked for",
        (*path, strange[0]),
        suggestion=f"write `properties: {{{strange[0]}: ...}}` under `schema`",
        on_key=True,
    )


def _is_like_a_field(name: str, value: Any) -> bool:
    """JSON Schema allows words of one's own, such as `x-source: crm`; a field has a schema."""
    is_type = isinstance(value, str) and value in JSON_TYPES
    return name not in _WORDS and (isinstance(value, dict) or is_type)


def _in_fields(extract: ExtractSpec, path: Path) -> Iterator[Finding]:
    """`reason: string` is short for a type among a tool's arguments, but not here."""
    for name, schema in fields_of(extract).items():
        at = (*path, name)
        if isinstance(schema, str) and schema in JSON_TYPES:
            cure: Json = {"type": schema}
            yield Finding(
                "wrong_schema",
                f"the schema of {name!r} is a mapping, not the text {schema!r}",
                at,
                suggestion=f"write {{type: {schema}}}",
                fix=({"op": "replace", "path": pointer(at), "value": cure},),
            )
        elif isinstance(schema, dict):
            yield from _type_of(cast("dict[str, Any]", schema), at)


def _type_of(schema: dict[str, Any], path: Path) -> Iterator[Finding]:
    declared = schema.get("type")
    if isinstance(declared, str) and declared not in JSON_TYPES:
        guess, at = near_miss(declared, JSON_TYPES), (*path, "type")
        yield Finding(
            "wrong_schema",
            f"there is no type {declared!r} in JSON",
            at,
            suggestion=f"did you mean {guess!r}?" if guess else listing(JSON_TYPES),
            fix=({"op": "replace", "path": pointer(at), "value": guess},) if guess else (),
        )


def _in_whole(schema: dict[str, Any], path: Path) -> Iterator[Finding]:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        message = f"this is no JSON Schema: {error.message}"
        yield Finding("wrong_schema", message, (*path, *error.absolute_path))


def unfit_promotions(index: Index) -> Iterator[Finding]:
    """A promoted field is of a type that its key can hold; else its value is dropped."""
    for at, extract in enumerate(index.flow.extract):
        fields = fields_of(extract)
        for number, rule in enumerate(extract.promote):
            schema: Any = fields.get(rule.field)
            key = index.flow.state.get(bare(rule.to or rule.field))
            if key is not None and isinstance(schema, dict) and key.merge == "last":
                path: Path = ("extract", at, "promote", number)
                yield from _unfit(rule, key, cast("dict[str, Any]", schema), path)


def _unfit(rule: Promotion, key: Key, schema: dict[str, Any], path: Path) -> Iterator[Finding]:
    held = _HELD_BY.get(key.type, ("string",))
    types = [name for name in types_of(schema) if name in JSON_TYPES and name != "null"]
    strange = [name for name in types if name not in held]
    where = (*path, "to" if rule.to else "field")
    target = f"key {rule.to or rule.field!r} holds {key.type}"
    if strange:
        yield warning(
            "unfit_promotion",
            f"{target}, which a {strange[0]} may not be: such values are dropped",
            where,
            suggestion=f"ask for {' or '.join(held)} in the schema, or declare the key otherwise",
        )
    elif key.type == "decimal" and "string" in types and not any(w in schema for w in _SPELLED):
        yield warning(
            "unfit_promotion",
            f"{target}: a text that spells no number, such as 'two hundred', is dropped",
            where,
            suggestion=r"say how it is spelled, such as `pattern: '^\d+(\.\d+)?$'`",
        )
