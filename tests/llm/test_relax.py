from __future__ import annotations

from typing import Any

from flowengine.llm.relax import relax

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "maximum": {"type": "string", "format": "date"},
        "colour": {"enum": [f"c{n}" for n in range(40)]},
        "few": {"enum": ["a", "b"]},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "Either."},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
}


def test_level_zero_is_the_schema_itself() -> None:
    assert relax(SCHEMA, 0) == (SCHEMA, ())


def test_level_one_drops_bounds_but_not_properties_named_like_them() -> None:
    schema, losses = relax(SCHEMA, 1)
    assert schema["properties"]["age"] == {"type": "integer"}
    assert schema["properties"]["maximum"] == {"type": "string"}
    assert {(loss.path, loss.keyword) for loss in losses} == {
        ("age", "minimum"),
        ("age", "maximum"),
        ("maximum", "format"),
    }


def test_level_two_turns_unions_and_long_enums_into_words() -> None:
    schema, losses = relax(SCHEMA, 2)
    colour = schema["properties"]["colour"]
    assert "enum" not in colour
    assert "c39" in colour["description"]
    assert schema["properties"]["few"] == {"enum": ["a", "b"]}
    assert schema["properties"]["either"]["description"].startswith("Either.")
    assert "anyOf" not in schema["properties"]["either"]
    assert "anyOf" in schema["properties"]["maybe"]
    assert ("colour", "enum") in {(loss.path, loss.keyword) for loss in losses}


def test_the_schema_given_is_not_changed() -> None:
    before = repr(SCHEMA)
    relax(SCHEMA, 2)
    assert repr(SCHEMA) == before
