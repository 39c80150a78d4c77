from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from flowengine.llm.nulls import drop_strict_nulls, strict_schema
from flowengine.llm.schema import target


class Inner(BaseModel):
    need: str
    maybe: str | None = None
    count: int = 3


class A(BaseModel):
    kind: Literal["a"]
    size: int = 1


class B(BaseModel):
    kind: Literal["b"]
    size: int | None = 1


class Outer(BaseModel):
    inner: Inner
    many: list[Inner] = []
    mood: Literal["x", "y"] = "x"
    union: A | B | None = None
    plain: int | str = 0
    counts: dict[str, int] = {}
    one: Inner | None = None


SCHEMA = target(Outer).schema
STRICT = strict_schema(SCHEMA)


def objects(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [found for child in node for found in objects(child)]
    if not isinstance(node, dict):
        return []
    own = [node] if "properties" in node else []
    return own + [found for child in node.values() for found in objects(child)]


def test_the_strict_form_requires_every_property_and_closes_every_object() -> None:
    found = objects(STRICT)
    assert len(found) >= 4
    for node in found:
        assert node["required"] == list(node["properties"])
        assert node["additionalProperties"] is False


def test_the_original_is_not_changed() -> None:
    before = Outer.model_json_schema()
    strict_schema(SCHEMA)
    assert before == SCHEMA


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (
            {"inner": {"need": "a", "maybe": None, "count": None}},
            {"inner": {"need": "a", "maybe": None}},
        ),
        ({"inner": {"need": None}}, {"inner": {"need": None}}),
        ({"many": None, "mood": None, "plain": None, "counts": None}, {}),
        ({"many": [{"need": "a", "count": None}]}, {"many": [{"need": "a"}]}),
        ({"union": {"kind": "a", "size": None}}, {"union": {"kind": "a"}}),
        ({"union": {"kind": "b", "size": None}}, {"union": {"kind": "b", "size": None}}),
        ({"one": None, "union": None}, {"one": None, "union": None}),
        ({"counts": {"x": None}}, {"counts": {"x": None}}),
    ],
)
def test_only_nulls_that_exist_by_strictness_go(value: Any, kept: Any) -> None:
    assert drop_strict_nulls(SCHEMA, value) == kept


inners = st.builds(Inner)


@given(st.builds(Outer, inner=inners, many=st.lists(inners, max_size=2)), st.data())
def test_optional_fields_said_as_null_take_their_defaults(
    value: Outer, data: st.DataObject
) -> None:
    dumped = value.model_dump(mode="json")
    optional = ["many", "mood", "plain", "counts"]
    nulled = data.draw(st.sets(st.sampled_from(optional)))
    said = {**dumped, **dict.fromkeys(nulled)}
    Draft202012Validator(STRICT).validate(said)
    read = Outer.model_validate(drop_strict_nulls(SCHEMA, said))
    expected = {key: part for key, part in dumped.items() if key not in nulled}
    assert read == Outer.model_validate(expected)
