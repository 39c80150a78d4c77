"""What a field of a record is made of in Python: what fills it, and how its value is taken.

The builder's `field("slot", one_of("morning", "afternoon"))` and the class's
`slot: Annotated[str | None, one_of("morning", "afternoon")]` take the same parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from pydantic import BaseModel, ValidationError

from flowengine.errors import FlowError, did_you_mean
from flowengine.extract.spec import FieldSpec, Policy
from flowengine.guards import Guard, custom

M = TypeVar("M", bound=BaseModel)


class Settings(TypedDict, total=False):
    """What any field may be given, whatever fills it."""

    to: str
    """The key that the value is promoted to; the field's own name if absent."""
    valid: Guard | str | Callable[[Any], bool]
    """A condition over `value`, or a registered validator itself."""
    policy: Policy
    accept_when: Guard | str
    """A condition over State and `value`."""
    confirm_below: float
    when_asked: bool | Literal["by_words"]
    asks: Sequence[str]
    """Words of the model's question that ask for this field."""


@dataclass(frozen=True)
class Part:
    """Some of what a field says of itself, in the words of a flow file."""

    given: Mapping[str, Any]


def field(**settings: Unpack[Settings]) -> Part:
    """How the value of a field is taken: `field(to="order:size", valid="1 <= value <= 20")`.

    Raises:
        FlowError: there is no such setting.
    """
    given: dict[str, Any] = dict(settings)
    known = Settings.__annotations__
    for name in given:
        if name not in known:
            raise FlowError(
                f"a field has no setting {name!r}: it takes {', '.join(known)}."
                + did_you_mean(name, known)
            )
    if callable(valid := given.get("valid")) and not isinstance(valid, Guard):
        given["valid"] = custom(valid.__name__)
    return Part(given)


def resolve(resolver: str, *args: str, ttl: str | None = None) -> Part:
    """A field that a resolver fills: `resolve("availability", "slot", ttl="30s")`.

    `args` are keys, taken from this turn's values first, then from State; nothing is asked while
    one is missing. With a `ttl` the resolver is asked on every due turn, and what it gave for
    equal arguments is kept for so long.
    """
    given: dict[str, Any] = {"resolve": resolver, "args": args}
    return Part(given if ttl is None else {**given, "ttl": ttl})


def field_spec(place: str, parts: Iterable[Part]) -> FieldSpec:
    """The field that the parts describe.

    Raises:
        FlowError: they contradict each other, or say too little; `place` is named.
    """
    given: dict[str, Any] = {}
    for part in parts:
        for name in given.keys() & part.given.keys():
            raise FlowError(f"{place}: {name} is given twice")
        given.update(part.given)
    if not given.keys() & {"recognize", "resolve"}:
        raise FlowError(
            f"{place}: nothing fills it; add a recognizer such as integer(), or resolve(...)"
        )
    return checked(place, FieldSpec, given)


def checked(place: str, model: type[M], given: Mapping[str, Any]) -> M:
    """The model made of this; raises FlowError, which names the place and all that is wrong."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        wrong = [_wrong(dict(found)) for found in error.errors(include_url=False)]
        raise FlowError(f"{place}: {'; '.join(wrong)}") from None


def _wrong(found: Mapping[str, Any]) -> str:
    """One error in pydantic's words; the branches of unions are left out."""
    where = ".".join(str(step) for step in found["loc"] if str(step).isidentifier())
    words = str(found["msg"]).removeprefix("Value error, ")
    if found["type"] == "literal_error" and isinstance(found["input"], str):
        choices = re.findall(r"'([^']+)'", found["ctx"]["expected"])
        words += f", not {found['input']!r}.{did_you_mean(found['input'], choices)}"
    return f"{where}: {words}" if where else words
