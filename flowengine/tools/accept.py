"""The arguments of a call against the schemas that a flow declares: coerced, completed, checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from jsonschema import ValidationError as Violation

from flowengine.errors import FlowError, near_miss
from flowengine.inputs import Json
from flowengine.llm.data import Path, Schema, compact, show_path
from flowengine.llm.refs import accepts_null, types_of
from flowengine.sources.arguments import ArgumentError, Problem
from flowengine.tools.spec import Tool

_INTEGER = re.compile(r"[+-]?\d{1,15}", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?", re.ASCII)
_BOOLEANS = {"true": True, "false": False}


def accept(name: str, spec: Tool, args: Mapping[str, Json]) -> dict[str, Json]:
    """The arguments as the tool gets them; a tool that declares none takes whatever comes.

    A number in quotes, which models like to send, becomes the number. A null for an argument that
    has a default and takes no null is its default.

    Raises:
        ArgumentError: one is missing, unknown, or does not fit its schema
        FlowError: what is declared is no JSON Schema
    """
    if not spec.args:
        return dict(args)
    who = f"tool {name!r}"
    given = {
        name: value for name, value in args.items() if not _stands_for_default(spec, name, value)
    }
    problems = list(_unknown(spec, given))
    accepted: dict[str, Json] = {}
    for name, schema in spec.args.items():
        if name in given:
            accepted[name] = coerced(schema, given[name])
            problems += _misfits(name, schema, accepted[name])
        elif "default" in schema:
            accepted[name] = schema["default"]
        else:
            problems.append(Problem(name, "is missing"))
    if problems:
        raise ArgumentError(who, tuple(problems))
    return accepted


def coerced(schema: Schema, value: Json) -> Json:
    """The value as one of the schema's types, where it is only spelled as another."""
    types = types_of(schema)
    match value:
        case str() if types and "string" not in types:
            return _from_text(value.strip(), types)
        case float() if "integer" in types and "number" not in types and value.is_integer():
            return int(value)
        case int() if types == ("string",) and not isinstance(value, bool):
            return str(value)
        case _:
            return value


def _from_text(text: str, types: tuple[str, ...]) -> Json:
    if "integer" in types and _INTEGER.fullmatch(text):
        return int(text)
    if "number" in types and _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return _BOOLEANS.get(text.lower(), text) if "boolean" in types else text


def _stands_for_default(spec: Tool, name: str, value: Json) -> bool:
    schema = spec.args.get(name, {})
    return value is None and "default" in schema and not accepts_null(schema, schema)


def _unknown(spec: Tool, given: Mapping[str, Json]) -> Iterator[Problem]:
    for name in given:
        if name not in spec.args:
            guess = near_miss(name, spec.args)
            meant = f" (meant: {guess}?)" if guess else ""
            yield Problem("*", f"no such argument: it takes {', '.join(spec.args)}{meant}")


def _misfits(name: str, schema: Schema, value: Json) -> Iterator[Problem]:
    violations: Iterator[Violation] = _validator(compact(schema)).iter_errors(value)
    for violation in violations:
        # the library's own message quotes the value; the keyword and its word are the schema's
        told = f"does not fit {violation.validator}: {compact(violation.validator_value)}"
        yield Problem(_place(name, schema, tuple(violation.absolute_path)), told)


@lru_cache(maxsize=1024)
def _validator(text: str) -> Draft202012Validator:
    schema = json.loads(text)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise FlowError(
            f"an argument's declaration is no JSON Schema: at {error.json_path}, {error.message}"
        ) from None
    return Draft202012Validator(schema)


def _place(name: str, schema: Schema, path: Path) -> str:
    """Where the misfit is; keys of the value that the schema does not name become `*`."""
    named = compact(schema)
    steps = (s if isinstance(s, int) or f'"{s}":' in named else "*" for s in path)
    return show_path((name, *steps))


def declared_schema(args: Mapping[str, Any]) -> Schema:
    """The declared arguments as one JSON Schema; one without a default is required."""
    required = [name for name, schema in args.items() if "default" not in schema]
    schema: Schema = {"type": "object", "properties": dict(args)}
    return {**schema, "required": required} if required else schema
