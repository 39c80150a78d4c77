"""From words to values: turn extractors, by pattern, by a language model or by code of one's own.

Names are fetched on first use, so that reading a flow does not load what talks to models.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flowengine.extract.llm import LlmExtractor, extract_turns, from_spec
    from flowengine.extract.models import Providers, ServedModel, default_model
    from flowengine.extract.regex import RegexExtractor
    from flowengine.extract.spec import ExtractSpec, Interval, Promotion, Raise
    from flowengine.extract.turn_extractor import (
        ExtractionFailed,
        TurnExtractor,
        run_turn_extractor,
        spec_of,
    )

_HOME = {
    "llm": ("LlmExtractor", "extract_turns", "from_spec"),
    "models": ("Providers", "ServedModel", "default_model"),
    "regex": ("RegexExtractor",),
    "spec": ("ExtractSpec", "Interval", "Promotion", "Raise"),
    "turn_extractor": ("ExtractionFailed", "TurnExtractor", "run_turn_extractor", "spec_of"),
}
_MODULES = {name: f"{__name__}.{module}" for module, names in _HOME.items() for name in names}

__all__ = [
    "ExtractSpec",
    "ExtractionFailed",
    "Interval",
    "LlmExtractor",
    "Promotion",
    "Providers",
    "Raise",
    "RegexExtractor",
    "ServedModel",
    "TurnExtractor",
    "default_model",
    "extract_turns",
    "from_spec",
    "run_turn_extractor",
    "spec_of",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
