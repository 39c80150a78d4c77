"""Names that are stored or compared by users are pinned by a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, Field

from flowengine.llm import ExtractionMode, FinishReason, ProviderError, RequestField
from flowengine.llm.dialect import GEMINI
from flowengine.llm.messages import ChatRequest
from flowengine.llm.modes import PREFILL, PROMPTED
from flowengine.llm.openai_wire import write_request
from flowengine.llm.profiles import ModelProfile
from flowengine.llm.reasons import ExtractError
from flowengine.llm.relax import relax
from flowengine.llm.schema import target
from flowengine.llm.thinking import ThinkingLadder
from flowengine.llm.vocabulary import WarningKind, relied_field

PINNED: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "fixtures" / "codes.json").read_text()
)


def subclasses(cls: type[ProviderError]) -> list[type[ProviderError]]:
    return [cls, *(deeper for sub in cls.__subclasses__() for deeper in subclasses(sub))]


def test_the_small_vocabularies_are_pinned() -> None:
    assert [mode.value for mode in ExtractionMode] == PINNED["modes"]
    assert [reason.value for reason in FinishReason] == PINNED["finish_reasons"]
    assert [field.value for field in RequestField] == PINNED["request_fields"]
    assert [kind.value for kind in WarningKind] == PINNED["warning_kinds"]


def test_error_codes_are_pinned() -> None:
    union: Any = get_args(get_args(ExtractError)[0])
    assert [reason.model_fields["code"].default for reason in union] == PINNED["reasons"]
    assert {error.kind for error in subclasses(ProviderError)} == set(PINNED["provider_errors"])


def test_warning_codes_are_pinned() -> None:
    class Bounded(BaseModel):
        text: str = Field(pattern="^a")
        ratio: float = Field(gt=0, le=1)

    class Node(BaseModel):
        children: list[Node]

    schema = target(Bounded).schema
    _, dropped = GEMINI.adapt(schema)
    _, looping = GEMINI.adapt(target(list[Node]).schema)
    _, relaxed = relax(schema, 1)
    maps = write_request(
        ChatRequest.model_validate(
            {"model": "m", "response_format": {"name": "n", "schema": {"type": "object"}}}
        ),
        "openai",
        "max_tokens",
    )[1]
    climbs = [
        ThinkingLadder().climb("m", 0, ModelProfile(off_budget=budget)).warnings("gemini")[0]
        for budget in (64, None)
    ]
    made = {loss.code for loss in (*dropped, *looping, *relaxed)}
    made |= {str(w.code) for w in (PREFILL, PROMPTED, *maps, *climbs)}
    assert set(PINNED["warnings"]) - {"unsupported.parallel_tool_calls"} <= made


def test_each_mode_relies_on_the_field_its_schema_travels_in() -> None:
    assert relied_field(ExtractionMode.FORCED_TOOL) is RequestField.TOOLS
    assert relied_field(ExtractionMode.NATIVE) is RequestField.RESPONSE_FORMAT


@pytest.mark.parametrize("mode", PINNED["modes"])
def test_a_mode_prints_as_its_name(mode: str) -> None:
    assert f"{ExtractionMode(mode)}" == mode
