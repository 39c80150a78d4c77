"""Whoever answers questions about a conversation: a model, a rule, a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from flowengine.decide.spec import DecisionSpec
from flowengine.inputs import Json
from flowengine.transcript import Turn


class Decider(Protocol):
    """Answers a round of questions at once."""

    async def decide(
        self,
        questions: Mapping[str, DecisionSpec],
        options: Mapping[str, Mapping[str, str]],
        turns: Sequence[Turn],
    ) -> Mapping[str, Json]:
        """Raw answers by question, as `judge` reads them; one that is left out is unsure.

        `options` are those of each choice at this moment; `turns` end with the one that the
        questions are about.
        """
        ...
