"""A session in the middle of a step: a State with a place, collecting facts and effects.

Guards read it, actions write to it. It shares a snapshot's parts and copies before it writes, so
a failed step is undone by dropping it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flowengine.effects import Effect
from flowengine.facts import EvidenceUpdated, Fact, KeyWritten, PhaseDone, masked
from flowengine.guards import Decision
from flowengine.inputs import NOTHING, Json
from flowengine.kernel.privacy import note_private, shown
from flowengine.kernel.snapshot import Place, Snapshot, Wait
from flowengine.state.evidence import Evidence, plain
from flowengine.state.keys import checked
from flowengine.state.state import State
from flowengine.state.view import StateView
from flowengine.transcript import Transcript

if TYPE_CHECKING:
    from flowengine.kernel.parts import CompiledFlow

RUNTIME = plain("runtime")
_START = plain("start")
NEWEST = 1 << 20
"""The order of a write that is not an extraction: it beats every extractor of its turn."""


class Work(State):
    """One step of one session."""

    __slots__ = (
        "args", "arrived", "at", "cleared", "corrected_keys", "effects", "events", "facts",
        "flow", "given", "passing", "place", "seq", "settled", "touched", "transcript",
        "turn_closed", "turns", "wait",
    )  # fmt: skip

    def __init__(self, flow: CompiledFlow, before: Snapshot, at: int) -> None:
        # State.over, written out: this is the hottest constructor of all
        self.keys, self.values, self.evidence = flow.keys, before.values, before.evidence
        self.dirty, self.journal = {}, []
        self._batch, self._react, self._shared, self._seq = None, None, True, 0
        self.flow = flow
        self.seq, self.at, self.turns = before.seq + 1, at, before.turns
        self.transcript: Transcript = before.transcript
        self.place: Place = before.place
        self.wait: Wait = before.wait
        self.passing: tuple[str, ...] = before.passing
        self.settled: bool = before.settled
        self.facts: list[Fact] = []
        self.effects: list[Effect] = []
        self.events: list[str] = []
        self.touched: set[str] = set()
        """Dependencies that changed and that guards have not looked at yet."""
        self.cleared: set[str] = set()
        """Keys that went or came with a turn or a phase: computed keys follow, watchers do not."""
        self.arrived: dict[str, None] = {}
        """Phases entered in this step, in order."""
        self.turn_closed = False
        self.corrected_keys: frozenset[str] = frozenset()
        self.args: Mapping[str, Json] = NOTHING
        self.given: Evidence | None = None
        """The evidence of the last writer that heard nothing, shared by its writes."""

    def frozen(self) -> Snapshot:
        """The session after this step."""
        return Snapshot(
            self.flow.hash, self.seq, self.at, self.turns, self.values, self.evidence,
            self.transcript, self.place, self.wait, self.passing, self.settled,
        )  # fmt: skip

    # -- writing ------------------------------------------------------------------------------

    def put(self, key: str, value: Json, by: str) -> None:
        """Write on behalf of the flow: an action, a tool, the channel."""
        if value is None:
            self.drop(key, by)
        else:
            evidence = self.given
            if evidence is None or evidence.by != by:
                evidence = self.given = Evidence(by, self.transcript.newest, NEWEST)
            self.set(key, value, by=by, evidence=evidence)

    def put_whole(self, key: str, value: Json, by: str) -> None:
        """Write past the key's merge policy: the value is already what the key is to hold."""
        self.keys.check_writer(key, by)
        stored = checked(key, self.keys.spec(key), value)
        self._write(key, stored, Evidence(by, self.transcript.newest, NEWEST))

    def drop(self, key: str, by: str) -> None:
        self.keys.check_writer(key, by)
        if key in self.values:
            self._write(key, None, plain(by))

    def note(self, key: str, value: Json) -> None:
        """Write a key of the runtime's own."""
        self.write_derived(key, value, RUNTIME)

    def begin_with(self, key: str, value: Any) -> None:
        """A value that the call starts with; whoever starts it may write any key."""
        # Keys are interned, so that ten thousand calls share their names.
        name, stored = sys.intern(key), checked(key, self.keys.spec(key), value)
        if self._shared:
            self.values, self.evidence, self._shared = {}, {}, False
        self._record(name, self.values.get(name), stored, _START, True)
        self.values[name] = stored

    def clear(self, key: str) -> None:
        """Take a value away on the runtime's own authority."""
        if key in self.values:
            self._write(key, None, RUNTIME)

    def forget(self, key: str) -> None:
        """End a key with its turn or phase; no watcher hears of it."""
        self._quietly(key, None, RUNTIME)

    def bring_back(self, key: str, value: Json, evidence: Evidence) -> None:
        """Put back a key that a digression had set aside; no watcher hears of it."""
        self._quietly(key, value, evidence)

    def _quietly(self, key: str, value: Json, evidence: Evidence) -> None:
        """A write that computed keys and guards follow, and watchers do not."""
        was_dirty = key in self.dirty
        self._write(key, value, evidence)
        if not was_dirty:
            self.dirty.pop(key, None)
        self.cleared.add(key)
        self.touched.add(key)

    def mark_done(self, phase: str, done: bool = True) -> None:
        """Latch that a phase is done, or take it back."""
        now = self.place.done | {phase} if done else self.place.done - {phase}
        self.place = self.place._replace(done=now)
        self.touched.add(f"@done:{phase}")
        self.facts.append(PhaseDone(phase, done))

    def _record(self, name: str, old: Json, new: Json, evidence: Evidence, changed: bool) -> None:
        self._seq += 1
        slot = self.keys.slots[name]
        if slot.passing and changed and new is not None:
            self.passing = (*(k for k in self.passing if k != name), name)
        if changed:
            if slot.veiled:
                old, new = self._veiled(name, old, new, evidence)
            self.facts.append(
                KeyWritten(
                    name, old, new, evidence.by, evidence.turn, evidence.span, evidence.confidence
                )
            )
        else:
            if slot.pii:
                note_private(self, name, None, evidence)
            self.touched.add(f"@evidence:{name}")
            self.facts.append(
                EvidenceUpdated(
                    name, evidence.by, evidence.turn, evidence.span, evidence.confidence
                )
            )

    def _veiled(self, name: str, old: Json, new: Json, evidence: Evidence) -> tuple[Json, Json]:
        """The values as facts may tell them."""
        if not self.keys.slots[name].pii:
            return shown(self, old), shown(self, new)
        note_private(self, name, old, evidence)
        return masked(old), masked(new)

    def effect_id(self) -> str:
        return f"{self.seq}.{len(self.effects)}"

    # -- what guards ask ----------------------------------------------------------------------

    @property
    def state(self) -> StateView:
        return StateView(self)

    @property
    def holding(self) -> frozenset[str]:
        return self.wait.holding

    def held(self, key: str) -> bool:
        return key in self.wait.holding

    def resolved(self, name: str) -> bool:
        """Its last run succeeded, and its arguments are still what they were then."""
        known = self.wait.resolved.get(name)
        return known is not None and known[0] and known[1] == self.flow.bound(name, self.find)

    def failed(self, name: str) -> bool:
        known = self.wait.resolved.get(name)
        return name in self.wait.failed or (known is not None and not known[0])

    def called_ok(self, tool: str) -> bool:
        return tool in self.wait.succeeded

    def done(self, phase: str) -> bool:
        return phase in self.place.done

    def in_phase(self, phase: str) -> bool:
        return phase in self.place.active

    def corrected(self, key: str) -> bool:
        return key in self.corrected_keys

    def decided(self, id: str) -> Decision | None:
        """The answer, if it was given about the caller's newest words."""
        known = self.wait.decided.get(id)
        if known is None or known.turn != self.caller_turn():
            return None
        return Decision(known.outcome, known.value, known.confidence)

    def caller_turn(self) -> int:
        """The newest turn in which the caller spoke, 0 before any."""
        said = self.transcript
        if said.current.user:
            return said.current.number
        return next((turn.number for turn in reversed(said.turns) if turn.user), 0)

    def caller_spoke(self, phase: str | None) -> bool:
        return self.turns_in_phase(phase) > 0

    def turns_in_phase(self, phase: str | None) -> int:
        entered = self.place.entered.get(phase or self.main_leaf())
        return self.turns - entered[1] if entered else 0

    def elapsed(self, phase: str | None) -> int:
        entered = self.place.entered.get(phase or self.main_leaf())
        return self.at - entered[0] if entered else 0

    def main_leaf(self) -> str:
        return self.flow.chart.main_leaf(self.place.active)
