"""What may be asked for: the schema of a type, and JSON Schemas given as they are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from flowengine.llm import ExtractFailure, Extractor
from flowengine.llm.dialect import GEMINI, OPENAI_STRICT
from flowengine.llm.schema import NoSchema, target
from flowengine.testing.gemini_rules import schema_faults

NODE = {"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/N"}}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"$ref": "#/$defs/N", "$defs": {"N": NODE}}, {"v": 1, "next": {"v": 2}}),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}}, {"a": {"a": {}}}),
        ({"properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": "integer"}}}, {"a": 1}),
        ({"properties": {"a/b": {}, "c": {"$ref": "#/properties/a~1b"}}}, {"c": 1}),
        (
            {"properties": {"a": {"$ref": "#/definitions/b"}}, "definitions": {"b": {}}},
            {"a": {"c": 1}},
        ),
        ({"enum": [{"a": 1}, {"a": 2}, None]}, {"a": 1}),
        ({"const": [1, {"a": 1}]}, [1, {"a": 1}]),
        ({"enum": [True, False, 1]}, True),
        ({"properties": {"a": True, "b": False}}, {"a": {"x": 1}}),
        ({"type": ["object", "null"], "properties": {"a": {}}}, None),
        ({}, [1]),
    ],
)
def test_a_json_schema_of_any_form_is_asked_for_in_each_dialect_and_read_back(
    schema: dict[str, Any], value: Any
) -> None:
    found = target(schema)
    for asked in (found.schema, found.strict):
        assert schema_faults(GEMINI.adapt(asked)[0]) == []
        OPENAI_STRICT.adapt(asked)
    document = {"value": value} if found.wrapped else value
    assert Extractor().parse(json.dumps(document), schema).value == value


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"properties": {"a": {"$ref": "https://example.com/x.json"}}}, "https://example.com"),
        ({"properties": {"a": {"$ref": "#/$defs/Missing"}}}, "Missing"),
        ({"properties": {"a": {"$ref": "#anchor"}, "b": {"$anchor": "anchor"}}}, "#anchor"),
        ({"properties": {"a": {"$dynamicRef": "#meta"}}}, "#meta"),
        (
            {
                "properties": {"a": {"$ref": "#/$defs/A"}},
                "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
            },
            "itself",
        ),
        ({"properties": {"a": {"default": object()}}}, "not JSON"),
        ({"type": "objekt"}, r"\$.type"),
        ({"properties": {"a": {"pattern": "("}}}, r"\$.properties.a.pattern"),
        ({"properties": {"a": {"items": [{}]}}}, "2020-12"),
    ],
)
def test_what_could_only_fail_after_a_paid_call_is_refused_at_once(
    schema: dict[str, Any], why: str
) -> None:
    with pytest.raises(NoSchema, match=why):
        target(schema)


def test_a_property_that_is_called_ref_is_no_reference() -> None:
    schema = {"properties": {"$ref": {"type": "string"}, "x": {"enum": [{"$ref": "nowhere"}]}}}
    assert Extractor().parse('{"$ref": "a"}', schema).value == {"$ref": "a"}


@pytest.mark.parametrize("wanted", [{"properties": {"a": {}}}, dict[str, Any]])
@pytest.mark.parametrize("text", ['{"a": 1e400}', '{"a": [-1e999]}'])
def test_a_number_that_no_json_can_hold_is_no_value(wanted: Any, text: str) -> None:
    with pytest.raises(ExtractFailure, match="out of range"):
        Extractor().parse(text, wanted)
    with pytest.raises(ExtractFailure, match="out of range"):
        Extractor(repair=True).parse(text, wanted)


def test_half_a_character_is_a_fault_of_its_field_alone() -> None:
    class Facts(BaseModel):
        a: list[str]
        b: dict[str, int] = {}
        c: int = 0

    with pytest.raises(
        ExtractFailure, match=r"fit: a\[1\] \(string_unicode\), b \(string_unicode\) "
    ):
        Extractor().parse('{"a": ["x", "\\ud800"], "b": {"\\udfff": 1}, "c": 1}', Facts)


def test_a_null_the_schema_does_not_take_is_no_value_of_the_field() -> None:
    schema = {"properties": {"a": {"type": "integer", "nullable": True}}}
    assert Extractor().parse('{"a": null}', schema).value == {}


@pytest.mark.parametrize(
    ("title", "name"), [("Überweisung", "berweisung"), ("日本", "order"), ("", "order")]
)
def test_a_schema_is_named_by_its_title_else_by_its_type(title: str, name: str) -> None:
    class Order(BaseModel):
        model_config = ConfigDict(title=title)
        a: int

    assert target(Order).name == name
