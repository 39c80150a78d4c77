"""Decisions: typed questions about the caller's newest words, answered with probabilities.

Names are fetched on first use, so that reading a flow does not load what talks to models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowengine.lazy import lazily

if TYPE_CHECKING:
    from flowengine.decide.decider import Decider, Question
    from flowengine.decide.expectations import impossible
    from flowengine.decide.fallback import FallbackDecider
    from flowengine.decide.llm import LlmDecider
    from flowengine.decide.options import options_of
    from flowengine.decide.routing import RoutingDecider
    from flowengine.decide.rules import RuleDecider
    from flowengine.decide.scripted import ScriptedDecider, ScriptEnded
    from flowengine.decide.spec import DecisionSpec

_HOME = {
    "flowengine.decide.decider": ("Decider", "Question"),
    "flowengine.decide.expectations": ("impossible",),
    "flowengine.decide.fallback": ("FallbackDecider",),
    "flowengine.decide.llm": ("LlmDecider",),
    "flowengine.decide.options": ("options_of",),
    "flowengine.decide.routing": ("RoutingDecider",),
    "flowengine.decide.rules": ("RuleDecider",),
    "flowengine.decide.scripted": ("ScriptEnded", "ScriptedDecider"),
    "flowengine.decide.spec": ("DecisionSpec",),
}

__all__ = [
    "Decider",
    "DecisionSpec",
    "FallbackDecider",
    "LlmDecider",
    "Question",
    "RoutingDecider",
    "RuleDecider",
    "ScriptEnded",
    "ScriptedDecider",
    "impossible",
    "options_of",
]

__getattr__, __dir__ = lazily(__name__, _HOME)
