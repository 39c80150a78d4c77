"""Which mode is used, what is sent in it, and what a refusal or a 400 changes."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from flowengine.llm import (
    Capability,
    ChatRequest,
    ChatResponse,
    ExtractFailure,
    ExtractionMetadata,
    ExtractionMode,
    Extractor,
    InvalidRequest,
    RateLimited,
    Refusal,
    SchemaEnforcement,
    SchemaRejected,
    ScriptedProvider,
    Support,
    ToolCall,
    ToolSpec,
    Warning_,
    extract,
    text_response,
)
from flowengine.llm.messages import RequiredTool, ResponseFormat
from flowengine.llm.modes import SUBMIT_TOOL
from flowengine.llm.schema import schema_name
from flowengine.llm.vocabulary import RequestField, WarningKind

pytestmark = pytest.mark.anyio


class Person(BaseModel):
    name: str
    age: int = Field(default=0, ge=0, le=150)


ADA = '{"name": "Ada"}'
CALLED = ChatResponse(
    tool_calls=(ToolCall(name=SUBMIT_TOOL, arguments=ADA),), finish_reason="tool_calls"
)


def supporting(structured: Support, tools: Support) -> dict[Capability, Support]:
    return {Capability.STRUCTURED_OUTPUT: structured, Capability.TOOL_CALLS: tools}


YES, NO, MAYBE = Support.SUPPORTED, Support.UNSUPPORTED, Support.UNKNOWN


@pytest.mark.parametrize("name", ["auto", "native", "forced_tool", "prompted"])
def test_mode_names_are_stable_and_read_back(name: str) -> None:
    assert str(ExtractionMode(name)) == name
    assert ExtractionMode(name).value == name


def test_an_unknown_mode_is_an_error_with_a_near_miss() -> None:
    with pytest.raises(ValueError, match="Did you mean 'forced_tool'"):
        ExtractionMode("forcedtool")


@pytest.mark.parametrize(
    ("structured", "tools", "expected"),
    [
        (YES, YES, ExtractionMode.NATIVE),
        (YES, NO, ExtractionMode.NATIVE),
        (MAYBE, YES, ExtractionMode.FORCED_TOOL),
        (NO, YES, ExtractionMode.FORCED_TOOL),
    ],
)
async def test_auto_takes_the_best_mode_that_is_known_to_be_supported(
    request_: ChatRequest, structured: Support, tools: Support, expected: ExtractionMode
) -> None:
    answer = CALLED if expected is ExtractionMode.FORCED_TOOL else text_response(ADA)
    provider = ScriptedProvider([answer], capabilities=supporting(structured, tools))
    assert (await extract(provider, request_, Person)).metadata.mode is expected


async def test_what_is_supported_is_asked_of_the_model_of_the_request() -> None:
    class Choosy(ScriptedProvider):
        def capability(self, model: str, capability: Capability) -> Support:
            return NO if (model, capability) == ("old", Capability.STRUCTURED_OUTPUT) else YES

    provider = Choosy([CALLED, ADA])
    old = await extract(provider, ChatRequest(model="old").user("hi"), Person)
    new = await extract(provider, ChatRequest(model="new").user("hi"), Person)
    assert old.metadata.mode is ExtractionMode.FORCED_TOOL
    assert new.metadata.mode is ExtractionMode.NATIVE


@pytest.mark.parametrize("tools", [NO, MAYBE])
async def test_auto_fails_before_any_call_when_nothing_is_known_to_be_supported(
    request_: ChatRequest, tools: Support
) -> None:
    provider = ScriptedProvider([ADA], capabilities=supporting(MAYBE, tools))
    with pytest.raises(ExtractFailure) as caught:
        await extract(provider, request_, Person)
    told = caught.value.error.model_dump()
    assert (told["code"], told["mode"], told["provider"]) == ("unsupported", "auto", "scripted")
    assert caught.value.metadata.passes == 0
    assert provider.requests == []


async def test_an_explicit_mode_ignores_what_is_reported(request_: ChatRequest) -> None:
    provider = ScriptedProvider([ADA], capabilities=supporting(NO, NO))
    result = await extract(provider, request_.with_option(ExtractionMode.NATIVE), Person)
    assert result.metadata.mode is ExtractionMode.NATIVE


async def test_the_requests_option_wins_over_the_extractors_mode_and_is_not_sent(
    request_: ChatRequest,
) -> None:
    provider = ScriptedProvider([CALLED])
    asked = request_.with_option(ExtractionMode.FORCED_TOOL)
    result = await extract(provider, asked, Person, mode=ExtractionMode.NATIVE)
    assert result.metadata.mode is ExtractionMode.FORCED_TOOL
    assert provider.requests[0].options == {}


async def test_prompted_is_only_the_last_resort_and_only_when_allowed(
    request_: ChatRequest,
) -> None:
    provider = ScriptedProvider([ADA], capabilities=supporting(NO, NO))
    result = await extract(provider, request_, Person, allow_prompted=True)
    assert result.metadata.mode is ExtractionMode.PROMPTED
    assert result.metadata.enforcement is SchemaEnforcement.NOT_ENFORCED
    sent = provider.requests[0]
    assert sent.response_format == ResponseFormat(name="person", strict=False)
    assert "JSON Schema" in (sent.system or "")


async def test_native_sends_a_strict_schema_in_place_of_the_callers_format(
    request_: ChatRequest,
) -> None:
    provider = ScriptedProvider([ADA])
    asked = request_.model_copy(update={"response_format": ResponseFormat(name="mine")})
    await extract(provider, asked, Person)
    sent = provider.requests[0].response_format
    assert sent is not None
    assert (sent.name, sent.strict) == ("person", True)
    assert sent.json_schema is not None
    assert sent.json_schema["required"] == ["name", "age"]
    assert {"type": "null"} in sent.json_schema["properties"]["age"]["anyOf"]
    assert provider.requests[0].tools == ()


async def test_forced_tool_sends_one_tool_and_clears_what_is_in_its_way(
    request_: ChatRequest,
) -> None:
    provider = ScriptedProvider([CALLED])
    update = {"response_format": ResponseFormat(name="mine"), "parallel_tool_calls": True}
    asked = request_.model_copy(update=update)
    await extract(provider, asked, Person, mode=ExtractionMode.FORCED_TOOL)
    sent = provider.requests[0]
    [tool] = sent.tools
    assert isinstance(tool, ToolSpec)
    assert tool.name == SUBMIT_TOOL == "submit_structured_output"
    assert tool.parameters == Person.model_json_schema()
    assert sent.tool_choice == RequiredTool(name=SUBMIT_TOOL)
    assert sent.response_format is None
    assert sent.parallel_tool_calls is None


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Person", "person"),
        ("Box[int, str]", "box_int_str"),
        ("  Größe Nr. 2 ", "gr_e_nr_2"),
        ("日本", "structured_output"),
        ("", "structured_output"),
    ],
)
def test_a_schemas_name_is_made_of_plain_letters(title: str, name: str) -> None:
    assert schema_name(title) == name


class TestRefusal:
    """A refusal before sending, which `auto_fallback` alone records."""

    @staticmethod
    def refusing_native(answers: list[Any]) -> ScriptedProvider:
        def refuse(request: ChatRequest) -> Refusal | None:
            return Refusal("schema.maps", "no maps") if request.response_format else None

        return ScriptedProvider(answers, refuse=refuse)

    async def test_auto_takes_the_tool_instead_and_counts_nothing(
        self, request_: ChatRequest
    ) -> None:
        provider = self.refusing_native([CALLED])
        result = await extract(provider, request_, Person)
        fallback = result.metadata.auto_fallback
        assert fallback is not None
        assert (fallback.from_mode, fallback.to_mode) == ("native", "forced_tool")
        assert (fallback.code, fallback.reason) == ("schema.maps", "no maps")
        assert result.metadata.mode is ExtractionMode.FORCED_TOOL
        assert (result.metadata.passes, result.metadata.calls) == (1, 1)
        assert len(provider.requests) == 1
        assert result.metadata.fallbacks == ()

    async def test_an_explicit_mode_fails_with_the_refusal_as_its_cause(
        self, request_: ChatRequest
    ) -> None:
        provider = self.refusing_native([CALLED])
        with pytest.raises(ExtractFailure, match="no maps") as caught:
            await extract(provider, request_, Person, mode=ExtractionMode.NATIVE)
        assert isinstance(caught.value.__cause__, Refusal)
        assert provider.requests == []
        assert caught.value.metadata.auto_fallback is None

    async def test_a_refusal_raised_by_the_call_itself_is_no_call(
        self, request_: ChatRequest
    ) -> None:
        provider = ScriptedProvider([Refusal("late", "found out late"), CALLED])
        result = await extract(provider, request_, Person)
        assert result.metadata.calls == 1
        assert result.metadata.auto_fallback is not None

    async def test_an_error_of_a_call_that_was_sent_is_no_refusal(
        self, request_: ChatRequest
    ) -> None:
        provider = ScriptedProvider([RateLimited("slow"), CALLED])
        with pytest.raises(RateLimited) as caught:
            await extract(provider, request_, Person)
        record = ExtractionMetadata.from_error(caught.value)
        assert record is not None
        assert (record.mode, record.auto_fallback) == (ExtractionMode.NATIVE, None)


class TestEnforcement:
    """What the provider's warnings say about the schema."""

    @staticmethod
    def warned(
        text: str, *codes: str, field: RequestField = RequestField.RESPONSE_FORMAT
    ) -> ChatResponse:
        warnings = tuple(
            Warning_(
                kind=WarningKind.IGNORED if code == "ignored" else WarningKind.DROPPED,
                field=field,
                code=code,
            )
            for code in codes
        )
        return text_response(text).model_copy(update={"warnings": warnings})

    @pytest.mark.parametrize(
        ("codes", "level"),
        [
            ((), SchemaEnforcement.ENFORCED),
            (("bounds",), SchemaEnforcement.PARTIAL),
            (("bounds", "ignored"), SchemaEnforcement.NOT_ENFORCED),
        ],
    )
    async def test_it_follows_the_warnings_of_the_pass(
        self, request_: ChatRequest, codes: tuple[str, ...], level: SchemaEnforcement
    ) -> None:
        result = await extract(ScriptedProvider([self.warned(ADA, *codes)]), request_, Person)
        assert result.metadata.enforcement is level
        assert tuple(w.code for w in result.metadata.degradations) == codes

    async def test_the_least_enforced_pass_wins_and_each_warning_is_listed_once(
        self, request_: ChatRequest
    ) -> None:
        answers = [self.warned("bad", "ignored", "bounds"), self.warned(ADA, "bounds")]
        result = await extract(ScriptedProvider(answers), request_, Person, retries=1)
        assert result.metadata.enforcement is SchemaEnforcement.NOT_ENFORCED
        assert [w.code for w in result.metadata.degradations] == ["ignored", "bounds"]

    async def test_warnings_on_other_fields_stay_on_the_response(
        self, request_: ChatRequest
    ) -> None:
        answer = self.warned(ADA, "ignored", field=RequestField.SAMPLING)
        result = await extract(ScriptedProvider([answer]), request_, Person)
        assert result.metadata.enforcement is SchemaEnforcement.ENFORCED
        assert result.metadata.degradations == ()
        assert len(result.response.warnings) == 1

    async def test_a_forced_tool_relies_on_the_tools_field(self, request_: ChatRequest) -> None:
        dropped = Warning_(kind=WarningKind.DROPPED, field=RequestField.TOOLS, code="t")
        other = Warning_(kind=WarningKind.DROPPED, field=RequestField.RESPONSE_FORMAT, code="r")
        answer = CALLED.model_copy(update={"warnings": (dropped, other)})
        result = await extract(
            ScriptedProvider([answer]), request_, Person, mode=ExtractionMode.FORCED_TOOL
        )
        assert result.metadata.degradations == (dropped,)
        assert result.metadata.enforcement is SchemaEnforcement.PARTIAL


