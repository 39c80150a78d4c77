"""Several deciders: what enough of them say counts, and how sure it then is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flowengine.decide import (
    LlmDecider,
    Question,
    ScriptedDecider,
    ScriptEnded,
    VotingDecider,
)
from flowengine.decide.judge import judge
from flowengine.errors import FlowError
from flowengine.guards.view import Decision
from flowengine.llm import ScriptedProvider


def vote(question: Question, at_least: int, *answers: Any) -> Decision:
    """What is decided where each decider gives one answer, or raises it."""
    deciders = [
        ScriptedDecider([one if isinstance(one, Exception) else {question.id: one}])
        for one in answers
    ]
    decider = VotingDecider(deciders, at_least=at_least)
    given = asyncio.run(decider.decide([question], (), {}))
    return judge(question.spec, given.get(question.id), question.options)


def yes(probability: float) -> Any:
    return {"probability": probability}


def test_all_must_agree_and_the_least_sure_says_how_sure(agree: Question) -> None:
    assert vote(agree, 3, yes(0.99), yes(0.9), yes(0.95)) == ("yes", True, 0.9)
    assert vote(agree, 3, yes(0.99), yes(0.9), yes(0.5)).outcome == "unsure"
    assert vote(agree, 2, yes(0.02), yes(0.1)) == ("no", False, 0.9)


def test_any_one_is_enough_and_the_surest_says_how_sure(agree: Question) -> None:
    assert vote(agree, 1, yes(0.5), yes(0.9)) == ("yes", True, 0.9)
    assert vote(agree, 1, yes(0.99), yes(0.9)) == ("yes", True, 0.99)


def test_those_that_disagree_as_one_to_one_decide_nothing(agree: Question) -> None:
    assert vote(agree, 1, yes(0.99), yes(0.01)).outcome == "unsure"
    assert vote(agree, 2, yes(0.99), yes(0.9), yes(0.01)) == ("yes", True, 0.9)


def test_options_and_none_of_them_are_counted_by_name(pick: Question) -> None:
    seven = {"option": "19:00", "probability": 0.7}
    assert vote(pick, 2, "19:00", seven, "21:00") == ("chosen", "19:00", 0.7)
    assert vote(pick, 2, "none", "none", seven) == ("none", None, 1.0)


def test_levels_agree_that_are_nearest_to_the_same_one(mood: Question) -> None:
    found = vote(mood, 2, {"level": 1.2, "confidence": 0.9}, {"level": 0.8, "confidence": 0.7})
    assert found == ("scored", 0.8, 0.7)
    assert vote(mood, 2, 0, 1).outcome == "unsure"


def test_one_that_fails_has_no_vote(agree: Question, caplog: Any) -> None:
    assert vote(agree, 1, ScriptEnded("over"), yes(0.9)) == ("yes", True, 0.9)
    assert "a decider failed: script_ended" in caplog.text
    assert vote(agree, 2, TimeoutError(), yes(0.9)).outcome == "unsure"


def test_where_all_fail_the_first_error_is_raised(agree: Question) -> None:
    with pytest.raises(ScriptEnded):
        vote(agree, 1, ScriptEnded("over"), TimeoutError())


def test_one_that_is_late_keeps_nobody_waiting(agree: Question) -> None:
    class Slow:
        async def decide(self, questions: Any, turns: Any, context: Any) -> Any:
            await asyncio.sleep(30)

    decider = VotingDecider([Slow(), ScriptedDecider([{"agree": True}])], at_least=1, within=0.01)
    assert asyncio.run(decider.decide([agree], (), {})) == {"agree": {"probability": 1.0}}


@pytest.mark.parametrize("at_least", [0, 3])
def test_a_number_of_votes_that_cannot_be_is_an_error(at_least: int) -> None:
    with pytest.raises(FlowError, match="1 to 2"):
        VotingDecider([ScriptedDecider(), ScriptedDecider()], at_least=at_least)


def test_the_models_of_all_are_told(agree: Question) -> None:
    models = [LlmDecider(ScriptedProvider(), name) for name in ("a", "b")]
    voting = VotingDecider([*models, ScriptedDecider()], at_least=2)
    assert [model.name for model in voting.asked_models([agree])] == ["a", "b"]
