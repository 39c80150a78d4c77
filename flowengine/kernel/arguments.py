"""Whether a call's arguments fit the schemas that its tool declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from flowengine.inputs import Json


class Arguments:
    """The declared arguments of one tool; one that declares none takes whatever it is given."""

    def __init__(self, schemas: Mapping[str, Mapping[str, Any]]) -> None:
        self._schemas = schemas
        self.required = tuple(name for name, schema in schemas.items() if "default" not in schema)

    def misfits(self, given: Mapping[str, Json]) -> Iterator[str]:
        """The names of arguments that do not fit, or do not exist."""
        if not self._schemas:
            return
        for name, value in given.items():
            validator = self._validators.get(name)
            if validator is None or not validator.is_valid(value):
                yield name

    @cached_property
    def _validators(self) -> Mapping[str, Any]:
        # Imported at the first call of a tool: a flow that is only drawn or checked needs it not.
        from jsonschema import Draft202012Validator

        return {name: Draft202012Validator(schema) for name, schema in self._schemas.items()}
