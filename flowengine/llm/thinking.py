"""The thinking ladder: what to send for the thinking asked for, and what to try on a rejection.

No thinking is asked for as budget 0, then 64, then by sending nothing; a configured budget or
level that is rejected is dropped. A rung that worked is remembered per model.
"""

from __future__ import annotations

from typing import get_args

from flowengine.llm.errors import InvalidRequest
from flowengine.llm.messages import Thinking, ThinkingLevel
from flowengine.llm.profiles import ModelProfile
from flowengine.llm.vocabulary import RequestField, WarningKind
from flowengine.llm.warnings import Warning_

LOW_BUDGET = 64
LEVELS = get_args(ThinkingLevel)
_BUDGETS = {"minimal": 0, "low": 1024, "medium": 8192, "high": 24_576}


class ThinkingLadder:
    """What one provider has learned of its models' thinking."""

    def __init__(self) -> None:
        self._learned: dict[tuple[str, Thinking], int] = {}

    def climb(self, model: str, asked: Thinking, profile: ModelProfile) -> Climb:
        rungs = rungs_of(asked, profile)
        start = min(self._learned.get((model, asked), 0), len(rungs) - 1)
        return Climb(self._learned, model, asked, rungs, start)


class Climb:
    """One call's way along the rungs."""

    def __init__(
        self,
        learned: dict[tuple[str, Thinking], int],
        model: str,
        asked: Thinking,
        rungs: tuple[Thinking, ...],
        start: int,
    ) -> None:
        self._learned = learned
        self._key = (model, asked)
        self._rungs = rungs
        self._at = start

    @property
    def thinking(self) -> Thinking:
        """What to send now."""
        return self._rungs[self._at]

    def rejected(self, error: Exception) -> bool:
        """Whether thinking may be what the error is about, and another rung is now taken.

        An error that names nothing counts: some models reject a budget without a word.
        """
        if self._at + 1 == len(self._rungs) or not isinstance(error, InvalidRequest):
            return False
        if "thinking" not in error.message.lower() and not error.names_nothing:
            return False
        self._at += 1
        return True

    def worked(self) -> None:
        """The present rung was accepted; the next call begins with it."""
        self._learned[self._key] = self._at

    def warnings(self, provider: str) -> tuple[Warning_, ...]:
        """What differs from what was asked."""
        asked, sent = self._key[1], self.thinking
        if sent == asked or asked is None:
            return ()
        kind = WarningKind.DROPPED if sent is None else WarningKind.CHANGED
        code = "thinking.dropped" if sent is None else "thinking.changed"
        instead = "the model's default" if sent is None else f"{sent}"
        return (
            Warning_(
                kind=kind,
                field=RequestField.THINKING,
                provider=provider,
                code=code,
                message=f"thinking {asked} is not available for this model; used {instead}",
            ),
        )


def rungs_of(asked: Thinking, profile: ModelProfile) -> tuple[Thinking, ...]:
    """What to send, best first; the last one is always None, which sends nothing."""
    if asked is None or profile.thinking == "none":
        return (None,)
    if isinstance(asked, str):
        if profile.thinking == "level":
            return (asked, None)
        asked = _BUDGETS[asked]
    if asked == 0:
        return _off(profile)
    clamped = asked if asked < 0 else min(max(asked, profile.least), profile.most)
    return (clamped, None)


def _off(profile: ModelProfile) -> tuple[Thinking, ...]:
    steps: list[Thinking] = [profile.off_budget, LOW_BUDGET, None]
    first = profile.off_budget
    if first is None or first >= LOW_BUDGET:
        steps.remove(LOW_BUDGET) if first != LOW_BUDGET else steps.pop(0)
    return tuple(dict.fromkeys(steps))
