"""Arguments of a call against what a flow declares."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.errors import FlowError
from flowengine.sources.arguments import ArgumentError
from flowengine.tools.accept import accept, coerced
from flowengine.tools.spec import Tool

TOOL = Tool(
    args={
        "day": "string",
        "party": {"type": "integer", "minimum": 1, "default": 2},
        "order": {
            "type": "object",
            "properties": {"items": {"items": {"enum": ["a", "b"]}}},
            "default": {},
        },
    }
)


def test_defaults_are_filled_in() -> None:
    assert accept("book", TOOL, {"day": "friday"}) == {"day": "friday", "party": 2, "order": {}}
    assert accept("book", TOOL, {"day": "friday", "party": None})["party"] == 2


def test_a_tool_without_declared_arguments_takes_whatever_comes() -> None:
    assert accept("t", Tool(), {"x": [1]}) == {"x": [1]}


@pytest.mark.parametrize(
    ("types", "given", "taken"),
    [
        ("integer", "12", 12),
        ("integer", " -3 ", -3),
        ("integer", 4.0, 4),
        ("integer", "4.5", "4.5"),
        ("number", "4.5", 4.5),
        ("number", "4", 4),
        ("boolean", "True", True),
        ("boolean", "yes", "yes"),
        ("string", 417, "417"),
        ("string", True, True),
        (["string", "integer"], "12", "12"),
        (["integer", "null"], "12", 12),
        ("number", 4.0, 4.0),
        ("integer", "٤", "٤"),
        ("integer", True, True),
    ],
)
def test_a_value_spelled_as_another_type_is_read(types: Any, given: Any, taken: Any) -> None:
    value = coerced({"type": types}, given)
    assert (value, type(value)) == (taken, type(taken))


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ({}, ("day", "is missing")),
        ({"day": "x", "party": "s3cret"}, ("party", 'does not fit type: "integer"')),
        ({"day": "x", "party": 0}, ("party", "does not fit minimum: 1")),
        ({"day": None}, ("day", 'does not fit type: "string"')),
        (
            {"day": "x", "order": {"items": ["a", "s3cret"]}},
            ("order.items[1]", 'does not fit enum: ["a","b"]'),
        ),
        (
            {"day": "x", "partyy": 3},
            ("*", "no such argument: it takes day, party, order (meant: party?)"),
        ),
    ],
)
def test_a_misfit_names_its_argument_and_never_its_value(
    args: dict[str, Any], problem: tuple[str, str]
) -> None:
    with pytest.raises(ArgumentError) as caught:
        accept("book", TOOL, args)
    assert caught.value.problems == (problem,)
    assert "s3cret" not in f"{caught.value} {caught.value!r}"


def test_keys_of_a_value_are_not_repeated() -> None:
    tool = Tool(args={"seats": {"additionalProperties": {"type": "integer"}}})
    with pytest.raises(ArgumentError) as caught:
        accept("t", tool, {"seats": {"jane": "x"}})
    assert caught.value.problems[0].argument == "seats.*"


@given(
    st.dictionaries(
        st.sampled_from(["day", "party", "order"]),
        st.none() | st.text() | st.integers() | st.floats() | st.booleans(),
    )
)
def test_what_is_accepted_is_accepted_again_unchanged(args: dict[str, Any]) -> None:
    try:
        accepted = accept("book", TOOL, args)
    except ArgumentError:
        return
    assert accept("book", TOOL, accepted) == accepted


def test_what_is_declared_must_be_a_schema() -> None:
    with pytest.raises(FlowError, match=r"no JSON Schema: at \$\.properties\.a\.type"):
        accept("t", Tool(args={"x": {"properties": {"a": {"type": "strng"}}}}), {"x": 1})
