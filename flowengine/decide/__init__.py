"""Decisions: typed questions answered with probabilities."""

from flowengine.decide.decider import Decider
from flowengine.decide.judge import Judgement, judge, options_of
from flowengine.decide.spec import DecisionSpec

__all__ = ["Decider", "DecisionSpec", "Judgement", "judge", "options_of"]
