"""The target of an extraction: the JSON Schema a type asks for, and the check of a value."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

from jsonschema import Draft202012Validator
from jsonschema import ValidationError as SchemaViolation
from jsonschema.exceptions import SchemaError
from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from flowengine.llm.data import JSON, Path, Schema, compact, is_array, is_object, show_path
from flowengine.llm.nulls import strict_schema
from flowengine.llm.reasons import Issue
from flowengine.llm.refs import bad_reference, children, resolve, types_of

T = TypeVar("T")

FALLBACK_NAME = "structured_output"
WRAP = "value"


class NoSchema(Exception):
    """No JSON Schema can be made of what was asked for."""


class Misfit(Exception):
    """A value that does not fit, as one issue per field."""

    def __init__(self, issues: tuple[Issue, ...]) -> None:
        super().__init__(f"{len(issues)} issues")
        self.issues = issues


@dataclass(frozen=True)
class Target(Generic[T]):
    """`schema` is always of an object: another top level is wrapped as `{"value": ...}`.

    `strict` is its strict form, `names` are all property names it declares anywhere.
    """

    name: str
    schema: Schema
    wrapped: bool
    check: Callable[[JSON, Mapping[str, Any] | None], T]
    names: frozenset[str]
    strict: Schema

    def validate(self, value: JSON, context: Mapping[str, Any] | None = None) -> T:
        """The typed value of one JSON document. Raises `Misfit`."""
        inner = value
        if self.wrapped:
            if not is_object(value) or WRAP not in value:
                raise Misfit(
                    (Issue(loc=(WRAP,), msg="Field required", type="missing", place=WRAP),)
                )
            inner = value[WRAP]
        try:
            return self.check(inner, context)
        except Misfit as misfit:
            raise Misfit(tuple(self._placed(issue) for issue in misfit.issues)) from None

    def wrap(self, value: JSON) -> JSON:
        """A value that came without the object it was asked for in, put into one."""
        if not self.wrapped or (is_object(value) and WRAP in value):
            return value
        return {WRAP: value}

    def _placed(self, issue: Issue) -> Issue:
        loc = (WRAP, *issue.loc) if self.wrapped else issue.loc
        return issue.model_copy(update={"loc": loc, "place": self.place(loc)})

    def place(self, path: Path) -> str:
        """A path that is safe to print: keys the schema does not name become `*`."""
        return show_path(
            tuple(step if isinstance(step, int) or step in self.names else "*" for step in path)
        )

    def place_of(self, path: str) -> str:
        """The same for a path that is text already."""
        return re.sub(r"[^.\[\]]+", self._known_step, path)

    def _known_step(self, step: re.Match[str]) -> str:
        return step.group() if step.group() in self.names or step.group().isdigit() else "*"


def target(wanted: Any) -> Target[Any]:
    """The target of a type, a `TypeAdapter`, or a JSON Schema given as a mapping.

    Raises `NoSchema`.
    """
    if isinstance(wanted, Mapping):
        return _schema_target(_json_text(cast("Mapping[str, Any]", wanted)))
    try:
        return _cached_type_target(wanted)
    except TypeError:  # unhashable, such as an Annotated type with a list inside
        return _type_target(wanted)


def schema_name(*titles: str) -> str:
    """A name providers accept: ASCII letters and digits in lower case, the rest as `_`.

    Of the first title of which something is left.
    """
    names = (re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_") for title in titles)
    return next(filter(None, names), FALLBACK_NAME)


def _type_target(wanted: Any) -> Target[Any]:
    try:
        adapter = cast("TypeAdapter[Any]", wanted if _is_adapter(wanted) else TypeAdapter(wanted))
        schema = adapter.json_schema(by_alias=True, mode="validation")
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise NoSchema(error.message.splitlines()[0]) from None

    def check(value: JSON, context: Mapping[str, Any] | None) -> Any:
        try:
            # As JSON, so that strict models take dates and the like from their text.
            return adapter.validate_json(_as_text(value), context=dict(context or {}))
        except ValidationError as error:
            raise Misfit(_issues(error)) from None

    name = schema_name(str(schema.get("title", "")), str(getattr(wanted, "__name__", "")))
    return _object_target(schema, name, check)


def _is_adapter(wanted: object) -> bool:
    return isinstance(wanted, TypeAdapter)


_cached_type_target = lru_cache(maxsize=256)(_type_target)


def _json_text(schema: Mapping[str, Any]) -> str:
    try:
        return compact(dict(schema))
    except (TypeError, ValueError) as error:
        raise NoSchema(f"the schema is not JSON: {error}") from None


@lru_cache(maxsize=256)
def _schema_target(text: str) -> Target[Any]:
    # Older drafts keep their definitions under another name.
    schema: Schema = json.loads(text.replace('"$ref":"#/definitions/', '"$ref":"#/$defs/'))
    if "definitions" in schema:
        schema["$defs"] = {**schema.pop("definitions"), **schema.get("$defs", {})}
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise NoSchema(f"not a JSON Schema at {error.json_path} (draft 2020-12)") from None
    fault = bad_reference(schema)
    if fault is not None:
        raise NoSchema(fault)
    validator = Draft202012Validator(schema)

    def check(value: JSON, context: Mapping[str, Any] | None) -> Any:
        found = list(validator.iter_errors(value))
        if found:
            raise Misfit(tuple(_violation(error) for error in found))
        return value

    return _object_target(schema, schema_name(str(schema.get("title", ""))), check)


def _as_text(value: JSON) -> bytes:
    """The JSON of a value. Raises `Misfit` for half a character, which UTF-8 cannot carry."""
    try:
        return compact(value).encode()
    except UnicodeEncodeError:
        broken = (
            Issue(loc=path, msg="broken Unicode", type="string_unicode")
            for path in _broken_texts(value, ())
        )
        raise Misfit(tuple(broken)) from None


def _broken_texts(value: JSON, path: Path) -> Iterator[Path]:
    """Where a text, or a key, holds half a character."""
    if is_object(value):
        for key, child in value.items():
            yield from [] if _is_whole(key) else [path]
            yield from _broken_texts(child, (*path, key))
    elif is_array(value):
        for index, child in enumerate(value):
            yield from _broken_texts(child, (*path, index))
    elif isinstance(value, str) and not _is_whole(value):
        yield path


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _object_target(
    schema: Schema, name: str, check: Callable[[JSON, Mapping[str, Any] | None], Any]
) -> Target[Any]:
    top = resolve(schema, schema)
    names = frozenset(_property_names(schema))
    shared = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    if types_of(top) == ("object",) or (not types_of(top) and "properties" in top):
        sent = {**top, **shared}
        return Target(name, sent, False, check, names, strict_schema(sent))
    inner = {key: part for key, part in schema.items() if key != "$defs"}
    wrapping: Schema = {"type": "object", "properties": {WRAP: inner}, "required": [WRAP]}
    sent = {**wrapping, **shared}
    return Target(name, sent, True, check, names | {WRAP}, strict_schema(sent))


def _property_names(node: Any) -> set[str]:
    if not is_object(node):
        return set()
    names = set(node.get("properties", ()))
    return names.union(*(_property_names(child) for _, child in children(node)))


def _issues(error: ValidationError) -> tuple[Issue, ...]:
    return tuple(
        Issue(loc=tuple(found["loc"]), msg=found["msg"], type=found["type"])
        for found in error.errors(include_url=False, include_input=False, include_context=False)
    )


def _violation(error: SchemaViolation) -> Issue:
    return Issue(
        loc=tuple(error.absolute_path), msg=error.message, type=str(error.validator or "schema")
    )
