"""What the value of a recognizer is: its type in State, and the Python types that can hold it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from flowengine.extract.spec import FieldSpec
from flowengine.inputs import Json
from flowengine.state.keys import KEY_TYPES, KeySpec

_KIND_TYPES: Mapping[str, tuple[str, ...]] = {
    "integer": ("integer",),
    "integer_near": ("integer",),
    "number": ("number",),
    "ordinal": ("integer",),
    "percent": ("number",),
    "money": ("decimal",),
    "yes_no": ("boolean",),
    "one_of": ("string",),
    "fuzzy": ("string",),
    "regex": ("string",),
    "datetime": ("date", "time", "datetime"),
    "date": ("date",),
    "time": ("time",),
    "date_of_birth": ("date",),
    "duration": ("duration",),
    "quantity": ("string",),
    "digits": ("string",),
    "letters": ("string",),
    "phone": ("string",),
    "email": ("string",),
    "postal_code": ("string",),
    "language": ("string",),
}
_HOLDERS: Mapping[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int, float),
    "number": (float,),
    "decimal": (Decimal, str),
    "string": (str,),
    "date": (date, str),
    "time": (time, str),
    "datetime": (datetime, str),
    "duration": (timedelta, str),
    "object": (dict, Mapping),
}
"""Python types for each type of State, the natural one first; text holds what is stored as text."""


def value_types(spec: FieldSpec) -> tuple[str, ...]:
    """The types of State that the field's value may have; empty where a resolver decides.

    A datetime is a date, a time or both, as it was said.
    """
    if spec.recognize is None:
        return ()
    return ("object",) if spec.options.get("form") == "parts" else _KIND_TYPES[spec.kind]


def value_key(spec: FieldSpec) -> dict[str, KeySpec]:
    """The key `value` of a field's guards: they compare an amount by size, a duration by length.

    It has no type for a datetime, which is a date, a time or both, and is compared as it is
    spelled; and none for what a resolver gives.
    """
    types = value_types(spec)
    return {"value": KeySpec(type=KEY_TYPES[types[0]])} if len(types) == 1 else {}


def typed(types: tuple[str, ...], value: Json) -> Any:
    """A stored value as Python has it: "12.50" as a Decimal where the type is decimal."""
    kind = next((KEY_TYPES[name] for name in types if KEY_TYPES[name].accepts(value)), None)
    return value if kind is None else kind.parse(value)


def disagreement(spec: FieldSpec, annotation: Any) -> str:
    """What is wrong with annotating the field like this, and the cure; empty if nothing is."""
    members = [member for member in _members(annotation) if member is not Any]
    if members != list(_members(annotation)):
        return ""
    shown = _shown(annotation)
    if NoneType not in members:
        return f"nothing may be known of it yet: write `{shown} | None`, not `{shown}`"
    types = value_types(spec)
    held = [member for member in members if member is not NoneType]
    if all(any(_holds(member, name, spec) for member in held) for name in types):
        return ""
    missing = _missing_options(held, spec)
    if missing:
        return f"{shown} lacks {', '.join(map(repr, missing))}, which {spec.kind} may give"
    cure = " | ".join(_HOLDERS[name][0].__name__ for name in types)
    return f"{spec.kind} gives {' or '.join(types)}: write `{cure} | None`, not `{shown}`"


def _members(annotation: Any) -> Iterator[Any]:
    """The parts of a union; aliases and `Annotated` are seen through."""
    annotation = getattr(annotation, "__value__", annotation)
    if get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from _members(part)
    elif get_origin(annotation) is Annotated:
        yield from _members(get_args(annotation)[0])
    else:
        yield NoneType if annotation is None else annotation


def _holds(member: Any, type_: str, spec: FieldSpec) -> bool:
    if type_ == "string" and (choices := _choices(member)):
        return not _options(spec).isdisjoint(choices) and _options(spec) <= choices
    return member is object or (get_origin(member) or member) in _HOLDERS[type_]


def _choices(member: Any) -> frozenset[Any]:
    """The values of a Literal or an enumeration."""
    if get_origin(member) is Literal:
        return frozenset(get_args(member))
    if isinstance(member, type) and issubclass(member, Enum):
        return frozenset(each.value for each in member)
    return frozenset()


def _options(spec: FieldSpec) -> frozenset[str]:
    """What one_of or fuzzy may give."""
    if spec.kind not in ("one_of", "fuzzy"):
        return frozenset()
    given = spec.argument[0] if spec.argument else spec.options.get("options", ())
    return frozenset(map(str, cast("list[Any]", given)))


def _missing_options(held: list[Any], spec: FieldSpec) -> list[str]:
    choices = [_choices(member) for member in held]
    return sorted(_options(spec).difference(*choices)) if any(choices) else []


def _shown(annotation: Any) -> str:
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__name__
    return str(annotation).replace("typing.", "").replace("datetime.", "").replace("decimal.", "")
