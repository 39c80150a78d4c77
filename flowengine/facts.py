"""What is recorded: facts follow from inputs, and everything outside reads them.

A fact's id is `{input seq}.{ordinal}`, its place in the list that one step returns. Facts carry no
words of a transcript, only which turn and span; values of `pii` keys are masked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from flowengine.inputs import Json

MASK = "•••"


class SessionStarted(NamedTuple):
    flow: str
    version: int
    flow_hash: str
    kernel: str
    locale_hash: str
    tzdata: str
    at: int


class WordsHeard(NamedTuple):
    turn: int
    characters: int


class WordsSaid(NamedTuple):
    turn: int
    characters: int
    interrupted: bool


class TurnClosed(NamedTuple):
    turn: int
    spoke: bool
    """The caller said something in it."""


class KeyWritten(NamedTuple):
    """A key changed, or was cleared (`new` is null)."""

    key: str
    old: Json
    new: Json
    by: str
    turn: int = 0
    span: tuple[int, int] | None = None
    confidence: float = 1.0


class EvidenceUpdated(NamedTuple):
    """The same value was given again."""

    key: str
    by: str
    turn: int
    span: tuple[int, int] | None
    confidence: float


class PromotionDecided(NamedTuple):
    """Whether an extracted field reached its key, and why."""

    source: str
    field: str
    key: str
    accepted: bool
    reason: str


class WatcherFired(NamedTuple):
    key: str
    predicate: str
    position: int
    """Its place among the flow's watchers, from 0."""


class PatternFired(NamedTuple):
    name: str


class EventOffered(NamedTuple):
    event: str
    taken: bool


class PhaseExited(NamedTuple):
    phase: str


class TransitionTaken(NamedTuple):
    edge: str
    source: str | None
    target: str | None
    event: str | None


class PhaseEntered(NamedTuple):
    phase: str


class PhaseDone(NamedTuple):
    phase: str
    done: bool


class DigressionEnded(NamedTuple):
    digression: str
    resume: str


class Corrected(NamedTuple):
    """A captured value was changed by the newest caller turn."""

    key: str
    cleared: tuple[str, ...]


class RepairSignalled(NamedTuple):
    phase: str
    signal: str
    unmet: tuple[str, ...]


class BarrierOpened(NamedTuple):
    turn: int
    runs: tuple[str, ...]


class RunEnded(NamedTuple):
    """An extractor's run: `status` is ok, failed, timed_out, late or cancelled."""

    run: str
    name: str
    status: str
    error: str


class BarrierSettled(NamedTuple):
    turn: int
    reason: str


class ToolDecided(NamedTuple):
    """The gate's answer, one per call id; `kind` says why a call was denied."""

    call: str
    tool: str
    admitted: bool
    kind: str
    missing: tuple[str, ...]


class ConstraintBroken(NamedTuple):
    """A rule that is only observed was broken: by a call that ran, or by entering a phase."""

    constraint: str
    call: str
    tool: str
    phase: str = ""


class CallEnded(NamedTuple):
    call: str
    tool: str
    status: str
    error: str


class Decided(NamedTuple):
    """A question was answered: yes, no, chosen, none, scored, unsure, or a refused write's code."""

    decision: str
    outcome: str
    confidence: float
    turn: int


class FunctionEnded(NamedTuple):
    """An async function of a watcher or an action, or what follows a record."""

    name: str
    status: str
    error: str


class ResolverEnded(NamedTuple):
    name: str
    status: str
    error: str


class VerbatimChecked(NamedTuple):
    """How close the model's words came to those it must speak, from 0 to 1."""

    phase: str
    likeness: float
    passed: bool


class NoInput(NamedTuple):
    """Nobody has spoken for a while; `rung` is the step of the phase's ladder, from 0."""

    phase: str
    rung: int


class TimerFired(NamedTuple):
    timer: str


class InputIgnored(NamedTuple):
    """A duplicate, a stale answer, or an input after the end."""

    input: str
    reason: str


class InputFailed(NamedTuple):
    """The input's consequences were rolled back; `code` and `place` hold no caller words."""

    input: str
    code: str
    place: str


class ConversationEnded(NamedTuple):
    """The last phase; `missing` are required phases that were not done."""

    phase: str
    missing: tuple[str, ...] = ()


class SessionEnded(NamedTuple):
    reason: str


Fact: TypeAlias = (
    SessionStarted | WordsHeard | WordsSaid | TurnClosed | KeyWritten | EvidenceUpdated
    | PromotionDecided | WatcherFired | PatternFired | EventOffered | PhaseExited
    | TransitionTaken | PhaseEntered | PhaseDone | DigressionEnded | Corrected | RepairSignalled
    | BarrierOpened | RunEnded | BarrierSettled | ToolDecided | ConstraintBroken | CallEnded
    | Decided | FunctionEnded | ResolverEnded | NoInput | VerbatimChecked | TimerFired
    | InputIgnored | InputFailed | ConversationEnded | SessionEnded
)  # fmt: skip


def masked(value: Json) -> Json:
    """A value that facts may not show; that there is one is still told."""
    return None if value is None else MASK


def canonical_json(value: Any) -> str:
    """One spelling for equal values: sorted keys, no spaces, no escapes that are not needed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def as_json(fact: Fact) -> dict[str, Any]:
    """The fact as an object with its kind first."""
    return {"fact": type(fact).__name__, **fact._asdict()}


def lines(seq: int, facts: Iterable[Fact]) -> Iterator[str]:
    """The facts of one step as canonical JSON lines, each with its id."""
    for ordinal, fact in enumerate(facts):
        yield canonical_json({"id": f"{seq}.{ordinal}", **as_json(fact)})
