"""The JSON Schema of a flow file, for editors: the models, plus the short forms of a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast, get_args

from pydantic import TypeAdapter

from flowengine.flow.fragment import ParameterType
from flowengine.flow.model import Flow, KeyType
from flowengine.flow.sentences import SENTENCES
from flowengine.guards import Guard
from flowengine.guards.words import ATOMS, TERMS

Schema: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
ID = "urn:flowengine:flow:1"


def flow_schema() -> Schema:
    """JSON Schema 2020-12 of what `load` takes, `x-*` keys included."""
    schema = Flow.model_json_schema(by_alias=True, mode="validation")
    definitions: dict[str, Schema] = schema.pop("$defs")
    records: Schema = schema["properties"]["records"]
    definitions["RecordSpec"] = records["additionalProperties"]
    records["additionalProperties"] = {"$ref": "#/$defs/RecordSpec"}
    for name, sentences in SENTENCES.items():
        _describe({**definitions, "Flow": schema}[name]["properties"], sentences)
    for definition in (schema, *definitions.values()):
        if definition.get("additionalProperties") is False:
            definition["patternProperties"] = {"^x-": {}}
    definitions["Guard"] = _guard()
    definitions["Key"] = _or_short(definitions["Key"], {"enum": list(get_args(KeyType))})
    definitions["ToolRule"] = _or_short(
        definitions["ToolRule"], {"type": "array", "items": {"type": "string"}}
    )
    definitions["Parameter"] = _or_short(
        definitions["Parameter"], {"enum": list(get_args(ParameterType))}
    )
    definitions["Exit"] = _or_short(definitions["Exit"], {"type": ["string", "null"]})
    fragment = definitions["Fragment"]["properties"]
    fragment["exits"] = _or_short(fragment["exits"], {"type": "array", "items": {"type": "string"}})
    _describe_args(definitions["Tool"]["properties"]["args"])
    for node in _nodes([schema, definitions]):
        _refer(node)
    return {"$schema": DIALECT, "$id": ID, **schema, "title": "A flow", "$defs": definitions}


def schema_text() -> str:
    """The schema as the file docs/flow.schema.json holds it."""
    return json.dumps(flow_schema(), ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def write_schema(path: str | Path) -> None:
    """Bring the file up to date with the models."""
    Path(path).write_text(schema_text(), encoding="utf-8")


def _or_short(schema: Schema, short: Schema) -> Schema:
    described = {key: schema.pop(key) for key in ("title", "description") if key in schema}
    return {**described, "anyOf": [short, schema]}


def _describe(properties: Schema, sentences: Mapping[str, str]) -> None:
    for key, sentence in sentences.items():
        properties[key].setdefault("description", sentence)


def _describe_args(args: Schema) -> None:
    args["additionalProperties"] = {
        "anyOf": [{"type": "string"}, {"type": "object"}],
        "description": "A JSON Schema, or its `type` alone.",
    }


_GUARD_FORMS: list[Schema] = TypeAdapter(Guard).json_schema()["anyOf"]


def _guard() -> Schema:
    atoms = ", ".join(f"{name}({kind})" if kind else name for name, kind in ATOMS.items())
    terms = ", ".join(name for name in TERMS if name not in ("key", "arg"))
    return {
        "title": "Guard",
        "description": (
            f"A yes/no question. Atoms: {atoms}, decided(decision), eq(key, value), "
            f"one_of(key, values). Comparisons < <= > >= == != in matches over keys, paths, "
            f"literals, args.x, {terms}. Joined by and, or, not. A bare word is a key; text is "
            "quoted. Unknown never opens a transition. As an object: {atom: name}, {captured: "
            "[keys]}, {decided: question}, {decided: {question: answer}} with true, false, an "
            "option, {at_least: n} or {at_most: n}, {eq: [key, value]}, {all: [...]}, "
            "{any: [...]}, {not: ...}."
        ),
        "examples": ["captured([amount, date])", "is_true(verified) and 1 <= quantity <= 20"],
        "anyOf": _GUARD_FORMS,
    }


def _refer(node: Schema) -> None:
    """Guards are described once; a field keeps its own description beside the reference."""
    options: list[Any] = node.get("anyOf", [])
    others = [option for option in options if option not in _GUARD_FORMS]
    if node.get("title") == "Guard" or len(options) - len(others) != len(_GUARD_FORMS):
        return
    node["anyOf"] = [{"$ref": "#/$defs/Guard"}, *others]


def _nodes(value: Any) -> Iterator[Schema]:
    if isinstance(value, dict):
        schema = cast("Schema", value)
        yield schema
        value = list(schema.values())
    if isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _nodes(item)
