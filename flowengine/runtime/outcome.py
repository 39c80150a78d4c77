"""How a tool call ended: exactly one of these for each call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from flowengine.effects import ToolAnswer
from flowengine.inputs import Json


@dataclass(frozen=True, slots=True)
class Ran:
    """The tool has run; `value` is its response."""

    value: Json


@dataclass(frozen=True, slots=True)
class Denied:
    """The gate refused: what kind of refusal, what is missing, what may be called instead."""

    kind: str
    missing: tuple[str, ...] = ()
    available: tuple[str, ...] = ()
    say: str = ""
    """The refusal in words, for the model."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The tool raised or timed out; `error` is a code."""

    error: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The call is no longer wanted, or the session has ended."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The tool runs in the background; its result is delivered later, outside this answer."""


ToolOutcome: TypeAlias = Ran | Denied | Failed | Cancelled | Accepted


def outcome_of(answer: ToolAnswer) -> ToolOutcome:
    match answer.status:
        case "ran":
            return Ran(answer.value)
        case "denied":
            return Denied(answer.kind, answer.missing, answer.available, answer.say)
        case "accepted":
            return Accepted()
        case "cancelled":
            return Cancelled()
        case _:
            return Failed(answer.kind or "failed")
