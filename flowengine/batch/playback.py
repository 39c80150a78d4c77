"""One call through the kernel, synchronously: its words or inputs go in, what happened stays.

No model takes part: an extractor's run fails as `no_model`, so that only what records read in the
caller's words is captured. Resolvers and async functions stay open, as in a Simulation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from flowengine.batch.calls import Dialogue, Recording, Utterance
from flowengine.effects import RunExtractor
from flowengine.facts import Fact, PhaseEntered
from flowengine.inputs import Heard, Input, Outcome, Said, Timer, TurnEnded
from flowengine.kernel import Kernel, Snapshot, Step

PACE = 5_000
"""Milliseconds from one utterance to the next, where nobody wrote them down."""


class Playback:
    """A call on its way; `facts` are everything so far, with the number of their step."""

    def __init__(
        self, kernel: Kernel, at: int, state: Mapping[str, Any], phase: str | None = None
    ) -> None:
        self.kernel, self.now = kernel, at
        self.facts: list[tuple[int, tuple[Fact, ...]]] = []
        self.words: dict[int, str] = {}
        """The caller's words of each turn, beyond the transcript's ring."""
        self.path: list[tuple[str, int]] = []
        """The leaves entered, each with the newest turn that had closed by then."""
        self.snapshot: Snapshot
        self._ids = 0
        self._open: list[str] = []
        self._take(kernel.start(at, state, phase))

    def dialogue(self, utterances: Iterable[Utterance]) -> None:
        """Speak a dialogue; a turn ends with the model's words, or when the caller speaks again."""
        for number, said in enumerate(utterances):
            if said.caller:
                self._end_turn()
            if number:
                self._advance(PACE)
            if said.caller:
                self._live(Heard(self._id(), self.now, said.text, said.alternatives))
            else:
                self._live(Said(self._id(), self.now, said.text))
                self._end_turn()
        self._end_turn()

    def send(self, input: Input) -> None:
        """One input; nothing that it asks for is answered."""
        self._take(self.kernel.step(self.snapshot, input))

    # -- time and answers ---------------------------------------------------------------------

    def _live(self, input: Input) -> None:
        """One input, and an empty answer to every extractor that it set off."""
        self.send(input)
        while self._open:
            effect = self._open.pop(0)
            self.send(Outcome(f"outcome-{effect}", self.now, effect, "failed", None, "no_model"))

    def _end_turn(self) -> None:
        turn = self.snapshot.transcript.current
        if not turn.user and not turn.model:
            return
        self._live(TurnEnded(self._id(), self.now))

    def _advance(self, milliseconds: int) -> None:
        """Let time pass; timers ring in order, each at its own instant."""
        until = self.now + milliseconds
        while (timer := self.snapshot.wait.timer) is not None and timer[1] <= until:
            id, self.now = timer
            self._live(Timer(f"timer-{id}", self.now, id))
        self.now = until

    def _take(self, step: Step) -> None:
        self.snapshot = step.snapshot
        self.facts.append((step.snapshot.seq, step.facts))
        self._open += [e.id for e in step.effects if isinstance(e, RunExtractor)]
        turns = self.snapshot.transcript.turns
        if turns and turns[-1].number not in self.words:
            self.words[turns[-1].number] = turns[-1].user
        number = turns[-1].number if turns else 0
        for fact in step.facts:
            if isinstance(fact, PhaseEntered) and self._is_stop(fact.phase):
                self.path.append((fact.phase, number))

    def _is_stop(self, phase: str) -> bool:
        """A leaf of the conversation itself; monitors run beside it."""
        flow = self.kernel.compiled
        return flow.phases[phase].phase.is_leaf() and (
            flow.chart.region_of(phase) == flow.chart.regions[0]
        )

    def _id(self) -> str:
        self._ids += 1
        return str(self._ids)


def play(
    kernel: Kernel, call: Dialogue | Recording, start: int, state: Mapping[str, Any]
) -> Playback:
    """A whole call; `start` (ms) is for a call that does not say when it took place.

    Raises:
        FlowEngineError: the call cannot start on this flow.
    """
    state = {**state, **call.state} if isinstance(call, Recording) else state
    if isinstance(call, Dialogue):
        zone = str(state.get("session:timezone") or kernel.compiled.flow.timezone)
        playback = Playback(kernel, _instant(call.ref, zone, start), state)
        playback.dialogue(call.utterances)
        return playback
    first = call.inputs[0].at if call.inputs else start
    playback = Playback(kernel, first if call.at is None else call.at, state, call.phase)
    for input in call.inputs:
        playback.send(input)
    return playback


def _instant(ref: datetime | None, zone: str, start: int) -> int:
    if ref is None:
        return start
    at = ref if ref.tzinfo is not None else ref.replace(tzinfo=ZoneInfo(zone))
    return round(at.timestamp() * 1000)
