"""The record: its names, its round trip, and what it shows to whom."""

from __future__ import annotations

import json
import logging
import pickle
from pathlib import Path

import pytest
from pydantic import BaseModel

from flowengine.llm import (
    Attempt,
    AutoFallback,
    ChatRequest,
    ExtractFailure,
    ExtractionMetadata,
    ExtractionMode,
    Fallback,
    RateLimited,
    Refusal,
    Repair,
    SchemaEnforcement,
    ScriptedProvider,
    Usage,
    Warning_,
    extract,
)
from flowengine.llm.metadata import Grounding
from flowengine.llm.reasons import Empty
from flowengine.llm.vocabulary import RequestField, WarningKind

FIXTURES = Path(__file__).parent / "fixtures"


def full_record() -> ExtractionMetadata:
    warning = Warning_(
        kind=WarningKind.DROPPED,
        field=RequestField.RESPONSE_FORMAT,
        path="items[].price",
        provider="gemini",
        code="schema.dropped.pattern",
        message="pattern is not sent",
        cause="none",
    )
    usage = Usage(
        input_tokens=1,
        output_tokens=2,
        total_tokens=3,
        cached_input_tokens=4,
        cache_creation_input_tokens=5,
        reasoning_tokens=6,
    )
    repair = Repair(code="fence", path="$", cost=1)
    native, tool = ExtractionMode.NATIVE, ExtractionMode.FORCED_TOOL
    return ExtractionMetadata(
        mode=tool,
        passes=2,
        repaired=True,
        enforcement=SchemaEnforcement.PARTIAL,
        degradations=(warning,),
        usage=usage,
        auto_fallback=AutoFallback(from_mode=native, to_mode=tool, reason="no maps", code="maps"),
        undeclared_key_rejections=1,
        calls=3,
        attempts=(
            Attempt(
                index=1,
                mode=native,
                outcome="rejected",
                error_code="parse",
                finish_reason="stop",
                usage=usage,
                latency_s=0.5,
                repairs=(repair,),
                warnings=(warning,),
            ),
        ),
        repairs=(repair,),
        fallbacks=(
            Fallback(
                kind="schema", from_mode=tool, to_mode=tool, from_level=0, to_level=1, code="schema"
            ),
        ),
        schema_level=1,
        incremental=False,
        dropped_items=1,
        grounding=Grounding(located=1, ungrounded=1),
        cached=False,
        elapsed_s=1.5,
    )


def test_persisted_names_and_values_are_pinned() -> None:
    pinned = json.loads((FIXTURES / "extraction_metadata.json").read_text())
    assert full_record().model_dump(mode="json") == pinned


def test_a_record_survives_the_round_trip_and_ignores_newer_fields() -> None:
    record = full_record()
    assert ExtractionMetadata.model_validate_json(record.model_dump_json()) == record
    newer = {**record.model_dump(mode="json"), "invented_later": 1}
    assert ExtractionMetadata.model_validate(newer) == record


def test_a_new_record_has_made_no_call() -> None:
    record = ExtractionMetadata.new(ExtractionMode.NATIVE)
    assert record.model_dump(exclude_defaults=True) == {"mode": ExtractionMode.NATIVE}
    assert record.enforcement is SchemaEnforcement.NOT_ENFORCED
    assert record.usage is None


def test_the_printed_form_shows_the_rest_only_when_set() -> None:
    short = repr(ExtractionMetadata.new(ExtractionMode.NATIVE))
    assert short == (
        "ExtractionMetadata(mode=<ExtractionMode.NATIVE: 'native'>, passes=0, "
        "enforcement='not_enforced')"
    )
    assert "auto_fallback" in repr(full_record())


def test_enforcement_is_ordered_and_stored_by_name() -> None:
    assert min(SchemaEnforcement.ENFORCED, SchemaEnforcement.PARTIAL).name == "PARTIAL"
    assert full_record().model_dump(mode="json")["enforcement"] == "partial"
    with pytest.raises(ValueError, match="not_enforced, partial or enforced"):
        ExtractionMetadata.model_validate({"mode": "native", "enforcement": "mostly"})


def test_warnings_are_equal_by_content() -> None:
    first, second = full_record().degradations[0], full_record().degradations[0]
    assert first == second
    assert len({first, second}) == 1


