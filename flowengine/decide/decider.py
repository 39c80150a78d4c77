"""Who answers questions: one protocol, kept by a model, by rules, by a script, and by a mix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from flowengine.decide.spec import DecisionSpec
from flowengine.inputs import Json
from flowengine.transcript import Turn

if TYPE_CHECKING:
    from flowengine.llm.provider import ServedModel


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


@runtime_checkable
class AsksModels(Protocol):
    """A decider that tells which models it asks, so that they are made ready before a call."""

    def asked_models(self, questions: Sequence[Question]) -> Sequence[ServedModel]: ...


def asked_models(decider: object, questions: Sequence[Question]) -> tuple[ServedModel, ...]:
    """None of a decider that does not tell."""
    return tuple(decider.asked_models(questions)) if isinstance(decider, AsksModels) else ()
