"""The fields of a type, each checked by itself: a bad one is dropped, the rest stays; and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter
from pydantic_core import SchemaSerializer, SchemaValidator, ValidationError

from flowengine.errors import WrongTypeError
from flowengine.inputs import Json
from flowengine.llm.data import compact

T = TypeVar("T")
_FIELDS = ("model-fields", "typed-dict", "dataclass-args")


class TypedFields:
    """The checks of a pydantic model, TypedDict or dataclass, without what binds its fields.

    A turn brings some of the fields, so none is required, no default is filled in, and a rule
    over several fields is not asked. A field's own validators are, and may change its value.
    """

    def __init__(self, wanted: Any) -> None:
        fields = _partial(TypeAdapter(wanted).core_schema)
        self._validator = SchemaValidator(cast("Any", fields))
        self._serializer = SchemaSerializer(cast("Any", fields))

    def check(self, values: Mapping[str, Json]) -> tuple[dict[str, Json], tuple[str, ...]]:
        """The fields that fit, as JSON, and the place and kind of each fault: `score (le)`."""
        good, faults = dict(values), list[str]()
        while (found := self._misfits(good)) is not None:
            faults += [f"{field} ({kind})" for field, kind in found]
            good = {name: value for name, value in good.items() if name not in dict(found)}
        typed = self._validator.validate_json(compact(good))
        plain = self._serializer.to_python(typed, mode="json", warnings=False)
        return {name: plain[name] for name in good}, tuple(faults)

    def _misfits(self, values: Mapping[str, Json]) -> list[tuple[str, str]] | None:
        try:
            self._validator.validate_json(compact(values))
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False, include_context=False)
            return [(str(fault["loc"][0]), fault["type"]) for fault in found]
        return None


def instance_of(wanted: type[T], fields: Mapping[str, Json]) -> T | None:
    """Fields as an instance. One that is absent is its default, else None; where it can be
    neither, there is no instance yet, and None comes back.

    Raises:
        WrongTypeError: what is there does not fit; the values are not shown.
    """
    adapter = _adapter(wanted)
    absent = {place for place, kind in _faults(adapter, fields) if kind == "missing"}
    known = {**fields, **dict.fromkeys(absent)}
    faults = _faults(adapter, known)
    if not faults:
        return adapter.validate_json(compact(known))
    if {place for place, _ in faults} <= absent:
        return None
    told = "; ".join(f"{place or 'the whole'} ({kind})" for place, kind in faults)
    raise WrongTypeError(f"what was extracted is no {wanted.__name__}: {told}")


@lru_cache(maxsize=64)
def _adapter(wanted: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(wanted)


def _faults(adapter: TypeAdapter[Any], fields: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The place and kind of each; a fault of all fields together has the place ""."""
    try:
        adapter.validate_json(compact(fields))
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        return [(".".join(map(str, fault["loc"])), fault["type"]) for fault in found]
    return []


def _partial(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The type as a dictionary of fields that may all be absent, in pydantic's own terms."""
    shared: list[Any] = []
    while schema["type"] not in _FIELDS:
        if schema["type"] == "definitions":
            shared, schema = schema["definitions"], schema["schema"]
        elif schema["type"] == "definition-ref":
            ref = schema["schema_ref"]
            schema = next(part for part in shared if part.get("ref") == ref)
        else:  # the object around the fields, or a validator of the whole
            schema = schema["schema"]
    fields = {
        prop: {"type": "typed-dict-field", "schema": part, "required": False}
        for prop, part in _named(schema["fields"])
    }
    partial = {"type": "typed-dict", "fields": fields}
    return {"type": "definitions", "schema": partial, "definitions": shared} if shared else partial


def _named(fields: Any) -> Iterable[tuple[str, Any]]:
    """Each field under the name that its JSON Schema gives it."""
    if isinstance(fields, Mapping):
        pairs = cast("Mapping[str, Any]", fields).items()
    else:
        pairs = [(field["name"], field) for field in fields]
    for name, field in pairs:
        alias = field.get("validation_alias")
        yield alias if isinstance(alias, str) else name, field["schema"]
