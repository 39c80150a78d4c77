"""A session between two inputs: everything it takes to go on, as data that names only names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeAlias

from pydantic import PlainSerializer, TypeAdapter, ValidationError

from flowengine.effects import ToolAnswer
from flowengine.errors import StoreError
from flowengine.extract.record.compiled import Finding
from flowengine.inputs import Json
from flowengine.state.evidence import Evidence
from flowengine.state.patterns import Progress
from flowengine.transcript import Transcript

Names: TypeAlias = Annotated[frozenset[str], PlainSerializer(sorted, return_type=list[str])]
"""A set of names, written in order so that equal snapshots have equal JSON."""
Extent: TypeAlias = tuple[int, int, int]
"""(Turn, characters, hypotheses): how much of a turn there was, or was read."""
Entered: TypeAlias = tuple[int, int]
"""When a phase was entered (ms), and how many caller turns had closed by then."""


class Frame(NamedTuple):
    """What a digression interrupted; it is put back when the digression ends."""

    layer: str
    """The digression that was active, or `""` for the body of the conversation."""
    digression: str
    """The digression that took over."""
    at: int
    turns: int
    entered: Mapping[str, Entered]
    kept: Mapping[str, tuple[Json, Evidence]]
    """Its `phase:` keys, with where they came from."""


class Place(NamedTuple):
    """Where the conversation stands; changes only when phases do."""

    active: tuple[str, ...] = ()
    history: Mapping[str, tuple[str, ...]] = {}
    entered: Mapping[str, Entered] = {}
    stack: tuple[Frame, ...] = ()
    disarmed: Names = frozenset()
    """Flow-wide edges that fired and whose guard has been true ever since."""
    done: Names = frozenset()
    trail: tuple[tuple[str, int], ...] = ()
    """The last phases that were left, with the turn, oldest first."""
    visited: tuple[str, ...] = ()
    """Every phase that was entered, by first visit."""
    ended: bool = False


class Staged(NamedTuple):
    """What an extractor brought, waiting for the barrier to settle."""

    source: str
    order: int
    turn: int
    fields: tuple[Finding, ...]


class Run(NamedTuple):
    """An open run of an extractor, a resolver or a function."""

    kind: str
    name: str
    turn: int
    order: int
    args: Mapping[str, Json] = {}
    waits: bool = False
    """The answer to the turn waits for it."""


class Barrier(NamedTuple):
    """A turn whose values wait for the model extractors it started."""

    turn: int
    runs: tuple[str, ...]
    """Effect ids in request order; a landed one is taken out."""
    staged: tuple[Staged, ...]
    due_at: int


class Call(NamedTuple):
    """A tool call that waits: for the gate until `due_at`, for a confirmation, for its outcome, or
    for that of an equal call."""

    tool: str
    args: Mapping[str, Json]
    active: tuple[str, ...]
    """The configuration in which it was asked."""
    entered: Mapping[str, Entered]
    """When its phases had been entered."""
    due_at: int
    effect: str = ""
    """The run, or the confirmation, that was asked for."""
    joins: str = ""
    """The call whose outcome it shares."""
    confirmed: bool = False
    order: int = 0
    """The input that asked for it."""
    read: Extent | None = None
    """The words in progress that runs were started on for it."""
    unwanted: bool = False
    """An interruption has cancelled its run, which has not ended yet."""


class Entry(NamedTuple):
    """A run of a tool, from its admission on."""

    call: str
    args: str
    """Canonical JSON."""
    key: str = ""
    """The idempotency key."""
    running: bool = True
    void: bool = False
    """What it rests on was corrected: it no longer counts against `per_correction`."""
    corrected: tuple[str, ...] = ()
    """Keys corrected while it ran."""
    value: Json = None
    """Its response, if the same key must get it again."""


class Answered(NamedTuple):
    """A decision's answer; it is fresh until the caller speaks again."""

    turn: int
    outcome: str
    value: Json = None
    confidence: float = 0.0
    failed: bool = False
    """Nobody answered; it may be asked again for the same turn."""


class Private(NamedTuple):
    """What is known of values that readers may not see, beside the present ones."""

    places: tuple[tuple[int, int, int], ...] = ()
    """(Turn, start, end) of the caller's words in which one was said."""
    values: tuple[tuple[str, str | int | float], ...] = ()
    """(Key, what it held before)."""
    whole: bool = False
    """There were too many to keep: no words are shown."""


NOTHING_PRIVATE = Private()


class Repeats(NamedTuple):
    """Turns that a phase has gone without progress."""

    turns: int
    unmet: tuple[str, ...]


class Wait(NamedTuple):
    """What is under way or being counted; most sessions share the empty one."""

    barrier: Barrier | None = None
    runs: Mapping[str, Run] = {}
    calls: Mapping[str, Call] = {}
    answered: tuple[tuple[str, ToolAnswer], ...] = ()
    """The last calls that ended, so that a second answer is the same."""
    used: str = ""
    """Digests of the ids of those before them."""
    succeeded: Names = frozenset()
    """Tools that have run well."""
    failed: Names = frozenset()
    """Tools whose last run failed."""
    ledger: Mapping[str, tuple[Entry, ...]] = {}
    """Tool -> its runs that are under way or that limits and keys ask about."""
    resolved: Mapping[str, tuple[bool, Mapping[str, Json]]] = {}
    """Resolver -> (did it succeed, with which arguments)."""
    ran: Mapping[str, int] = {}
    """Extractor -> the last turn that it has covered."""
    appended: Mapping[str, tuple[int, ...]] = {}
    """Key with `merge: append` -> the order in which each of its items was asked for."""
    seen: Mapping[str, Extent] = {}
    """Reader -> what it has read of a turn in progress."""
    fields: Mapping[str, Mapping[str, Json]] = {}
    """Resolved field -> the arguments it was last asked with."""
    decided: Mapping[str, Answered] = {}
    queued: Names = frozenset()
    """Extractors that were due while they still ran."""
    holding: Names = frozenset()
    """Keys that are unknown until their extractor succeeds again."""
    patterns: Mapping[str, Progress] = {}
    repeats: Mapping[str, Repeats] = {}
    troubles: Mapping[str, tuple[int, int]] = {}
    """Phase -> failed tool calls and interruptions in it."""
    private: Private = NOTHING_PRIVATE
    quiet: tuple[int, int] | None = None
    """Since when nobody has spoken (ms), and how many steps of the ladder were taken since."""
    timer: tuple[str, int] | None = None


IDLE = Wait()


@dataclass(slots=True)
class Snapshot:
    """Treat it as frozen: a step returns another one and shares what has not changed."""

    flow: str
    """The flow's hash; a snapshot is only good for the flow that made it."""
    seq: int
    at: int
    turns: int
    """Turns closed in which the caller said something."""
    values: dict[str, Json]
    evidence: dict[str, Evidence]
    transcript: Transcript
    place: Place
    wait: Wait
    passing: tuple[str, ...]
    """`turn:` keys to clear at the next input, once the turn has settled."""
    settled: bool
    """No turn is in progress since the last one settled."""


_ADAPTER = TypeAdapter(Snapshot)


def to_json(snapshot: Snapshot) -> dict[str, Any]:
    """The snapshot as JSON-able data; `from_json` gives an equal one back."""
    return _ADAPTER.dump_python(snapshot, mode="json")


def from_json(data: Mapping[str, Any]) -> Snapshot:
    """A snapshot from its JSON form.

    Raises:
        StoreError: the data is no snapshot.
    """
    try:
        return _ADAPTER.validate_python(data)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise StoreError(f"this is no snapshot of a session: {where} does not fit") from None
