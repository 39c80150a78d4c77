"""An extraction asks in JSON Schema, for what the keys of its promotions can hold."""

from __future__ import annotations

from typing import Any

import pytest

FLOW = """\
flow: x
models: {extraction: m}
state:
  reason: string
  amount: {type: decimal, writers: ["extractor:said"]}
extract:
  - name: said
    schema:
      properties: {reason: {type: string}, sum: {type: string, pattern: "^[0-9.]+$"}}
    promote:
      - {field: reason}
      - {field: sum, to: amount}
phases: {a: {done: is_set(reason) and amount > 5}}
"""


def test_a_schema_whose_fields_fit_has_no_findings(codes: Any) -> None:
    assert codes(FLOW) == []


@pytest.mark.parametrize(
    ("new", "path"),
    [
        ("reason: string,", "/extract/0/schema/properties/reason"),
        ("reason: {type: strng},", "/extract/0/schema/properties/reason/type"),
    ],
)
def test_a_field_that_is_no_schema_has_its_cure(
    found: Any, cured: Any, new: str, path: str
) -> None:
    text = FLOW.replace("reason: {type: string},", new)
    [diagnostic] = found(text)
    assert (diagnostic.code, diagnostic.path) == ("wrong_schema", path)
    assert cured(text).replace('{"type": "string"}', "{type: string}") == FLOW


@pytest.mark.parametrize(
    "schema",
    ["{anyOf: [{type: object}], propertyOrdering: [reason]}", "{type: object, x-source: crm}",
     "{type: object, nullable: true}"],
)  # fmt: skip
def test_words_that_json_schema_does_not_know_are_no_fields(found: Any, schema: str) -> None:
    text = FLOW[: FLOW.index("    schema:")] + f"    schema: {schema}\n"
    assert "wrong_schema" not in [one.code for one in found(text + "phases: {a: {}}\n")]


def test_a_schema_without_its_properties_is_no_traceback(found: Any) -> None:
    for empty in ("", "[]"):
        text = FLOW[: FLOW.index("      properties:")] + f"      properties: {empty}\n"
        assert found(text + "phases: {a: {}}\n") is not None


def test_fields_that_do_not_stand_under_properties_are_told(found: Any) -> None:
    text = FLOW[: FLOW.index("      properties:")] + "      reason: {type: string}\n"
    [diagnostic, *_] = found(text + "phases: {a: {done: is_set(reason)}}\n")
    assert (diagnostic.code, diagnostic.path) == ("wrong_schema", "/extract/0/schema/reason")
    assert "properties: {reason: ...}" in diagnostic.suggestion


@pytest.mark.parametrize("whole", ["{$ref: '#/$defs/a', $defs: {a: {type: object}}}", "{}"])
def test_a_schema_without_properties_may_be_meant(codes: Any, whole: str) -> None:
    text = FLOW[: FLOW.index("    schema:")] + f"    schema: {whole}\n"
    assert "wrong_schema" not in codes(text + "phases: {a: {done: is_set(reason)}}\n")


def test_any_other_part_that_is_no_schema_is_told_in_its_place(found: Any) -> None:
    [diagnostic] = found(FLOW.replace("schema:\n", "schema:\n      required: reason\n"))
    assert (diagnostic.code, diagnostic.path) == ("wrong_schema", "/extract/0/schema/required")


@pytest.mark.parametrize(
    "schema", ["{type: string}", "{type: number}", "{type: [string, boolean, 'null']}"]
)
def test_a_field_that_its_key_may_not_hold_is_told(codes: Any, schema: str) -> None:
    text = FLOW.replace('{type: string, pattern: "^[0-9.]+$"}', schema)
    assert codes(text) == ["unfit_promotion /extract/0/promote/1/to"]


@pytest.mark.parametrize("schema", ["{type: integer}", "{type: [integer, 'null']}", "{}"])
def test_a_field_that_its_key_holds_is_left_alone(codes: Any, schema: str) -> None:
    assert codes(FLOW.replace('{type: string, pattern: "^[0-9.]+$"}', schema)) == []


@pytest.mark.parametrize(("key", "asked"), [("integer", "number"), ("boolean", "string")])
def test_every_type_of_key_has_its_own(codes: Any, key: str, asked: str) -> None:
    text = FLOW.replace("reason: string\n", f"reason: {key}\n")
    text = text.replace("reason: {type: string}", f"reason: {{type: {asked}}}")
    assert codes(text) == ["unfit_promotion /extract/0/promote/0/field"]
