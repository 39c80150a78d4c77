"""From words to values: records, and turn extractors by pattern, by a model or by one's own code.

Names are fetched on first use, so that reading a flow does not load what talks to models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowengine.lazy import lazily

if TYPE_CHECKING:
    from flowengine.extract.llm import LlmExtractor, extract_turns, from_spec
    from flowengine.extract.models import Providers, ServedModel, default_model
    from flowengine.extract.record.annotated import Record
    from flowengine.extract.record.builder import RecordBuilder
    from flowengine.extract.record.parts import Part, field, resolve
    from flowengine.extract.record.recorded import records
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
    "flowengine.extract.llm": ("LlmExtractor", "extract_turns", "from_spec"),
    "flowengine.extract.models": ("Providers", "ServedModel", "default_model"),
    "flowengine.extract.record.parts": ("Part", "field", "resolve"),
    "flowengine.extract.record.builder": ("RecordBuilder",),
    "flowengine.extract.record.annotated": ("Record",),
    "flowengine.extract.record.recorded": ("records",),
    "flowengine.extract.regex": ("RegexExtractor",),
    "flowengine.extract.spec": (
        "ExtractSpec",
        "FieldSpec",
        "Interval",
        "OnComplete",
        "Promotion",
        "Raise",
        "RecordSpec",
    ),
    "flowengine.extract.turn_extractor": (
        "ExtractionFailed",
        "TurnExtractor",
        "run_turn_extractor",
        "spec_of",
    ),
}

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

__getattr__, __dir__ = lazily(__name__, _HOME)
