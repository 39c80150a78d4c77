"""What a model is told of a tool, in each provider's form."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from flowengine.errors import FlowError
from flowengine.tools.context import ToolContext
from flowengine.tools.declaration import declaration, for_gemini, for_openai, response_of
from flowengine.tools.spec import Tool


class Guest(BaseModel):
    name: str


def book(
    day: date,
    party: Annotated[int, Field(gt=0)] = 2,
    guest: Guest | None = None,
    context: ToolContext | None = None,
) -> None:
    """Reserve a table."""


DECLARED = Tool(
    description="Book it.",
    args={
        "day": {"type": "string", "description": "in words"},
        "note": {"type": "string", "default": ""},
    },
)


def test_the_flow_alone_declares_its_arguments() -> None:
    told = declaration("book", DECLARED)
    assert (told.name, told.description) == ("book", "Book it.")
    assert told.parameters["required"] == ["day"]
    assert list(told.parameters["properties"]) == ["day", "note"]


def test_a_function_declares_what_the_flow_does_not() -> None:
    told = declaration("book", Tool(args={"day": {"type": "string", "description": "d"}}), book)
    assert told.description == "Reserve a table."
    assert list(told.parameters["properties"]) == ["day", "party", "guest"]
    assert told.parameters["properties"]["day"] == {"type": "string", "description": "d"}
    assert told.parameters["required"] == ["day"]


def test_a_declared_argument_that_the_function_does_not_take_is_an_error() -> None:
    with pytest.raises(FlowError, match=r"declares the argument 'partty'.*Did you mean 'party'"):
        declaration("book", Tool(args={"partty": "integer"}), book)


def test_geminis_form_is_in_its_dialect() -> None:
    told = for_gemini(declaration("book", Tool(), book))
    schema = told["parameters_json_schema"]
    assert schema["properties"]["party"] == {"type": "integer", "minimum": 1}
    assert "exclusiveMinimum" not in str(schema)
    assert for_gemini(declaration("hang_up", Tool())) == {"name": "hang_up", "description": ""}


def test_geminis_form_is_what_its_library_takes() -> None:
    from google.genai.types import FunctionDeclaration

    made = FunctionDeclaration(**for_gemini(declaration("book", Tool(), book)))
    taken: Any = made.parameters_json_schema
    assert taken["required"] == ["day"]


def test_openais_form_is_strict_where_it_can_be() -> None:
    told = for_openai(declaration("book", Tool(), book))
    assert (told["type"], told["function"]["name"]) == ("function", "book")
    assert "strict" not in told["function"]
    strict = for_openai(declaration("book", Tool(), book), strict=True)["function"]
    assert strict["strict"] is True
    assert strict["parameters"]["required"] == ["day", "party", "guest"]
    mapped = for_openai(declaration("x", Tool(args={"seats": "object"})), strict=True)
    assert "strict" not in mapped["function"]


@pytest.mark.parametrize(
    ("value", "response"),
    [
        ({"a": 1}, {"a": 1}),
        ([1], {"output": [1]}),
        (None, {"output": None}),
        ("x", {"output": "x"}),
    ],
)
def test_a_response_is_an_object(value: Any, response: Any) -> None:
    assert response_of(value) == response


def test_a_name_that_a_service_refuses_is_told_in_another_spelling() -> None:
    told = declaration("desk.find", Tool())
    assert told.name == "desk__find"
    assert for_gemini(told)["name"] == for_openai(told)["function"]["name"] == "desk__find"
