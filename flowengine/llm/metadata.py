"""The record of how an extraction ran, kept on success and on failure alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import Field

from flowengine.llm.data import Data
from flowengine.llm.messages import ChatResponse
from flowengine.llm.usage import Usage
from flowengine.llm.vocabulary import ExtractionMode, SchemaEnforcement
from flowengine.llm.warnings import Warning_

T = TypeVar("T")

CONTEXT_KEY = "flowengine.extraction"
FOREIGN_ATTRIBUTE = "__extraction__"


class AutoFallback(Data):
    """A mode the provider refused before anything was sent, and the mode taken instead."""

    from_mode: ExtractionMode
    to_mode: ExtractionMode
    reason: str
    code: str


class Fallback(Data):
    """A change made after a call was sent: a looser schema, or another mode."""

    kind: Literal["schema", "mode"]
    from_mode: ExtractionMode
    to_mode: ExtractionMode
    from_level: int = 0
    to_level: int = 0
    code: str


class Repair(Data):
    """One local fix of the output; `cost` is higher the more it had to assume.

    The path is not printed: it may hold a key the model made of the caller's words.
    """

    code: str
    path: str = Field(default="$", repr=False)
    cost: int = 1


class Attempt(Data):
    """One call: `rejected` returned a response that could not be used."""

    index: int
    mode: ExtractionMode
    outcome: Literal["ok", "rejected", "provider_error", "stream_error"]
    error_code: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    latency_s: float = 0.0
    repairs: tuple[Repair, ...] = ()
    warnings: tuple[Warning_, ...] = ()


class Evidence(Data):
    """Where a value was found in the user's messages: code points, half open; None if nowhere."""

    path: str = Field(repr=False)
    status: Literal["exact", "normalised", "fuzzy", "ungrounded"]
    message: int | None = None
    start: int | None = None
    end: int | None = None
    score: float = 0.0


class Grounding(Data):
    """How many values were looked up in the user's words, and how many were found."""

    located: int = 0
    ungrounded: int = 0


class ExtractionMetadata(Data):
    """How an extraction ran.

    `passes` counts calls that returned a response, `calls` those that were sent; `usage` also
    holds what a broken stream reported. `enforcement` is the provider's claim in its least
    enforced pass. `auto_fallback` is a refusal before sending; `fallbacks` what came after.
    """

    mode: ExtractionMode
    passes: int = 0
    repaired: bool = False
    enforcement: SchemaEnforcement = SchemaEnforcement.NOT_ENFORCED
    degradations: tuple[Warning_, ...] = ()
    usage: Usage | None = None
    auto_fallback: AutoFallback | None = None
    undeclared_key_rejections: int = 0
    calls: int = 0
    attempts: tuple[Attempt, ...] = ()
    repairs: tuple[Repair, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    schema_level: int = 0
    incremental: bool | None = None
    dropped_items: int = 0
    grounding: Grounding | None = None
    cached: bool = False
    elapsed_s: float = 0.0

    @classmethod
    def new(cls, mode: ExtractionMode) -> ExtractionMetadata:
        """The record of an extraction that has called nobody yet."""
        return cls(mode=mode)

    @classmethod
    def from_error(cls, error: BaseException) -> ExtractionMetadata | None:
        """The record attached to the error that ended an extraction.

        None for an error that did not come from one, and for `ExtractFailure`, which carries its
        record as `metadata`.
        """
        context: dict[str, object] = getattr(error, "context", None) or {}
        record = context.get(CONTEXT_KEY) or getattr(error, FOREIGN_ATTRIBUTE, None)
        return record if isinstance(record, ExtractionMetadata) else None

    def to_log(self) -> dict[str, Any]:
        """What is safe to log: names, counts and codes, no text, key or value of the output."""
        return {
            "mode": self.mode.value,
            "passes": self.passes,
            "calls": self.calls,
            "enforcement": self.enforcement.name.lower(),
            "repaired": self.repaired,
            "schema_level": self.schema_level,
            "undeclared_key_rejections": self.undeclared_key_rejections,
            "usage": self.usage and self.usage.model_dump(exclude_none=True),
            "auto_fallback": self.auto_fallback and self.auto_fallback.code,
            "fallbacks": [f"{step.kind}:{step.code}" for step in self.fallbacks],
            "degradations": [warning.code for warning in self.degradations],
            "repairs": [repair.code for repair in self.repairs],
            "attempts": [f"{a.outcome}:{a.error_code or a.finish_reason}" for a in self.attempts],
            "elapsed_s": round(self.elapsed_s, 4),
        }

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        always = ("mode", "passes", "enforcement")
        for name, info in type(self).model_fields.items():
            value: Any = getattr(self, name)
            if name in always or value != info.default:
                yield name, value.name.lower() if isinstance(value, SchemaEnforcement) else value


@dataclass(frozen=True, slots=True, repr=False)
class Extracted(Generic[T]):
    """A value, the response it came from, and how it was got.

    `unset_fields` were never mentioned by the model, `null_fields` were said to be null;
    `issues` is only filled for a value accepted without its faulty fields.
    """

    value: T
    response: ChatResponse
    metadata: ExtractionMetadata
    evidence: tuple[Evidence, ...] = ()
    unset_fields: tuple[str, ...] = ()
    null_fields: tuple[str, ...] = ()
    issues: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        return f"Extracted({type(self.value).__name__}, {self.metadata!r})"
