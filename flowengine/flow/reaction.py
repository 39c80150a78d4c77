"""What follows from State by itself: computed keys, watchers, patterns over time."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from flowengine.data import Data, Duration
from flowengine.flow.action import Actions
from flowengine.flow.expression import Expression
from flowengine.guards import Guard
from flowengine.inputs import Json


class Case(Data):
    when: Guard
    value: Json


class Computed(Data):
    """A key worked out from others: by `map`, by `cases`, by arithmetic, or by a function."""

    of: str | None = None
    map: dict[str, Json] | None = None
    cases: tuple[Case, ...] | None = None
    value: Expression | None = None
    run: str | None = None
    """A registered pure function of State."""
    reads: tuple[str, ...] | None = None
    """What a function reads; tracked if absent."""
    else_: Json = Field(default=None, alias="else")

    @model_validator(mode="after")
    def _is_one_form(self) -> Computed:
        forms = [self.map, self.cases, self.value, self.run]
        if sum(form is not None for form in forms) != 1:
            raise ValueError("a computed key has exactly one of `map`, `cases`, `value`, `run`")
        if (self.map is None) != (self.of is None):
            raise ValueError("`of` and `map` go together")
        return self


WATCH_PREDICATES = (
    "changed", "changed_to", "changed_from", "crossed_above", "crossed_below",
    "became_true", "became_false", "custom",
)  # fmt: skip


class Watch(Data):
    """Reacts to a change of a key, whoever wrote it."""

    key: str
    changed: Literal[True] | None = None
    changed_to: Json = None
    changed_from: Json = None
    crossed_above: float | None = None
    crossed_below: float | None = None
    became_true: Literal[True] | None = None
    became_false: Literal[True] | None = None
    custom: str | None = None
    """A registered pure function of the old and the new value."""
    do: Actions = Field(min_length=1)

    @model_validator(mode="after")
    def _has_one_predicate(self) -> Watch:
        named = [p for p in WATCH_PREDICATES if p in self.model_fields_set]
        if len(named) > 1:
            raise ValueError(f"a watcher has one condition, not {' and '.join(named)}")
        return self

    @property
    def predicate(self) -> str:
        return next((p for p in WATCH_PREDICATES if p in self.model_fields_set), "changed")


class Rate(Data):
    """So many turns, in which the guard held, within a span of time."""

    count: int = Field(ge=1)
    within: Duration


class Pattern(Data):
    """A condition over time; it acts once per episode and re-arms when the guard is not true."""

    name: str
    when: Guard
    sustained: Duration | None = None
    turns: int | None = Field(default=None, ge=1)
    rate: Rate | None = None
    cooldown: Duration | None = None
    do: Actions = Field(min_length=1)

    @model_validator(mode="after")
    def _has_one_measure(self) -> Pattern:
        if sum(m is not None for m in (self.sustained, self.turns, self.rate)) != 1:
            raise ValueError("a pattern has exactly one of `sustained`, `turns`, `rate`")
        return self
