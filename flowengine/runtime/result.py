"""What one turn led to: the phase, the context for the model, the facts."""

from __future__ import annotations

from dataclasses import dataclass

from flowengine.effects import Deliver, Effect, Say, Tell
from flowengine.facts import Fact, TransitionTaken
from flowengine.kernel import Context, Kernel, Snapshot
from flowengine.state.state import State
from flowengine.state.view import StateView


@dataclass(frozen=True, slots=True, repr=False)
class TurnResult:
    """A session right after a turn; it stays as it was when the call goes on."""

    kernel: Kernel
    snapshot: Snapshot
    facts: tuple[Fact, ...]
    effects: tuple[Effect, ...]

    def __repr__(self) -> str:
        """Where the call stands; nobody's words."""
        unmet = ", ".join(self.context.unmet)
        return f"TurnResult(phase={self.phase!r}, moved={self.moved}, unmet=[{unmet}])"

    @property
    def phase(self) -> str:
        return self.kernel.compiled.chart.main_leaf(self.snapshot.place.active)

    @property
    def phases(self) -> tuple[str, ...]:
        return self.snapshot.place.active

    @property
    def moved(self) -> bool:
        """Some phase was left or entered."""
        return any(isinstance(fact, TransitionTaken) for fact in self.facts)

    @property
    def context(self) -> Context:
        """What the model should be told; worked out when it is read."""
        return self.kernel.context(self.snapshot, moved=self.moved)

    @property
    def said(self) -> tuple[str, ...]:
        """Words to be spoken exactly, in order."""
        return tuple(effect.text for effect in self.effects if isinstance(effect, Say))

    @property
    def told(self) -> tuple[Tell, ...]:
        """Lines for the model besides its context."""
        return tuple(effect for effect in self.effects if isinstance(effect, Tell))

    @property
    def delivered(self) -> tuple[Deliver, ...]:
        """Results of background tools that have come in."""
        return tuple(effect for effect in self.effects if isinstance(effect, Deliver))

    @property
    def state(self) -> StateView:
        keys = self.kernel.compiled.keys
        return StateView(State.over(self.snapshot.values, self.snapshot.evidence, keys))

    @property
    def ended(self) -> bool:
        return self.snapshot.place.ended
