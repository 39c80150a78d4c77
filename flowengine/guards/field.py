"""How pydantic reads and writes a field that holds a guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from flowengine.errors import GuardError
from flowengine.inputs import Json

G = TypeVar("G")


def field_schema(read: Callable[[object], G], write: Callable[[G], Json]) -> CoreSchema:
    """A GuardError becomes a validation error of type `guard` with offset and length in `ctx`."""

    def validated(value: object) -> G:
        try:
            return read(value)
        except GuardError as error:
            context = {"message": str(error), "offset": error.offset, "length": error.length}
            raise PydanticCustomError("guard", "{message}", context) from None

    return core_schema.no_info_plain_validator_function(
        validated, serialization=core_schema.plain_serializer_function_ser_schema(write)
    )


def field_json_schema() -> JsonSchemaValue:
    """Text, the JSON form, or `true` for always."""
    return {"anyOf": [{"type": "string"}, {"type": "object"}, {"const": True}]}
