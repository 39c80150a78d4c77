"""What a scenario expects: after a step, of the end of a tool call, and at no time at all."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import AfterValidator, Field, model_validator

from flowengine.data import Data
from flowengine.errors import did_you_mean
from flowengine.facts import Fact
from flowengine.inputs import Json

FACTS: dict[str, tuple[str, ...]] = {kind.__name__: kind._fields for kind in get_args(Fact)}
"""Kind of fact -> the names of what it tells."""


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


class ToolSets(Data):
    """Tools that are, or are not, available; others may be or not."""

    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


class Delivered(Data):
    """The result of a background tool; what is not named may be anything."""

    tool: str
    ran: Json = None
    failed: str | None = None
    """The code of the failure."""
    manner: Literal["when_idle", "interrupt", "silent"] | None = None


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
    delivered: tuple[Delivered, ...] | None = None
    """Results of background tools that came in in this step, all of them."""
    running: tuple[str, ...] | None = None
    """What was asked for and has not answered yet, all of it, by name."""
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


class Answered(Data):
    """How a tool call ended, in detail."""

    ran: Json = None
    denied: str | None = None
    """The kind of refusal: `guard`, `phase`, `arguments`, `spent`, `before`, `never_until`,
    `declined`, `unknown_tool`, `ended`..."""
    missing: tuple[str, ...] | None = None
    failed: str | None = None
    """The code of the failure."""

    @model_validator(mode="after")
    def _expects_something(self) -> Answered:
        if not self.model_fields_set:
            raise ValueError("nothing is expected: name one of `ran`, `denied`, `failed`")
        return self


class Never(Data):
    """What must not happen at any time of a scenario."""

    admitted: tuple[str, ...] = ()
    """Tools of which no call may run."""
    denied: tuple[str, ...] = ()
    """Tools of which no call may be refused."""
    phases: tuple[str, ...] = ()
    """Phases that may not be entered."""


class End(Data):
    """An end that a scenario may also come to if its inputs arrive in another order, and why that
    is right; what is not named may be anything."""

    because: str = Field(min_length=1)
    phase: str | None = None
    """The phase of the main region."""
    phases: tuple[str, ...] | None = None
    """Every active phase, in document order."""
    keys: dict[str, Json] = Field(default_factory=dict)
    """Values as State stores them, exactly; null is absent."""
    absent: tuple[str, ...] = ()
    calls: dict[str, str | tuple[str, ...]] = Field(default_factory=dict)
    """Tool -> how its calls ended, in the order of their ends: ran, denied, failed, cancelled,
    accepted; one word for all of them."""
    ended: bool | None = None

    @model_validator(mode="after")
    def _says_what(self) -> End:
        if self.model_fields_set == {"because"}:
            raise ValueError("name what is so in this end: `phase`, `keys`, `calls`...")
        return self


class Interleave(Data):
    """How far the orders of a scenario's inputs may differ from the one that is written."""

    behind: int | None = Field(default=1, ge=0)
    """How many turns may end before an answer comes; null is any number."""
    slow: bool = False
    """Answers may also come after the barrier or the gate has stopped waiting for them."""
    restart: bool = False
    """Go through the snapshot's JSON between any two inputs."""
    limit: int = Field(default=1_000, ge=1)
    """Snapshots to look at; beyond them orders are drawn."""
    samples: int = Field(default=100, ge=1)
    """Orders to draw if there are too many to try."""
    seed: int = 0
