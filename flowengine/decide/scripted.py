"""A decider that answers from a script and logs what it was asked: for tests without a model."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from flowengine.decide.decider import Question
from flowengine.errors import FlowError
from flowengine.inputs import Json
from flowengine.transcript import Turn

Round: TypeAlias = Mapping[str, Json] | BaseException


class ScriptEnded(FlowError):
    """The decider was asked more often than its script answers."""

    code = "script_ended"


class ScriptedDecider:
    """Answers round by round: the answers by question, or an error to raise.

    A question that a round does not answer stays unsure. `asked` holds the ids of every round.
    """

    def __init__(self, rounds: Iterable[Round] = ()) -> None:
        self.asked: list[tuple[str, ...]] = []
        self._rounds: deque[Round] = deque(rounds)

    async def decide(
        self, questions: Sequence[Question], turns: Sequence[Turn], context: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        if not questions:
            return {}
        self.asked.append(tuple(question.id for question in questions))
        if not self._rounds:
            raise ScriptEnded(f"the script has no answers to round {len(self.asked)}")
        answers = self._rounds.popleft()
        if isinstance(answers, BaseException):
            raise answers
        return {one.id: answers[one.id] for one in questions if answers.get(one.id) is not None}
