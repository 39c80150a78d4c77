"""From the text of an answer to a typed value: parse, mend, check, or say why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from flowengine.llm.align import align
from flowengine.llm.data import JSON, is_array, is_object
from flowengine.llm.jsontext import NotJson, parse_strict
from flowengine.llm.metadata import Repair
from flowengine.llm.nulls import drop_strict_nulls
from flowengine.llm.reasons import ParseFailed, Reason, Truncated, Undeclared, ValidationFailed
from flowengine.llm.repair import mend
from flowengine.llm.schema import WRAP, Misfit, Target
from flowengine.llm.undeclared import find_undeclared
from flowengine.llm.vocabulary import ExtractionMode, RepairLevel

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Accepted(Generic[T]):
    """A typed value, the JSON it was made of, and what was mended on the way."""

    value: T = field(repr=False)
    json: JSON = field(repr=False)
    repairs: tuple[Repair, ...] = ()
    dropped_items: int = 0


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why there is no value; `json` is what was read, if anything was."""

    reason: Reason
    json: JSON = field(default=None, repr=False)


@dataclass(frozen=True)
class Judge(Generic[T]):
    """The rules one extraction reads every answer by.

    `bare`: a value that is no object may come without the object it is wrapped in when asked for.
    """

    target: Target[T]
    repair: RepairLevel
    undeclared: Literal["reject", "ignore"]
    drop_items: Callable[[JSON], tuple[JSON, int]] | None = None
    bare: bool = False

    def judge(
        self, text: str, mode: ExtractionMode, provider: str, context: Mapping[str, Any]
    ) -> Accepted[T] | Rejection:
        parsed = self._parse(text, mode, provider)
        if isinstance(parsed, Rejection):
            return parsed
        value, repairs = parsed
        if self.bare:
            value = self.target.wrap(value)
        first = self._check(value, repairs, context)
        if isinstance(first, Accepted) or self.repair is not RepairLevel.ALIGN:
            return first
        wrapped = self.target.wrap(value)
        aligned, fixes = align(self.target.schema, wrapped)
        if wrapped is not value:
            fixes = (Repair(code="wrapped"), *fixes)
        if not fixes:
            return first
        second = self._check(aligned, (*repairs, *fixes), context)
        return second if isinstance(second, Accepted) else first

    def _parse(
        self, text: str, mode: ExtractionMode, provider: str
    ) -> tuple[JSON, tuple[Repair, ...]] | Rejection:
        try:
            return parse_strict(text), ()
        except NotJson as error:
            mended = mend(text) if self.repair is not RepairLevel.OFF else None
            if mended is not None:
                return mended.value, mended.repairs
            if error.cut:
                return Rejection(Truncated(finish="stop"))
            return Rejection(
                ParseFailed(
                    mode=mode,
                    provider=provider,
                    raw=text,
                    message=error.message,
                    line=error.line,
                    col=error.col,
                )
            )

    def _check(
        self, value: JSON, repairs: tuple[Repair, ...], context: Mapping[str, Any]
    ) -> Accepted[T] | Rejection:
        value = drop_strict_nulls(self.target.schema, value)
        dropped = 0
        if self.drop_items is not None:
            value, dropped = self.drop_items(value)
        stray = None
        if self.undeclared == "reject":
            stray = find_undeclared(self.target.schema, value)
        if stray is not None:
            return Rejection(Undeclared(undeclared=stray), value)
        try:
            typed = self.target.validate(value, context)
        except Misfit as misfit:
            return Rejection(ValidationFailed(errors=misfit.issues), value)
        return Accepted(typed, value, repairs, dropped)


def fields_said(target: Target[Any], value: JSON) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The top-level fields that were not mentioned, and those said to be null."""
    if target.wrapped or not is_object(value):
        return (), ()
    declared = tuple(target.schema.get("properties", ()))
    unset = tuple(name for name in declared if name not in value)
    return unset, tuple(name for name in declared if name in value and value[name] is None)


def without_faults(target: Target[T], rejection: Rejection) -> tuple[T, tuple[str, ...]] | None:
    """The value without its faulty top-level fields, if the rest is a value by itself."""
    if not isinstance(rejection.reason, ValidationFailed) or not is_object(rejection.json):
        return None
    faulty = {issue.loc[0] for issue in rejection.reason.errors if issue.loc}
    rest = {key: part for key, part in rejection.json.items() if key not in faulty}
    try:
        value = target.validate(rest)
    except Misfit:
        return None
    return value, tuple(f"{i.place} ({i.type})" for i in rejection.reason.errors)


def at_path(value: JSON, steps: tuple[str, ...], *, wrapped: bool) -> list[JSON] | None:
    """The list at a path of keys inside a value, if it is there."""
    for step in (WRAP, *steps) if wrapped else steps:
        if not is_object(value) or step not in value:
            return None
        value = value[step]
    return value if is_array(value) else None
