"""Who answers questions: one protocol, kept by a model, by rules, by a script, and by a mix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from flowengine.decide.spec import DecisionSpec
from flowengine.inputs import Json
from flowengine.transcript import Turn


class Question(NamedTuple):
    """A question of this moment; `options` are those of a choice, with what they mean."""

    id: str
    spec: DecisionSpec
    options: Mapping[str, str] = {}

    @classmethod
    def of(cls, id: str, spec: DecisionSpec) -> Question:
        """With the options that the flow itself lists."""
        return cls(id, spec, spec.options)


@runtime_checkable
class Decider(Protocol):
    """Answers all questions of a round at once; what it cannot answer it leaves out.

    An answer is what `judge` reads: of a boolean `{"probability": 0.9}` or True, of a choice
    `{"option": "a", "probability": 0.7}` or "a", of a score `{"probabilities": [...]}`,
    `{"level": 1.5, "confidence": 0.8}` or 1. `turns` are oldest first and end with the caller's
    newest; `context` is what else may be known of the call.
    """

    async def decide(
        self, questions: Sequence[Question], turns: Sequence[Turn], context: Mapping[str, Json]
    ) -> Mapping[str, Json]: ...
