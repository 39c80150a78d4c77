"""What stands for a record's data in Python, where a flow is built: its class, or its builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from flowengine.errors import FlowError

if TYPE_CHECKING:
    from flowengine.extract.spec import RecordSpec


@runtime_checkable
class Recorded(Protocol):
    """A record in code, with its name and its data."""

    @property
    def record_name(self) -> str: ...

    def spec(self) -> RecordSpec: ...


def records(*several: Recorded) -> dict[str, RecordSpec]:
    """Records as a flow holds them, each under its own name: `Flow(records=records(Order))`.

    Raises:
        FlowError: two have the same name.
    """
    found: dict[str, RecordSpec] = {}
    for record in several:
        if record.record_name in found:
            raise FlowError(f"two records have the name {record.record_name!r}; give one a `name=`")
        found[record.record_name] = record.spec()
    return found


class ByName:
    """Marks a mapping of records that may be given as a list in Python."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return in_python(handler(source), by_name)


def in_python(schema: CoreSchema, read: Callable[[Any], Any]) -> CoreSchema:
    """Reads what Python gives, and files as they are: before them a validator is less strict."""
    made = schema["schema"] if schema["type"] == "definitions" else schema
    if made["type"] == "json-or-python":  # pydantic keeps what it was given before
        return schema
    python = core_schema.no_info_before_validator_function(read, schema)
    return core_schema.json_or_python_schema(json_schema=schema, python_schema=python)


def spec_of(given: Any) -> Any:
    return given.spec() if isinstance(given, Recorded) else given


def by_name(given: Any) -> Any:
    """A list of records under their names; anything else as it is."""
    if not isinstance(given, list | tuple):
        return given
    several = cast("list[Any]", given)
    return records(*several) if all(isinstance(each, Recorded) for each in several) else several
