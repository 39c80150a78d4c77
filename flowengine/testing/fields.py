"""Fields that a script says an extractor finds: what no run could bring would prove nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from jsonschema import Draft202012Validator, SchemaError

from flowengine.errors import near_miss
from flowengine.extract.spec import QUOTE, ExtractSpec, fields_of
from flowengine.flow.diagnostic import Finding, Path
from flowengine.inputs import Json

_YES_AND_NO = ("yes", "no", "on", "off")


def misspelt_fields(spec: ExtractSpec, found: Mapping[str, Json], path: Path) -> Iterator[Finding]:
    """Names that are nearly a field's; any other may be there to show that it is not taken."""
    schemas = fields_of(spec)
    quotes = {f"{rule.field}{QUOTE}" for rule in spec.promote if rule.quote}
    known = {*schemas, *quotes, *(rule.field for rule in spec.promote)}
    for name in found:
        guess = near_miss(name, known) if schemas and name not in known else None
        if guess is not None:
            message = f"the flow has no field in {spec.name!r}: {name!r}"
            cure = f"did you mean {guess!r}?"
            yield Finding("unknown_name", message, (*path, name), suggestion=cure, on_key=True)


def unfit_values(spec: ExtractSpec, found: Mapping[str, Json], path: Path) -> Iterator[Finding]:
    """Values that the schema does not allow, so that a model's answer of the kind is dropped."""
    schemas = fields_of(spec)
    for name, value in found.items():
        if name in schemas and value is not None and not _fits(spec, schemas[name], value):
            is_yes_or_no = value in _YES_AND_NO and _fits(spec, schemas[name], True)
            yield Finding(
                "wrong_value",
                f"field {name!r} of {spec.name!r} cannot hold this: its schema is {schemas[name]}",
                (*path, name),
                suggestion="write true or false: this is text" if is_yes_or_no else "",
            )


def _fits(spec: ExtractSpec, schema: Any, value: Json) -> bool:
    shared = {name: spec.schema_[name] for name in ("$defs", "definitions") if name in spec.schema_}
    if isinstance(schema, dict):
        schema = {**shared, **cast("dict[str, Any]", schema)}
    try:
        return Draft202012Validator(schema).is_valid(value)
    except SchemaError:
        return True  # the flow's own mistake, which `check` tells