def test_an_error_from_elsewhere_has_no_record() -> None:
    assert ExtractionMetadata.from_error(ValueError()) is None
    assert ExtractionMetadata.from_error(RateLimited("slow")) is None


class Sealed(Exception):
    """An error that takes no further attribute."""

    def __setattr__(self, name: str, value: object) -> None:
        if not hasattr(self, name):
            raise AttributeError(name)
        super().__setattr__(name, value)


@pytest.mark.anyio
async def test_an_error_that_can_carry_nothing_is_raised_unchanged_without_a_record() -> None:
    sealed = Sealed("no")
    with pytest.raises(Sealed) as caught:
        await extract(ScriptedProvider([sealed]), ChatRequest(model="m").user("hi"), Secret)
    assert caught.value is sealed
    assert ExtractionMetadata.from_error(sealed) is None


class Secret(BaseModel):
    name: str
    kinds: dict[str, int] = {}


VALUE = "Zaphod Beeblebrox"
KEY = "unguessable-map-key"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "answer",
    [
        f"not json {VALUE}",
        f'{{"name": 3, "kinds": {{"{KEY}": "{VALUE}"}}}}',
        f'{{"name": "{VALUE}", "{KEY}": 1}}',
        f'{{"name": "{VALUE}", "name": "{VALUE}"}}',
        f'{{"name": "{VALUE}',
    ],
)
async def test_nothing_the_caller_or_the_model_said_is_printed_or_logged(
    answer: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    request = ChatRequest(model="m", system=VALUE).user(f"I am {VALUE}")
    with pytest.raises(ExtractFailure) as caught:
        await extract(ScriptedProvider([answer, answer]), request, Secret, retries=1)
    error = caught.value
    printed = [
        str(error),
        repr(error),
        json.dumps(error.to_log()),
        repr(error.error),
        repr(error.response),
        repr(request),
        repr(error.metadata),
        caplog.text,
    ]
    assert [text for text in printed if VALUE in text or KEY in text] == []
    assert VALUE in json.dumps(error.to_dict(), ensure_ascii=False)


@pytest.mark.anyio
async def test_a_value_is_not_printed_either() -> None:
    request = ChatRequest(model="m").user("hi")
    result = await extract(ScriptedProvider([f'{{"name": "{VALUE}"}}']), request, Secret)
    assert VALUE not in repr(result)


@pytest.mark.anyio
async def test_a_failure_says_its_last_reason_and_how_many_passes_it_took() -> None:
    request = ChatRequest(model="m").user("hi")
    with pytest.raises(ExtractFailure) as caught:
        await extract(ScriptedProvider(["{}", "{}"]), request, Secret, retries=1)
    assert str(caught.value) == "the value does not fit: name (missing) (2 passes)"
    assert [attempt.error_code for attempt in caught.value.metadata.attempts] == [
        "validation",
        "validation",
    ]


@pytest.mark.parametrize(
    "error",
    [
        RateLimited("slow", code=429, retry_after=3.0),
        Refusal("maps", "no maps"),
        ExtractFailure(Empty(), None, ExtractionMetadata.new(ExtractionMode.NATIVE)),
    ],
)
def test_errors_survive_the_way_to_another_process(error: Exception) -> None:
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is type(error)
    assert str(copied) == str(error)
    assert vars(copied) == vars(error)


@pytest.mark.anyio
async def test_a_failure_carries_its_record_itself_not_in_a_context() -> None:
    request = ChatRequest(model="m").user("hi")
    with pytest.raises(ExtractFailure) as caught:
        await extract(ScriptedProvider(["bad"]), request, Secret)
    assert ExtractionMetadata.from_error(caught.value) is None
    assert caught.value.metadata.passes == 1
    assert caught.value.retryable is False


@pytest.mark.anyio
async def test_the_path_of_a_repair_is_kept_but_not_printed() -> None:
    request = ChatRequest(model="m").user("hi")
    answer = f'{{"name": "A", "kinds": {{\'{KEY}\': +3,}}}}'
    result = await extract(ScriptedProvider([answer]), request, Secret, repair=True)
    assert any(KEY in repair.path for repair in result.metadata.repairs)
    assert KEY not in repr(result.metadata) + json.dumps(result.metadata.to_log())