class TestSchemaLadder:
    """A 400 that the schema may have caused."""

    async def test_bounds_go_first_and_are_still_checked_here(self, request_: ChatRequest) -> None:
        too_complex = SchemaRejected("too many states for serving")
        provider = ScriptedProvider([too_complex, '{"name": "Ada", "age": 500}', ADA])
        result = await extract(provider, request_, Person, retries=1)
        assert "maximum" not in str(provider.requests[1].response_format.model_dump())  # pyright: ignore
        [step] = result.metadata.fallbacks
        assert (step.kind, step.from_level, step.to_level) == ("schema", 0, 1)
        assert result.metadata.schema_level == 1
        assert result.metadata.enforcement is SchemaEnforcement.PARTIAL
        assert (result.metadata.passes, result.metadata.calls) == (2, 3)
        assert result.metadata.attempts[1].error_code == "validation"

    async def test_a_bare_400_counts_as_the_schemas_fault(self, request_: ChatRequest) -> None:
        bare = InvalidRequest("Request contains an invalid argument.")
        result = await extract(ScriptedProvider([bare, ADA]), request_, Person)
        assert result.metadata.schema_level == 1

    async def test_a_400_that_names_something_else_is_raised(self, request_: ChatRequest) -> None:
        other = InvalidRequest("temperature is out of range")
        provider = ScriptedProvider([other, ADA])
        with pytest.raises(InvalidRequest):
            await extract(provider, request_, Person)
        assert len(provider.requests) == 1

    async def test_the_last_step_is_another_mode_once(self, request_: ChatRequest) -> None:
        rejected = [SchemaRejected("schema") for _ in range(3)]
        provider = ScriptedProvider([*rejected[:2], CALLED])
        result = await extract(provider, request_, Person)
        assert [step.kind for step in result.metadata.fallbacks] == ["schema", "mode"]
        assert result.metadata.mode is ExtractionMode.FORCED_TOOL
        last = ScriptedProvider([*rejected, ADA])
        with pytest.raises(SchemaRejected) as caught:
            await extract(last, request_, Person)
        assert caught.value is rejected[2]

    async def test_the_level_that_worked_is_where_the_next_extraction_begins(
        self, request_: ChatRequest
    ) -> None:
        extractor = Extractor()
        first = ScriptedProvider([SchemaRejected("schema"), ADA])
        await extractor.extract(first, request_, Person)
        second = ScriptedProvider([ADA])
        result = await extractor.with_(retries=1).extract(second, request_, Person)
        assert (result.metadata.schema_level, result.metadata.calls) == (1, 1)

    async def test_it_can_be_switched_off(self, request_: ChatRequest) -> None:
        with pytest.raises(SchemaRejected):
            await extract(
                ScriptedProvider([SchemaRejected("x"), ADA]), request_, Person, schema_ladder=False
            )
