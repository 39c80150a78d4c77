"""What the shell must do: each effect is data, and its outcome comes back as an input.

An effect's id is `{input seq}.{ordinal}`, so the same inputs ask for the same effects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from flowengine.inputs import Json
from flowengine.transcript import Turn


class RunExtractor(NamedTuple):
    """Extract from these turns; `known` is what its fields hold already."""

    id: str
    name: str
    turn: int
    window: tuple[Turn, ...]
    known: Mapping[str, Json]


class Resolve(NamedTuple):
    """Call a resolver with arguments bound from State, for itself or for a record's field."""

    id: str
    name: str
    args: Mapping[str, Json]
    field: str = ""
    """`{record}.{field}`"""


class Decide(NamedTuple):
    """Answer these questions about the newest caller turn; `options` are those of this moment."""

    id: str
    questions: tuple[str, ...]
    turn: int
    window: tuple[Turn, ...]
    options: Mapping[str, Mapping[str, str]]
    context: Mapping[str, Json]
    """The phase, and what it shows as known."""


class RunFunction(NamedTuple):
    """Run an async function of the flow; it gets a copy of State's values."""

    id: str
    name: str
    values: Mapping[str, Json]


class RunTool(NamedTuple):
    """Run an admitted call; `key` is its idempotency key."""

    id: str
    call: str
    tool: str
    args: Mapping[str, Json]
    key: str = ""


class AskConfirmation(NamedTuple):
    """Someone outside the conversation must agree to the call: true or false."""

    id: str
    call: str
    tool: str
    args: Mapping[str, Json]
    question: str


class AnswerTool(NamedTuple):
    """Give the model its answer to a call; exactly one for each call id."""

    id: str
    call: str
    tool: str
    answer: ToolAnswer


class Deliver(NamedTuple):
    """The result of a call that was accepted to run in the background, and when to tell it."""

    id: str
    call: str
    tool: str
    answer: ToolAnswer
    manner: str
    """when_idle, interrupt or silent"""


class SetTimer(NamedTuple):
    """Send a Timer input at `due_at`; it replaces the timer set before. None takes it away."""

    id: str
    due_at: int | None


class Cancel(NamedTuple):
    """An earlier effect is no longer wanted."""

    id: str
    effect: str


class Say(NamedTuple):
    """Words to be spoken exactly."""

    id: str
    text: str


class Tell(NamedTuple):
    """Something for the model to know; with `respond` it must answer now."""

    id: str
    text: str
    respond: bool


class ToolAnswer(NamedTuple):
    """How a call ended: ran, denied, failed, cancelled or accepted."""

    status: str
    value: Json = None
    kind: str = ""
    missing: tuple[str, ...] = ()
    available: tuple[str, ...] = ()
    say: str = ""


Effect: TypeAlias = (
    RunExtractor
    | Resolve
    | Decide
    | RunFunction
    | RunTool
    | AskConfirmation
    | AnswerTool
    | Deliver
    | SetTimer
    | Cancel
    | Say
    | Tell
)
