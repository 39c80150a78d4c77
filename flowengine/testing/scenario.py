"""A scripted conversation as data: what is given, what happens, and what is expected after it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, model_validator

from flowengine.data import Data, Duration
from flowengine.inputs import Json
from flowengine.testing.expect import Answered, End, Expect, Interleave, Never


def _instant(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is no instant: write 2026-03-04T10:30") from None
    return text


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ValueError(f"{name!r} is no time zone: write one like America/New_York") from None
    return name


Status: TypeAlias = Literal["failed", "timed_out", "cancelled", "pending"]
Extracted: TypeAlias = dict[str, dict[str, Json] | Status]
"""Extractor -> the fields that it brings, or how its run ends."""
Decided: TypeAlias = dict[str, Json] | Status
"""Question -> its answer, as a rule gives it: true, an option, a level, or all with a certainty;
or how the whole round of questions ends."""
Tag: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Given(Data):
    """Where the conversation starts."""

    phase: str | None = None
    """A phase of the conversation's body; the initial one if absent."""
    state: dict[str, Json] = Field(default_factory=dict)
    at: Annotated[str, AfterValidator(_instant)] | None = None
    """The clock at the start; in the caller's time zone unless it names an offset."""
    timezone: Annotated[str, AfterValidator(_zone)] | None = None
    locale: str | None = None
    extract: Extracted = Field(default_factory=dict)
    """What extractors answer on turns that do not say."""
    decide: dict[str, Json] = Field(default_factory=dict)
    """What questions are answered on turns that do not say."""
    resolve: dict[str, Json] = Field(default_factory=dict)
    """What resolvers bring as soon as they are asked; others wait for a `resolve` step."""
    confirm: bool | str | None = None
    """Whether calls are confirmed that do not say; a text declines and says why."""
    run_functions: bool = False
    """The flow's own synchronous resolvers, watchers and extractors answer for themselves."""


class Turn(Data):
    """What the caller says, then the model; and what extractors find in it."""

    user: str | None = None
    model: str | None = None
    values: dict[str, Json] = Field(default_factory=dict)
    """What the channel itself captured: key pad, form."""
    extract: Extracted = Field(default_factory=dict)
    decide: Decided = Field(default_factory=dict)
    """Answers to the questions about it; what is left out is unsure."""


class Repeat(Turn):
    """The same turn several times."""

    times: int = Field(ge=1, le=1_000)

    @model_validator(mode="after")
    def _is_a_turn(self) -> Repeat:
        if self.user is None and self.model is None and not self.values:
            raise ValueError("a repeated turn needs `user`, `model` or `values`")
        return self


class CallTool(Data):
    """The model calls a tool; if the gate admits the call, it ends as it is told here."""

    name: str
    args: dict[str, Json] = Field(default_factory=dict)
    result: Json = None
    error: str | None = None
    """It fails with this code; `timed_out` and `cancelled` are ends of their own."""
    respond: bool = False
    """It ends with the tool's canned response, although it has a function."""
    pending: bool = False
    """It goes on running until a `resolve` step, as a background tool does anyway."""
    confirm: bool | str | None = None
    """The confirmation that it asks for is given, or declined, perhaps with a reason."""
    expect: (
        Literal["ran", "denied", "failed", "cancelled", "accepted", "waits"] | Answered | None
    ) = None


class Resolve(Data):
    """A resolver, a record's field, an async function, or a tool that still runs answers."""

    name: str
    value: Json = None
    error: str | None = None


_ACTIONS = ("hear", "interrupt", "advance", "set", "event", "tool", "confirm", "resolve", "repeat",
            "restart")  # fmt: skip


class Step(Turn):
    """One thing that happens, and what is expected after it.

    With `expect` alone it looks back at what happened last: at first, at the start of the call.
    """

    hear: str | None = None
    """Caller words; the turn goes on until a step with `user` or `model` ends it."""
    interrupt: str | None = None
    """The caller speaks over the model: its words as far as they were heard. Running tools that do
    not have to finish are cancelled."""
    advance: Duration | None = None
    set: dict[str, Json] | None = None
    event: str | None = None
    tool: CallTool | None = None
    confirm: bool | str | None = None
    """The call that has waited longest for a confirmation gets it, or is declined with a reason."""
    resolve: Resolve | None = None
    repeat: Repeat | None = None
    restart: Literal[True] | None = None
    """Go on from the snapshot's JSON, as another process would."""
    expect: Expect | None = None

    @property
    def action(self) -> str | None:
        """What happens in it; None if it only expects."""
        return next(self._actions(), None)

    @property
    def asks(self) -> bool:
        """Whether it answers questions."""
        return bool(self.decide or (self.repeat and self.repeat.decide))

    def _actions(self) -> Iterator[str]:
        """A turn, words and a call come with the answers to what they ask for."""
        answers = [name for name in ("extract", "decide") if getattr(self, name)]
        if self.user is not None or self.model is not None or self.values:
            yield "turn"
        elif self.hear is None and self.tool is None:
            yield from answers
        for name in _ACTIONS:
            if getattr(self, name) is not None:
                yield name

    @model_validator(mode="after")
    def _is_one_thing(self) -> Step:
        actions = list(self._actions())
        if len(actions) > 1:
            raise ValueError(f"a step does one thing, not {' and '.join(actions)}")
        if not actions and self.expect is None:
            raise ValueError("a step needs something that happens, or `expect`")
        return self


class Scenario(Data):
    """One conversation, from what is given to the last step."""

    name: str = Field(min_length=1)
    tags: tuple[Tag, ...] = ()
    """Marks by which a test run selects it (`-m`)."""
    given: Given = Given()
    repeat: int = Field(default=1, ge=1, le=100)
    """Run so often; all runs must give the same facts, byte for byte."""
    never: Never = Never()
    interleave: bool | Interleave | None = None
    """Try every order in which its inputs may arrive: always, never, or when the test run asks for
    it (the default)."""
    outcomes: tuple[End, ...] = ()
    """Ends that other orders may come to; without one, all must end as this one does."""
    turns: tuple[Step, ...] = Field(min_length=1)

    @property
    def has_orders(self) -> bool:
        """Whether the orders of its inputs belong to it, whoever runs it."""
        return bool(self.interleave or self.outcomes)


class Scenarios(Data):
    """A scenario file; a bare list of scenarios is short for it."""

    flow: str | None = None
    """The flow's file or folder, from here; the folder above `scenarios/` if absent."""
    scenarios: tuple[Scenario, ...] = Field(min_length=1)
