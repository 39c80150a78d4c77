"""What comes into a session: eight kinds of input, as plain data.

`id` is the sender's own name for the input: a second input with the same id is ignored.
`at` is milliseconds since the epoch, UTC; nothing in flowengine asks a clock behind your back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic import JsonValue

Json: TypeAlias = JsonValue
OutcomeStatus: TypeAlias = Literal["ok", "failed", "timed_out", "cancelled"]

NOTHING: Mapping[str, Json] = {}


@dataclass(slots=True)
class Heard:
    """Caller words, as recognized; a turn may hear several times."""

    id: str
    at: int
    text: str
    alternatives: tuple[str, ...] = ()


@dataclass(slots=True)
class Said:
    """Model words, as far as the caller heard them."""

    id: str
    at: int
    text: str
    interrupted: bool = False


@dataclass(slots=True)
class Generated:
    """The model's words are complete; `text` is what the caller is still to hear of them.

    It is read by what runs `on_generation_complete`. The transcript gets what is then `Said`.
    """

    id: str
    at: int
    text: str


@dataclass(slots=True)
class TurnEnded:
    """The turn is complete; `values` are what the channel itself captured (key pad, form)."""

    id: str
    at: int
    values: Mapping[str, Json] = field(default_factory=lambda: NOTHING)


@dataclass(slots=True)
class ToolCalled:
    """The model asks for a tool; `call` is the model's id of the call."""

    id: str
    at: int
    call: str
    tool: str
    args: Mapping[str, Json] = field(default_factory=lambda: NOTHING)


@dataclass(slots=True)
class Outcome:
    """The result of an effect; `error` is a code, never a message with a caller's words."""

    id: str
    at: int
    effect: str
    status: OutcomeStatus = "ok"
    value: Json = None
    error: str = ""


@dataclass(slots=True)
class Timer:
    """A timer that the kernel had asked for has become due."""

    id: str
    at: int
    timer: str


@dataclass(slots=True)
class Admin:
    """Writes and an event from outside the conversation: an operator, a test, a bridge."""

    id: str
    at: int
    set: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    remove: tuple[str, ...] = ()
    event: str | None = None
    by: str = "admin"


Input: TypeAlias = Heard | Said | Generated | TurnEnded | ToolCalled | Outcome | Timer | Admin
