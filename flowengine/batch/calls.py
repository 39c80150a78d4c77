"""A call that can be replayed: the words of a dialogue, or the inputs of a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from flowengine.errors import FlowEngineError
from flowengine.inputs import Input, Json


class RowError(FlowEngineError):
    """A line of a file that holds no call; the message has no words of a caller."""

    code = "row"


class Utterance(NamedTuple):
    """What one side said; `alternatives` are the speech recognizer's other hypotheses."""

    caller: bool
    text: str
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation as text; its inputs are made when it is replayed."""

    id: str
    place: str
    """`file:line`."""
    utterances: tuple[Utterance, ...]
    ref: datetime | None = None
    """When it took place; without an offset, in the flow's time zone."""
    labels: tuple[str, ...] = ()
    """What else it can be chosen by, such as the services it is about."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The very inputs of a session, and, if they were kept, the facts that followed."""

    id: str
    place: str
    inputs: tuple[Input, ...]
    at: int | None = None
    """When the session started (ms); the instant of its first input if absent."""
    state: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the session started with."""
    phase: str | None = None
    facts: tuple[Mapping[str, Json], ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row that holds no call, and why."""

    id: str
    place: str
    error: str
    labels: tuple[str, ...] = ()


Call: TypeAlias = Dialogue | Recording | Unreadable
