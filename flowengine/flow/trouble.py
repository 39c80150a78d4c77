"""What a phase does when nobody speaks or nothing fits, and how it is to be spoken."""

from __future__ import annotations

from pydantic import Field, model_validator

from flowengine.data import Data, Duration
from flowengine.flow.action import Actions


class Rung(Data):
    """One step of a ladder: what is done at its turn, or after so long a silence."""

    after: Duration | None = None
    """No input: how long nobody has spoken since the step before."""
    do: Actions


class Repair(Data):
    """Turns without progress before the model is nudged, then before the flow escalates."""

    reprompt_after: int = Field(default=3, ge=1)
    escalate_after: int = Field(default=6, ge=1)
    escalate_after_failures: int | None = Field(default=None, ge=1)
    """Failed tool calls in the phase that escalate at once."""
    escalate_after_interruptions: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _in_order(self) -> Repair:
        if self.escalate_after <= self.reprompt_after:
            raise ValueError("`escalate_after` must be greater than `reprompt_after`")
        return self


class Timing(Data):
    """Hints for whoever speaks and listens; the flow itself does not act on them."""

    interruptible: bool | None = None
    """Whether the caller may speak over the model; a verbatim phase says no unless told else."""
    filler_after: Duration | None = None
    """How long a tool may take before something is said meanwhile."""
    end_of_speech: Duration | None = None
    """How long a pause ends the caller's turn."""
