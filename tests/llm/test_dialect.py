"""Our sanitiser for Gemini's dialect, against the strict checker of the loopback Gemini."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from flowengine.llm.dialect import GEMINI, OPENAI_STRICT, ForeignReference
from flowengine.llm.nulls import strict_schema
from flowengine.llm.relax import relax
from flowengine.llm.schema import Misfit, target
from flowengine.testing.gemini_rules import schema_faults


class Nested(BaseModel):
    """A nested thing."""

    n: int


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Node(BaseModel):
    value: int
    children: list[Node] = []


class Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid")
    n: int


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


@pytest.mark.parametrize(
    ("wanted", "lost"),
    [
        (int | None, []),
        (Nested, []),
        (Node, []),
        (Literal["a", "b"], []),
        (Colour, []),
        (Literal[1], []),
        (Literal[1, 2], []),
        (Level, []),
        (dict[str, int], []),
        (Forbidding, []),
        (Annotated[int, Field(gt=0, lt=9)], []),
        (Annotated[float, Field(gt=0)], ["schema.loosened.exclusiveMinimum"]),
        (Annotated[int, Field(multiple_of=5)], ["schema.dropped.multipleOf"]),
        (
            Annotated[str, Field(pattern="^a", min_length=1, max_length=4)],
            ["schema.dropped.pattern", "schema.dropped.minLength", "schema.dropped.maxLength"],
        ),
        (Pet, []),
        (tuple[int, str], []),
        (set[int], ["schema.dropped.uniqueItems"]),
        (int | str, []),
        (date | datetime | time, []),
        (Decimal, []),
        (UUID, ["schema.dropped.format"]),
        (list[Nested], []),
        (Literal[True], ["schema.dropped.enum"]),
        (Literal["a", None], []),
        (Literal[None], []),
        (Sequence[int], []),
        (Annotated[list[int], Field(min_length=1, max_length=3)], []),
        (Annotated[Nested, Field(description="the main one")], []),
        (int, []),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_every_pydantic_feature_becomes_a_schema_the_service_takes(
    wanted: Any, lost: list[str], strict: bool
) -> None:
    schema = target(wanted).schema
    adapted, losses = GEMINI.adapt(strict_schema(schema) if strict else schema)
    assert schema_faults(adapted) == []
    found = {loss.code for loss in losses}
    assert set(lost) <= found
    assert found - set(lost) <= {
        "schema.dropped.format",
        "schema.loosened.required",
        "schema.dropped.pattern",
    }


def test_a_lost_constraint_has_a_path_and_is_still_enforced_here() -> None:
    class Line(BaseModel):
        code: str = Field(pattern="^[A-Z]+$")

    class Order(BaseModel):
        lines: list[Line]

    wanted = target(Order)
    _, losses = GEMINI.adapt(wanted.schema)
    [loss] = losses
    assert (loss.path, loss.keyword) == ("$Line.code", "pattern")
    with pytest.raises(Misfit):
        wanted.validate({"lines": [{"code": "abc"}]})


def test_equivalent_forms_are_rewritten_without_a_loss() -> None:
    adapted, losses = GEMINI.adapt(
        {
            "type": "object",
            "properties": {
                "a": {"const": "x"},
                "b": {"oneOf": [{"type": "string"}, {"type": "null"}]},
                "c": {"type": "integer", "exclusiveMinimum": 2, "exclusiveMaximum": 5},
                "d": {"allOf": [{"type": "string"}], "default": "q"},
            },
        }
    )
    assert losses == ()
    assert adapted["properties"] == {
        "a": {"enum": ["x"]},
        "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "c": {"type": "integer", "minimum": 3, "maximum": 4},
        "d": {"type": "string"},
    }


def test_a_described_reference_keeps_its_description() -> None:
    class Owner(BaseModel):
        thing: Nested = Field(description="the main one")

    adapted, _ = GEMINI.adapt(target(Owner).schema)
    assert adapted["properties"]["thing"]["description"] == "the main one"


def test_a_required_way_back_to_itself_is_made_optional_and_named() -> None:
    schema = strict_schema(target(list[Node]).schema)
    adapted, losses = GEMINI.adapt(schema)
    assert adapted["$defs"]["Node"]["required"] == ["value"]
    assert [(loss.path, loss.code) for loss in losses] == [
        ("$Node.children", "schema.loosened.required")
    ]


def test_the_given_schema_is_not_changed() -> None:
    schema = target(Node).schema
    before = repr(schema)
    GEMINI.adapt(schema)
    assert repr(schema) == before


@pytest.mark.parametrize("ref", ["https://example.com/schema.json", "#/$defs/Missing"])
def test_a_reference_that_leads_nowhere_is_refused(ref: str) -> None:
    with pytest.raises(ForeignReference):
        GEMINI.adapt({"type": "object", "properties": {"a": {"$ref": ref}}})


def test_parts_that_contradict_each_other_are_a_loss() -> None:
    schema = {"allOf": [{"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 5}]}
    _, losses = GEMINI.adapt(schema)
    assert [loss.code for loss in losses] == ["schema.loosened.allOf"]


def test_a_false_keyword_is_named_whatever_it_is() -> None:
    adapted, losses = GEMINI.adapt(
        {"type": "object", "patternProperties": {"^x": {}}, "if": {}, "then": {}, "not": {}}
    )
    assert adapted == {"type": "object"}
    assert {loss.keyword for loss in losses} == {"patternProperties", "if", "then", "not"}


def test_openai_keeps_what_gemini_cannot_say() -> None:
    schema = target(Annotated[str, Field(pattern="^a", max_length=3)]).schema
    adapted, losses = OPENAI_STRICT.adapt(schema)
    assert adapted["properties"]["value"]["pattern"] == "^a"
    assert [loss.keyword for loss in losses] == ["maxLength"]


def test_a_part_that_leads_back_to_itself_stays_a_reference() -> None:
    part = {"allOf": [{"$ref": "#/$defs/Node"}], "description": "the next one"}
    schema = {
        "$defs": {"Node": {"type": "object", "properties": {"next": part}}},
        "type": "object",
        "properties": {"first": part},
    }
    adapted, losses = GEMINI.adapt(schema)
    assert schema_faults(adapted) == []
    assert losses == ()
    assert adapted["properties"]["first"] == {
        "anyOf": [{"$ref": "#/$defs/Node"}],
        "description": "the next one",
    }


leaves = st.sampled_from(
    [
        {"type": "string", "pattern": "a", "format": "uuid"},
        {"type": "string", "format": "date", "maxLength": 3},
        {"type": "integer", "exclusiveMinimum": 1.5, "minimum": 0},
        {"type": "number", "exclusiveMaximum": 3, "multipleOf": 2},
        {"type": ["string", "null"], "default": "x"},
        {"enum": ["a", None]},
        {"enum": [1, True, None]},
        {"const": True},
        {"const": None},
        {"$ref": "#/$defs/A"},
        {"$ref": "#/$defs/B", "description": "b", "maxItems": 2},
        {},
    ]
)


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    properties = st.dictionaries(st.sampled_from(["x", "default", "enum", "$ref"]), inner)
    return st.one_of(
        st.fixed_dictionaries({"type": st.just("object"), "properties": properties}),
        st.fixed_dictionaries({"type": st.just("object"), "additionalProperties": inner}),
        st.fixed_dictionaries({"items": inner, "uniqueItems": st.just(True)}),
        st.fixed_dictionaries({"prefixItems": several, "items": st.just(False)}),
        *(st.fixed_dictionaries({word: several}) for word in ("anyOf", "oneOf", "allOf")),
    )


schemas = st.recursive(leaves, nested, max_leaves=8)


@given(schemas, schemas, schemas, st.integers(0, 2), st.booleans())
def test_any_schema_at_any_level_is_one_the_service_takes(
    top: Any, first: Any, second: Any, level: int, strict: bool
) -> None:
    schema = {
        "type": "object",
        "properties": {"top": top},
        "required": ["top"],
        "$defs": {"A": first, "B": second},
    }
    relaxed, _ = relax(schema, level)
    adapted, _ = GEMINI.adapt(strict_schema(relaxed) if strict else relaxed)
    assert schema_faults(adapted) == []
