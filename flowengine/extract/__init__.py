"""From words to values: records, and turn extractors by pattern, by a model or by one's own code.

Names are fetched on first use, so that reading a flow does not load what talks to models.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flowengine.extract.llm import LlmExtractor, extract_turns, from_spec
    from flowengine.extract.models import Providers, ServedModel, default_model
    from flowengine.extract.parts import Part, field, resolve
    from flowengine.extract.record_builder import RecordBuilder
    from flowengine.extract.record_class import Record
    from flowengine.extract.recorded import records
    from flowengine.extract.regex import RegexExtractor
    from flowengine.extract.spec import (
        ExtractSpec,
        FieldSpec,
        Interval,
        OnComplete,
        Promotion,
        Raise,
        RecordSpec,
    )
    from flowengine.extract.turn_extractor import (
        ExtractionFailed,
        TurnExtractor,
        run_turn_extractor,
        spec_of,
    )

_HOME = {
    "llm": ("LlmExtractor", "extract_turns", "from_spec"),
    "models": ("Providers", "ServedModel", "default_model"),
    "parts": ("Part", "field", "resolve"),
    "record_builder": ("RecordBuilder",),
    "record_class": ("Record",),
    "recorded": ("records",),
    "regex": ("RegexExtractor",),
    "spec": (
        "ExtractSpec",
        "FieldSpec",
        "Interval",
        "OnComplete",
        "Promotion",
        "Raise",
        "RecordSpec",
    ),
    "turn_extractor": ("ExtractionFailed", "TurnExtractor", "run_turn_extractor", "spec_of"),
}
_MODULES = {name: f"{__name__}.{module}" for module, names in _HOME.items() for name in names}

__all__ = [
    "ExtractSpec",
    "ExtractionFailed",
    "FieldSpec",
    "Interval",
    "LlmExtractor",
    "OnComplete",
    "Part",
    "Promotion",
    "Providers",
    "Raise",
    "Record",
    "RecordBuilder",
    "RecordSpec",
    "RegexExtractor",
    "ServedModel",
    "TurnExtractor",
    "default_model",
    "extract_turns",
    "field",
    "from_spec",
    "records",
    "resolve",
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
