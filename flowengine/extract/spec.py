"""Records and model extractors as a flow declares them: plain data, run elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field, GetCoreSchemaHandler, model_validator
from pydantic_core import CoreSchema

from flowengine.data import Data, Duration
from flowengine.extract.record.recorded import ByName, in_python, spec_of
from flowengine.guards import Guard

Policy: TypeAlias = Literal["correct", "keep_known", "overwrite", "true_only", "non_empty"]
Moment: TypeAlias = Literal[
    "every_turn", "after_tool_call", "on_phase_change", "on_generation_complete"
]


class Interval(Data):
    """Run on every n-th turn, counted from the last run."""

    interval: int = Field(ge=1)


class Raise(Data):
    """Offer this event when an extraction fails."""

    raise_: str = Field(alias="raise")


Trigger: TypeAlias = Moment | Interval
OnFailure: TypeAlias = Literal["continue", "hold"] | Raise
QUOTE = "_quote"
"""The sibling of a field that holds the caller's words for it."""


class FieldSpec(Data):
    """One field of a record: recognized from the caller's words, or resolved from elsewhere.

    Keys that are not listed here are options of the recognizer, such as `prefer: future`.
    """

    model_config = ConfigDict(
        frozen=True, extra="allow", populate_by_name=True, use_attribute_docstrings=True
    )

    recognize: str | dict[str, Any] | None = None
    """A recognizer's kind, or `{kind: its argument}` such as `{integer_near: [want, get]}`."""
    resolve: str | None = None
    """A resolver that fills this field instead."""
    args: tuple[str, ...] = ()
    """Keys bound to the resolver, taken from this turn's values first, then from State."""
    ttl: Duration | None = None
    to: str | None = None
    """The key that the value is promoted to; the field's own name if absent."""
    valid: Guard | None = None
    """A condition over `value`; what does not meet it counts as not said."""
    policy: Policy | None = None
    """`correct` if absent, `overwrite` for what a resolver gives."""
    accept_when: Guard | None = None
    """A condition over State and `value`, such as `in_phase(pay)`; else the value is not taken."""
    confirm_below: float | None = Field(default=None, ge=0, le=1)
    """Below this confidence `confirm:{key}` becomes true, so that the flow can read it back."""
    when_asked: bool | Literal["by_words"] = False
    """Read only as the answer to its own question, as a bare yes or no should be.

    The question is about the field whose `asks` the model's words hold; without any, about what
    the phase needs next. `by_words` takes the model's words alone.
    """
    asks: tuple[str, ...] = ()
    """Words of the model's question that ask for this field, such as `how many`."""

    @model_validator(mode="after")
    def _has_one_source(self) -> FieldSpec:
        if (self.recognize is None) == (self.resolve is None):
            raise ValueError("a field needs either `recognize` or `resolve`")
        if self.when_asked == "by_words" and not self.asks:
            raise ValueError("`when_asked: by_words` needs `asks`: words of the question")
        return self

    @property
    def kind(self) -> str:
        """The recognizer's kind."""
        return (
            next(iter(self.recognize)) if isinstance(self.recognize, dict) else self.recognize or ""
        )

    @property
    def argument(self) -> tuple[Any, ...]:
        """The bare argument of `{kind: argument}`, if there is one."""
        return tuple(self.recognize.values()) if isinstance(self.recognize, dict) else ()

    @property
    def options(self) -> dict[str, Any]:
        """The recognizer's own options."""
        return dict(self.model_extra or {})


class OnComplete(Data):
    """What runs when a record lands fields."""

    run: str
    mode: Literal["call", "dispatch", "background"] = "dispatch"


class RecordSpec(Data):
    """Typed fields that are filled together, without a model."""

    window: int = Field(default=3, ge=1, le=50)
    """How many turns are read, newest first."""
    trigger: Trigger = "every_turn"
    fields: dict[str, FieldSpec] = Field(min_length=1)
    on_complete: OnComplete | None = None

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """In Python a `Record` class or a builder may stand for its spec."""
        return in_python(handler(source), spec_of)


Records: TypeAlias = Annotated[dict[str, RecordSpec], ByName]
"""Records by name; in Python also a list of `Record` classes, each under its own name."""


class Promotion(Data):
    """Copies an extracted field to its key."""

    field: str
    to: str | None = None
    policy: Policy = "keep_known"
    accept_when: Guard | None = None
    after_presented: str | None = None
    grounding: Literal["accept", "mark", "reject"] = "mark"
    """What becomes of a value that the caller's words do not support: taken as it is, taken and
    marked, so that `grounded(key)` is false, or refused. `accept` does not look at all."""
    quote: bool = False
    """The model also returns the caller's words for it, and those are looked up; for booleans,
    enums and scores there is no other way to be grounded."""


class ExtractSpec(Data):
    """A model extraction: what to ask for, when, and what may be promoted."""

    name: str
    instruction: str = ""
    schema_: dict[str, Any] = Field(default_factory=dict, alias="schema")
    window: int = Field(default=3, ge=1, le=50)
    trigger: Trigger = "every_turn"
    min_words: int = Field(default=0, ge=0)
    promote: tuple[Promotion, ...] = ()
    model: str | None = None
    thinking_budget: int | None = None
    timeout: Duration = "5s"
    on_failure: OnFailure = "continue"


def fields_of(extract: ExtractSpec) -> Mapping[str, Any]:
    """The fields of its schema; none where code says what it finds."""
    fields: Any = extract.schema_.get("properties")
    return fields if isinstance(fields, dict) else {}  # pyright: ignore[reportUnknownVariableType]
