"""Updates of values already known."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, Field

from flowengine.llm import (
    ChatRequest,
    ExtractFailure,
    ExtractionMetadata,
    Extractor,
    RateLimited,
    ScriptedProvider,
    SlotDelta,
    Usage,
    text_response,
)

pytestmark = pytest.mark.anyio


class Booking(BaseModel):
    name: str
    guests: int = Field(ge=1)
    note: str | None = None


KNOWN = Booking(name="Ada", guests=2, note="window")


async def update(answer: str, current: object = KNOWN) -> SlotDelta:
    request = ChatRequest(model="m", system="You book tables.").user("make it three")
    provider = ScriptedProvider([answer])
    result = await Extractor().update(provider, request, Booking, current)
    system = provider.requests[0].system or ""
    assert system.startswith("You book tables.")
    assert "Ada" in system
    return result.value


async def test_set_clear_and_keep_are_told_apart() -> None:
    delta = await update('{"set": {"name": null, "guests": 3, "note": null}, "clear": ["note"]}')
    assert delta.set == {"guests": 3}
    assert delta.clear == ("note",)
    assert delta.merged == Booking(name="Ada", guests=3)
    assert delta.apply(KNOWN.model_dump()) == {"name": "Ada", "guests": 3}


async def test_nothing_said_keeps_everything() -> None:
    delta = await update('{"set": {"name": null, "guests": null, "note": null}, "clear": null}')
    assert (delta.set, delta.clear, delta.merged) == ({}, (), KNOWN)


async def test_what_is_still_missing_is_no_fault_of_an_update() -> None:
    delta = await update('{"set": {"guests": 3}}', {"name": "Ada"})
    assert delta.merged == Booking(name="Ada", guests=3)
    partial = await update('{"set": {"note": "Ada"}}', {"name": "Ada"})
    assert partial.merged is None
    assert partial.set == {"note": "Ada"}


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ('{"set": {"guests": 0}}', "set.guests"),
        ('{"set": {}, "clear": ["surname"]}', "clear"),
        ('{"set": {"gests": 3}}', "set.gests"),
        ('{"set": [3]}', "set (dict_type)"),
        ('{"set": {}, "clear": "note"}', "clear (list_type)"),
        ('{"set": {}, "clear": 5}', "clear (list_type)"),
        ('{"set": {}, "clear": [{"note": 1}, ["note"], null]}', "clear"),
        ("3", "$ (dict_type)"),
        ("null", "$ (dict_type)"),
        ("[]", "$ (dict_type)"),
    ],
)
async def test_a_faulty_change_is_a_failure(answer: str, place: str) -> None:
    with pytest.raises(ExtractFailure) as caught:
        await update(answer)
    assert place in str(caught.value)


async def test_an_error_of_the_provider_carries_the_record_of_the_passes_before() -> None:
    limited = RateLimited("slow down")
    bad = text_response("not json", Usage(input_tokens=500))
    request = ChatRequest(model="m").user("make it three")
    with pytest.raises(RateLimited) as caught:
        await Extractor(retries=1).update(ScriptedProvider([bad, limited]), request, Booking, KNOWN)
    assert caught.value is limited
    record = ExtractionMetadata.from_error(limited)
    assert record is not None
    assert (record.passes, record.usage) == (1, Usage(input_tokens=500))


async def test_only_types_with_named_fields_can_be_updated() -> None:
    request = ChatRequest(model="m").user("x")
    with pytest.raises(ExtractFailure, match="named fields"):
        await Extractor().update(ScriptedProvider([]), request, list[int], [1])
