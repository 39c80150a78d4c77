"""Decisions: typed questions about the caller's newest words, answered with probabilities.

Names are fetched on first use, so that reading a flow does not load what talks to models.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flowengine.decide.decider import Decider, Question
    from flowengine.decide.expectations import impossible
    from flowengine.decide.llm import LlmDecider
    from flowengine.decide.options import options_of
    from flowengine.decide.routing import RoutingDecider
    from flowengine.decide.rules import RuleDecider
    from flowengine.decide.scripted import ScriptedDecider, ScriptEnded
    from flowengine.decide.spec import DecisionSpec

_HOME = {
    "decider": ("Decider", "Question"),
    "expectations": ("impossible",),
    "llm": ("LlmDecider",),
    "options": ("options_of",),
    "routing": ("RoutingDecider",),
    "rules": ("RuleDecider",),
    "scripted": ("ScriptEnded", "ScriptedDecider"),
    "spec": ("DecisionSpec",),
}
_MODULES = {name: f"{__name__}.{module}" for module, names in _HOME.items() for name in names}

__all__ = [
    "Decider",
    "DecisionSpec",
    "LlmDecider",
    "Question",
    "RoutingDecider",
    "RuleDecider",
    "ScriptEnded",
    "ScriptedDecider",
    "impossible",
    "options_of",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
