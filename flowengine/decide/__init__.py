"""Decisions: typed questions about the caller's newest words, answered with probabilities.

Names are fetched on first use, so that reading a flow does not load what talks to models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowengine.lazy import lazily

if TYPE_CHECKING:
    from flowengine.decide.decider import Decider, Question
    from flowengine.decide.doubts import (
        Doubt,
        confidence_below,
        doubted_by,
        probability_between,
        unsure,
    )
    from flowengine.decide.expectations import impossible
    from flowengine.decide.fallback import FallbackDecider
    from flowengine.decide.llm import LlmDecider
    from flowengine.decide.options import options_of
    from flowengine.decide.routing import RoutingDecider
    from flowengine.decide.rules import RuleDecider
    from flowengine.decide.scripted import ScriptedDecider, ScriptEnded
    from flowengine.decide.spec import DecisionSpec
    from flowengine.decide.voting import VotingDecider

_HOME = {
    "flowengine.decide.decider": ("Decider", "Question"),
    "flowengine.decide.doubts": (
        "Doubt",
        "confidence_below",
        "doubted_by",
        "probability_between",
        "unsure",
    ),
    "flowengine.decide.expectations": ("impossible",),
    "flowengine.decide.fallback": ("FallbackDecider",),
    "flowengine.decide.llm": ("LlmDecider",),
    "flowengine.decide.options": ("options_of",),
    "flowengine.decide.routing": ("RoutingDecider",),
    "flowengine.decide.rules": ("RuleDecider",),
    "flowengine.decide.scripted": ("ScriptEnded", "ScriptedDecider"),
    "flowengine.decide.spec": ("DecisionSpec",),
    "flowengine.decide.voting": ("VotingDecider",),
}

__all__ = [
    "Decider",
    "DecisionSpec",
    "Doubt",
    "FallbackDecider",
    "LlmDecider",
    "Question",
    "RoutingDecider",
    "RuleDecider",
    "ScriptEnded",
    "ScriptedDecider",
    "VotingDecider",
    "confidence_below",
    "doubted_by",
    "impossible",
    "options_of",
    "probability_between",
    "unsure",
]

__getattr__, __dir__ = lazily(__name__, _HOME)
