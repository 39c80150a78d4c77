"""A scripted conversation as data: what is given, what happens, and what is expected after it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal, TypeAlias, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, model_validator

from flowengine.data import Data, Duration
from flowengine.errors import did_you_mean
from flowengine.facts import Fact
from flowengine.inputs import Json

FACTS: dict[str, tuple[str, ...]] = {kind.__name__: kind._fields for kind in get_args(Fact)}
"""Kind of fact -> the names of what it tells."""


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


def _fact(fact: dict[str, Json]) -> dict[str, Json]:
    kind = fact.get("fact")
    if not isinstance(kind, str):
        raise ValueError("a fact is named by its kind: `{fact: PhaseEntered, phase: confirm}`")
    if kind not in FACTS:
        raise ValueError(f"there is no fact {kind!r}.{did_you_mean(kind, FACTS)}")
    for field in fact.keys() - {"fact", *FACTS[kind]}:
        guess = did_you_mean(field, FACTS[kind])
        raise ValueError(f"{kind} tells {', '.join(FACTS[kind])}, and no {field!r}.{guess}")
    return fact


PartialFact: TypeAlias = Annotated[dict[str, Json], AfterValidator(_fact)]
"""A fact's kind, and those of its fields that matter."""
Status: TypeAlias = Literal["failed", "timed_out", "cancelled", "pending"]
Extracted: TypeAlias = dict[str, dict[str, Json] | Status]
"""Extractor -> the fields that it brings, or how its run ends."""
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
    run_functions: bool = False
    """The flow's own synchronous resolvers, watchers and extractors answer for themselves."""


class ToolSets(Data):
    """Tools that are, or are not, available; others may be or not."""

    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


class Expect(Data):
    """What must be so after a step; what is not named may be anything."""

    phase: str | None = None
    """The present phase of the main region."""
    phases: tuple[str, ...] | None = None
    """Every active phase, in document order."""
    keys: dict[str, Json] = Field(default_factory=dict)
    """Values as State stores them, exactly; null is absent."""
    absent: tuple[str, ...] = ()
    unmet: tuple[str, ...] | None = None
    """What the active phases still need, all of it."""
    tools: tuple[str, ...] | ToolSets | None = None
    """The available tools, all of them; or some that are and some that are not."""
    said: tuple[str, ...] | str | None = None
    """Words spoken exactly in this step: all of them, or a part of them."""
    told: tuple[str, ...] | str | None = None
    """Lines for the model in this step: all of them, or a part of them."""
    context: tuple[str, ...] | str | None = None
    """Parts of what the model is told now."""
    facts: tuple[PartialFact, ...] = ()
    """Facts of this step, in this order; others may stand between them."""
    no_facts: tuple[PartialFact, ...] = ()
    ended: bool | None = None
    why_not: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Phase -> the keys whose absence keeps the way to it shut."""
    failed: str | None = None
    """The code with which the step's input fails, such as `wrong_type`."""

    @model_validator(mode="after")
    def _expects_something(self) -> Expect:
        if not self.model_fields_set:
            raise ValueError("nothing is expected: name what must be so, or leave `expect` out")
        return self


class Turn(Data):
    """What the caller says, then the model; and what extractors find in it."""

    user: str | None = None
    model: str | None = None
    values: dict[str, Json] = Field(default_factory=dict)
    """What the channel itself captured: key pad, form."""
    extract: Extracted = Field(default_factory=dict)


class Repeat(Turn):
    """The same turn several times."""

    times: int = Field(ge=1, le=1_000)

    @model_validator(mode="after")
    def _is_a_turn(self) -> Repeat:
        if self.user is None and self.model is None and not self.values:
            raise ValueError("a repeated turn needs `user`, `model` or `values`")
        return self


class Answered(Data):
    """How a tool call ended, in detail."""

    ran: Json = None
    denied: str | None = None
    """The kind of refusal: `guard`, `phase`, `arguments`, `unknown_tool`, `ended`."""
    missing: tuple[str, ...] | None = None
    failed: str | None = None
    """The code of the failure."""

    @model_validator(mode="after")
    def _expects_something(self) -> Answered:
        if not self.model_fields_set:
            raise ValueError("nothing is expected: name one of `ran`, `denied`, `failed`")
        return self


class CallTool(Data):
    """The model calls a tool; if the gate admits the call, it ends as it is told here."""

    name: str
    args: dict[str, Json] = Field(default_factory=dict)
    result: Json = None
    error: str | None = None
    respond: bool = False
    """It ends with the tool's canned response, although it has a function."""
    pending: bool = False
    """It goes on running until a `resolve` step."""
    expect: Literal["ran", "denied", "failed", "cancelled", "waits"] | Answered | None = None


class Resolve(Data):
    """A resolver, an async function or a pending tool answers."""

    name: str
    value: Json = None
    error: str | None = None


class Step(Turn):
    """One thing that happens, and what is expected after it.

    With `expect` alone it looks back at what happened last: at first, at the start of the call.
    """

    advance: Duration | None = None
    set: dict[str, Json] | None = None
    event: str | None = None
    tool: CallTool | None = None
    resolve: Resolve | None = None
    repeat: Repeat | None = None
    restart: Literal[True] | None = None
    """Go on from the snapshot's JSON, as another process would."""
    expect: Expect | None = None

    @property
    def action(self) -> str | None:
        """What happens in it; None if it only expects."""
        return next(self._actions(), None)

    def _actions(self) -> Iterator[str]:
        if self.user is not None or self.model is not None or self.values:
            yield "turn"
        elif self.extract:
            yield "extract"
        for name in ("advance", "set", "event", "tool", "resolve", "repeat", "restart"):
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
    turns: tuple[Step, ...] = Field(min_length=1)


class Scenarios(Data):
    """A scenario file; a bare list of scenarios is short for it."""

    flow: str | None = None
    """The flow's file or folder, from here; the folder above `scenarios/` if absent."""
    scenarios: tuple[Scenario, ...] = Field(min_length=1)
