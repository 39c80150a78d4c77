"""Plain extraction against a script: what is sent, what is accepted, what is asked again."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import date
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationInfo, field_validator
from typing_extensions import TypedDict

from flowengine.llm import (
    AskAgain,
    ChatRequest,
    ChatResponse,
    Evidence,
    ExtractFailure,
    ExtractionMetadata,
    ExtractionMode,
    Extractor,
    GroundingPolicy,
    RateLimited,
    RepairLevel,
    ScriptedProvider,
    ToolCall,
    ToolSpec,
    Usage,
    ValidatorContext,
    extract,
    text_response,
)
from flowengine.llm.modes import SUBMIT_TOOL

pytestmark = pytest.mark.anyio


class Contact(BaseModel):
    email: str
    phone: str | None = None


class Person(BaseModel):
    name: str
    age: int = 0
    contact: Contact | None = None


ADA = '{"name": "Ada", "age": 36}'


def call(arguments: str, name: str = SUBMIT_TOOL) -> ToolCall:
    return ToolCall(name=name, arguments=arguments, id="c1")


def calls(*made: ToolCall, finish: str = "tool_calls") -> ChatResponse:
    return ChatResponse(tool_calls=made, finish_reason=finish)


async def failure(
    provider: ScriptedProvider, request: ChatRequest, wanted: Any = Person, **settings: Any
) -> ExtractFailure:
    with pytest.raises(ExtractFailure) as caught:
        await extract(provider, request, wanted, **settings)
    return caught.value


def code(error: ExtractFailure) -> str:
    return error.to_log()["error"]


async def test_by_default_one_call_is_made_and_parsed_strictly(request_: ChatRequest) -> None:
    provider = ScriptedProvider([ADA])
    result = await extract(provider, request_, Person)
    assert result.value == Person(name="Ada", age=36)
    assert (result.metadata.passes, result.metadata.calls) == (1, 1)
    assert not result.metadata.repaired
    assert len(provider.requests) == 1


async def test_without_repair_and_retries_a_fence_is_a_failure(request_: ChatRequest) -> None:
    error = await failure(ScriptedProvider([f"```json\n{ADA}\n```"]), request_)
    assert code(error) == "parse"
    assert error.raw_output == f"```json\n{ADA}\n```"
    assert error.metadata.passes == 1


async def test_only_what_could_not_be_parsed_is_kept_as_raw_output(request_: ChatRequest) -> None:
    for answer in ('{"name": 3}', '{"nme": "Ada"}', '{"name": "Ad', " "):
        assert (await failure(ScriptedProvider([answer]), request_)).raw_output is None


async def test_the_request_object_is_never_changed(request_: ChatRequest) -> None:
    before = request_.model_copy(deep=True)
    await extract(ScriptedProvider([ADA]), request_, Person)
    assert request_ == before


async def test_every_other_field_of_the_request_is_kept() -> None:
    request = ChatRequest(
        model="m",
        system="be brief",
        temperature=0.5,
        max_output_tokens=99,
        top_p=0.9,
        stop=("END",),
        presence_penalty=0.1,
        frequency_penalty=0.2,
        seed=7,
        thinking="low",
        options={"mine": 1},
    ).user("Ada")
    provider = ScriptedProvider([ADA])
    await extract(provider, request.with_option(ExtractionMode.NATIVE), Person)
    sent = provider.requests[0]
    assert sent.model_copy(update={"response_format": None}) == request


async def test_a_request_with_tools_of_its_own_is_refused_in_every_mode(
    request_: ChatRequest,
) -> None:
    tool = ToolSpec(name="mine", parameters={"type": "object"})
    for mode in (ExtractionMode.AUTO, ExtractionMode.NATIVE, ExtractionMode.FORCED_TOOL):
        provider = ScriptedProvider([ADA])
        asked = request_.model_copy(update={"tools": (tool,)}).with_option(mode)
        error = await failure(provider, asked)
        assert code(error) == "tool_conflict"
        assert error.metadata == ExtractionMetadata.new(mode).model_copy(
            update={"elapsed_s": error.metadata.elapsed_s}
        )
        assert error.response is None
        assert provider.requests == []


async def test_no_tools_at_all_are_no_conflict(request_: ChatRequest) -> None:
    emptied = request_.model_copy(update={"tools": (), "tool_choice": "auto"})
    provider = ScriptedProvider([ADA])
    await extract(provider, emptied, Person)
    assert provider.requests[0].tool_choice is None


async def test_a_conversation_that_ends_with_the_model_gets_a_user_message() -> None:
    provider = ScriptedProvider([ADA])
    request = ChatRequest(model="m").user("I am Ada").said("Hello Ada")
    result = await extract(provider, request, Person)
    assert [message.role for message in provider.requests[0].messages] == ["user", "model", "user"]
    assert [warning.code for warning in result.response.warnings] == ["prefill.avoided"]
    assert result.metadata.degradations == ()


async def test_a_prefill_is_sent_when_allowed() -> None:
    provider = ScriptedProvider([ADA])
    request = ChatRequest(model="m").user("I am Ada").said("{")
    await extract(provider, request, Person, allow_prefill=True)
    assert len(provider.requests[0].messages) == 2


async def test_an_answer_without_text_is_missing_text(request_: ChatRequest) -> None:
    error = await failure(ScriptedProvider([ChatResponse(finish_reason="stop")]), request_)
    assert code(error) == "missing_text"
    assert error.error.model_dump()["provider"] == "scripted"


async def test_an_empty_text_is_told_apart_from_none(request_: ChatRequest) -> None:
    assert code(await failure(ScriptedProvider([text_response(" \n")]), request_)) == "empty"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (calls(), "missing_tool_call"),
        (calls(call(ADA, "another")), "missing_tool_call"),
        (calls(call(ADA), call(ADA)), "tool_call_count"),
        (calls(call("not json")), "parse"),
        (calls(call('{"name": "Ad'), finish="length"), "truncated"),
        (ChatResponse(finish_reason="malformed_call"), "malformed_call"),
        (ChatResponse(finish_reason="blocked", finish_detail="SAFETY"), "blocked"),
        (ChatResponse(text='{"name": "Ad', finish_reason="length"), "truncated"),
    ],
)
async def test_each_unusable_answer_to_a_forced_tool_has_its_own_code(
    request_: ChatRequest, response: ChatResponse, expected: str
) -> None:
    error = await failure(ScriptedProvider([response]), request_, mode=ExtractionMode.FORCED_TOOL)
    assert code(error) == expected
    assert error.response == response


async def test_calls_of_other_tools_are_ignored_beside_the_right_one(
    request_: ChatRequest,
) -> None:
    provider = ScriptedProvider([calls(call("{}", "another"), call(ADA))])
    result = await extract(provider, request_, Person, mode=ExtractionMode.FORCED_TOOL)
    assert result.value.name == "Ada"


async def test_the_whole_last_response_is_returned(request_: ChatRequest) -> None:
    answer = ChatResponse(
        text=ADA, finish_reason="stop", id="r9", model="m-2", usage=Usage(input_tokens=1)
    )
    result = await extract(ScriptedProvider(["nonsense", answer]), request_, Person, retries=1)
    assert result.response == answer


async def test_json_cut_with_a_regular_finish_is_still_truncated(request_: ChatRequest) -> None:
    error = await failure(ScriptedProvider(['{"name": "Ada", "age": ']), request_)
    assert code(error) == "truncated"
    assert "max_output_tokens" in str(error)


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str] = []


class Tagged(BaseModel):
    pet: Cat | Dog = Field(discriminator="kind")


class Place(TypedDict):
    city: str


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Mood(Enum):
    CALM = "calm"
    ANGRY = "angry"


@pytest.mark.parametrize("mode", [ExtractionMode.NATIVE, ExtractionMode.FORCED_TOOL])
@pytest.mark.parametrize(
    ("wanted", "text", "expected"),
    [
        (Tagged, '{"pet": {"kind": "cat", "lives": 9}}', Tagged(pet=Cat(kind="cat", lives=9))),
        (
            Cat | Dog,
            '{"value": {"kind": "dog", "tricks": ["sit"]}}',
            Dog(kind="dog", tricks=["sit"]),
        ),
        (Place, '{"city": "London"}', {"city": "London"}),
        (Point, '{"x": 1}', Point(1)),
        (Mood, '{"value": "calm"}', Mood.CALM),
        (list[Cat], '{"value": [{"kind": "cat", "lives": 1}]}', [Cat(kind="cat", lives=1)]),
        (int, '{"value": 3}', 3),
        (TypeAdapter(date), '{"value": "2026-03-01"}', date(2026, 3, 1)),
        (dict[str, int], '{"b": 1, "a": 2}', {"b": 1, "a": 2}),
        (
            {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}},
            '{"n": 4}',
            {"n": 4},
        ),
    ],
)
async def test_any_type_can_be_asked_for_in_both_modes(
    request_: ChatRequest, mode: ExtractionMode, wanted: Any, text: str, expected: Any
) -> None:
    answer = text_response(text) if mode is ExtractionMode.NATIVE else calls(call(text))
    result = await extract(ScriptedProvider([answer]), request_, wanted, mode=mode)
    assert result.value == expected


async def test_a_json_schema_is_validated_as_strictly_as_a_model(request_: ChatRequest) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}
    assert code(await failure(ScriptedProvider(['{"n": 0}']), request_, schema)) == "validation"


async def test_a_type_without_a_schema_fails_before_any_call(request_: ChatRequest) -> None:
    class Opaque:
        pass

    provider = ScriptedProvider([ADA])
    error = await failure(provider, request_, Opaque)
    assert code(error) == "schema"
    assert (error.metadata.passes, provider.requests) == (0, [])


async def test_a_schema_that_is_none_fails_before_any_call(request_: ChatRequest) -> None:
    assert code(await failure(ScriptedProvider([]), request_, {"type": "objekt"})) == "schema"


async def test_a_strict_model_reads_dates_from_their_text(request_: ChatRequest) -> None:
    class Strict(BaseModel):
        model_config = ConfigDict(strict=True)
        when: date

    result = await extract(ScriptedProvider(['{"when": "2026-01-02"}']), request_, Strict)
    assert result.value.when == date(2026, 1, 2)


async def test_unset_and_null_fields_are_told_apart(request_: ChatRequest) -> None:
    class Facts(BaseModel):
        a: int | None = None
        b: int | None = None
        c: int = 5

    result = await extract(ScriptedProvider(['{"a": null, "c": null}']), request_, Facts)
    assert result.value == Facts(c=5)
    assert result.null_fields == ("a",)
    assert result.unset_fields == ("b", "c")


class TestRepairAndRetries:
    async def test_repair_takes_the_fence_off_without_a_call(self, request_: ChatRequest) -> None:
        provider = ScriptedProvider([f"```json\n{ADA}\n```"])
        result = await extract(provider, request_, Person, repair=True)
        assert result.metadata.repaired
        assert [repair.code for repair in result.metadata.repairs] == ["fence"]
        assert result.metadata.calls == 1

    async def test_clean_json_is_not_called_repaired(self, request_: ChatRequest) -> None:
        result = await extract(ScriptedProvider([ADA]), request_, Person, repair=RepairLevel.ALIGN)
        assert not result.metadata.repaired

    async def test_repair_comes_before_a_paid_retry(self, request_: ChatRequest) -> None:
        provider = ScriptedProvider([f"Sure: {ADA}", ADA])
        result = await extract(provider, request_, Person, repair=True, retries=3)
        assert (result.metadata.passes, len(provider.requests)) == (1, 1)

    async def test_alignment_is_only_done_at_its_level(self, request_: ChatRequest) -> None:
        near = '{"NAME": "Ada", "age": "36"}'
        assert code(await failure(ScriptedProvider([near]), request_, repair=True)) == (
            "undeclared_key"
        )
        result = await extract(ScriptedProvider([near]), request_, Person, repair=RepairLevel.ALIGN)
        assert result.value == Person(name="Ada", age=36)
        assert result.metadata.repaired

    async def test_a_bare_value_is_taken_for_the_wrapped_one_when_aligning(
        self, request_: ChatRequest
    ) -> None:
        for level in (RepairLevel.OFF, RepairLevel.SYNTAX):
            error = await failure(ScriptedProvider(["[1]"]), request_, list[int], repair=level)
            assert code(error) == "validation"
        provider = ScriptedProvider(["[1]", '{"kind": "dog"}'])
        aligning = Extractor(repair=RepairLevel.ALIGN)
        result = await aligning.extract(provider, request_, list[int])
        assert (result.value, [r.code for r in result.metadata.repairs]) == ([1], ["wrapped"])
        assert (await aligning.extract(provider, request_, Cat | Dog)).value == Dog(kind="dog")

    async def test_passes_never_exceed_one_plus_retries(self, request_: ChatRequest) -> None:
        provider = ScriptedProvider(["a", "b", "c", ADA])
        error = await failure(provider, request_, retries=2)
        assert error.metadata.passes == 3
        assert len(provider.requests) == 3

    async def test_a_retry_shows_the_model_its_answer_and_the_field_errors(
        self, request_: ChatRequest
    ) -> None:
        wrong = '{"name": "Ada", "age": "many"}'
        provider = ScriptedProvider([wrong, ADA])
        result = await extract(provider, request_, Person, retries=1)
        first, answer, reason = provider.requests[1].messages
        assert first == request_.messages[0]
        assert (answer.role, answer.text) == ("model", wrong)
        assert reason.role == "user"
        assert "age" in reason.text
        assert "valid integer" in reason.text
        assert [a.outcome for a in result.metadata.attempts] == ["rejected", "ok"]
        assert result.metadata.attempts[0].error_code == "validation"

    async def test_a_forced_tool_is_asked_again_with_a_tool_result(
        self, request_: ChatRequest
    ) -> None:
        provider = ScriptedProvider([calls(call('{"age": 1}')), calls(call(ADA))])
        await extract(provider, request_, Person, retries=1, mode=ExtractionMode.FORCED_TOOL)
        _, answer, result = provider.requests[1].messages
        assert answer.tool_calls == (call('{"age": 1}'),)
        assert result.tool_results[0].id == "c1"
        assert "name" in result.tool_results[0].content

    async def test_only_the_newest_failure_is_quoted(self, request_: ChatRequest) -> None:
        provider = ScriptedProvider(["first", "second", ADA])
        await extract(provider, request_, Person, retries=2, mode=ExtractionMode.NATIVE)
        texts = [message.text for message in provider.requests[2].messages]
        assert len(texts) == 3
        assert texts[1] == "second"

    async def test_a_long_bad_answer_is_quoted_only_in_part(self, request_: ChatRequest) -> None:
        provider = ScriptedProvider(["x" * 100_000, ADA])
        await extract(provider, request_, Person, retries=1)
        assert all(len(message.text) <= 4200 for message in provider.requests[1].messages)

    async def test_a_blocked_answer_is_never_asked_again(self, request_: ChatRequest) -> None:
        provider = ScriptedProvider([ChatResponse(finish_reason="blocked"), ADA])
        assert code(await failure(provider, request_, retries=3)) == "blocked"
        assert len(provider.requests) == 1

    async def test_an_answer_cut_at_the_cap_fails_fast_by_default(
        self, request_: ChatRequest
    ) -> None:
        cut = ChatResponse(text='{"na', finish_reason="length", usage=Usage(reasoning_tokens=40))
        error = await failure(ScriptedProvider([cut, ADA]), request_, retries=2)
        assert error.metadata.passes == 1
        assert "40 tokens went to thinking" in str(error)

    async def test_the_cap_grows_when_allowed(self, request_: ChatRequest) -> None:
        cut = ChatResponse(text='{"na', finish_reason="length")
        capped = request_.model_copy(update={"max_output_tokens": 100})
        provider = ScriptedProvider([cut, ADA])
        await extract(provider, capped, Person, retries=1, truncation="grow")
        assert [sent.max_output_tokens for sent in provider.requests] == [100, 200]
        assert len(provider.requests[1].messages) == 1

    async def test_without_a_cap_there_is_nothing_to_grow(self, request_: ChatRequest) -> None:
        cut = ChatResponse(text='{"na', finish_reason="length")
        provider = ScriptedProvider([cut, ADA])
        error = await failure(provider, request_, retries=1, truncation="grow")
        assert (code(error), len(provider.requests)) == ("truncated", 1)

    async def test_a_provider_error_ends_it_at_once_even_with_retries_left(
        self, request_: ChatRequest
    ) -> None:
        slow = RateLimited("slow down", retry_after=3.0)
        provider = ScriptedProvider([slow, ADA])
        with pytest.raises(RateLimited) as caught:
            await extract(provider, request_, Person, retries=3)
        assert caught.value is slow
        assert (caught.value.retryable, caught.value.retry_after) == (True, 3.0)
        record = ExtractionMetadata.from_error(slow)
        assert record is not None
        assert (record.passes, record.calls) == (0, 1)

    async def test_the_passes_before_a_provider_error_are_on_its_record(
        self, request_: ChatRequest
    ) -> None:
        bad = text_response("not json", Usage(input_tokens=500, output_tokens=50))
        limited = RateLimited("slow down")
        provider = ScriptedProvider([bad, limited])
        with pytest.raises(RateLimited) as caught:
            await extract(provider, request_.with_option(ExtractionMode.NATIVE), Person, retries=1)
        assert caught.value is limited
        record = ExtractionMetadata.from_error(caught.value)
        assert record is not None
        assert record.passes == 1
        assert record.usage == Usage(input_tokens=500, output_tokens=50)
        assert record.calls == 2

    async def test_an_error_that_is_not_ours_carries_its_record_too(
        self, request_: ChatRequest
    ) -> None:
        with pytest.raises(ZeroDivisionError) as caught:
            await extract(
                ScriptedProvider(["bad", ZeroDivisionError()]), request_, Person, retries=1
            )
        record = ExtractionMetadata.from_error(caught.value)
        assert record is not None
        assert record.passes == 1

    async def test_usage_is_summed_over_every_pass(self, request_: ChatRequest) -> None:
        answers = [
            text_response("bad", Usage(input_tokens=5)),
            text_response("worse"),
            text_response(ADA, Usage(input_tokens=7, output_tokens=1)),
        ]
        result = await extract(
            ScriptedProvider(answers), request_, Person, retries=2, mode=ExtractionMode.NATIVE
        )
        assert result.metadata.usage == Usage(input_tokens=12, output_tokens=1)

    async def test_usage_nobody_reported_is_none(self, request_: ChatRequest) -> None:
        result = await extract(ScriptedProvider([ADA]), request_, Person)
        assert result.metadata.usage is None

    async def test_the_last_retry_changes_mode_when_it_fails_the_same_way_twice(
        self, request_: ChatRequest
    ) -> None:
        provider = ScriptedProvider(["no", "still no", calls(call(ADA))])
        result = await extract(provider, request_, Person, retries=2)
        assert [sent.tool_choice is not None for sent in provider.requests] == [
            False,
            False,
            True,
        ]
        assert result.metadata.mode is ExtractionMode.FORCED_TOOL
        assert result.metadata.auto_fallback is None
        [step] = result.metadata.fallbacks
        assert (step.kind, step.code) == ("mode", "parse")

    async def test_an_explicit_mode_is_kept_whatever_fails(self, request_: ChatRequest) -> None:
        provider = ScriptedProvider(["no", "no", ADA])
        result = await extract(provider, request_, Person, retries=2, mode=ExtractionMode.NATIVE)
        assert result.metadata.mode is ExtractionMode.NATIVE
        assert result.metadata.fallbacks == ()


class TestUndeclaredKeys:
    async def test_a_misspelled_optional_field_rejects_the_pass(
        self, request_: ChatRequest
    ) -> None:
        text = '{"name": "Ada", "contact": {"email": "a@b", "phne": "1"}}'
        error = await failure(ScriptedProvider([text]), request_)
        found = error.error.model_dump()["undeclared"]
        assert (found["key"], found["path"]) == ("phne", "contact.phne")
        assert found["declared"] == ("email", "phone")
        assert error.metadata.undeclared_key_rejections == 1
        assert "did you mean phone?" in str(error)

    async def test_each_rejection_counts_also_when_asked_again(self, request_: ChatRequest) -> None:
        provider = ScriptedProvider(['{"name": "Ada", "agee": 1}', ADA])
        result = await extract(provider, request_, Person, retries=1)
        assert result.metadata.undeclared_key_rejections == 1
        assert "agee" in provider.requests[1].messages[-1].text

    async def test_they_may_be_ignored(self, request_: ChatRequest) -> None:
        result = await extract(
            ScriptedProvider(['{"name": "Ada", "agee": 1}']), request_, Person, undeclared="ignore"
        )
        assert result.value == Person(name="Ada")


class TestValidators:
    async def test_a_validator_may_ask_again_and_knows_the_attempt(
        self, request_: ChatRequest
    ) -> None:
        seen: list[ValidatorContext] = []

        def adult(value: Person, context: ValidatorContext) -> None:
            seen.append(context)
            if value.age < 18:
                raise AskAgain("the caller is an adult")

        provider = ScriptedProvider(['{"name": "Ada", "age": 3}', ADA])
        result = await extract(
            provider, request_, Person, retries=1, validators=(adult,), context={"k": 1}
        )
        assert result.value.age == 36
        assert [(c.attempt, c.last, c.partial) for c in seen] == [
            (1, False, False),
            (2, True, False),
        ]
        assert seen[0].values == {"k": 1}
        assert "the caller is an adult" in provider.requests[1].messages[-1].text

    async def test_an_async_validator_is_awaited(self, request_: ChatRequest) -> None:
        async def never(value: Person, context: ValidatorContext) -> None:
            await asyncio.sleep(0)
            raise ValueError("no")

        assert code(await failure(ScriptedProvider([ADA]), request_, validators=(never,))) == (
            "validation"
        )

    async def test_pydantic_validators_see_context_and_attempt(self, request_: ChatRequest) -> None:
        class Known(BaseModel):
            name: str

            @field_validator("name")
            @classmethod
            def known(cls, name: str, info: ValidationInfo) -> str:
                assert info.context is not None
                assert info.context["extraction"].attempt == 1
                if name not in info.context["names"]:
                    raise ValueError("unknown name")
                return name

        context = {"names": ["Ada"]}
        result = await extract(
            ScriptedProvider(['{"name": "Ada"}']), request_, Known, context=context
        )
        assert result.value.name == "Ada"
        error = await failure(ScriptedProvider(['{"name": "X"}']), request_, Known, context=context)
        assert code(error) == "validation"

    async def test_a_value_without_its_faulty_fields_may_be_accepted_at_the_end(
        self, request_: ChatRequest
    ) -> None:
        result = await extract(
            ScriptedProvider(['{"name": "Ada", "age": "x"}']),
            request_,
            Person,
            on_exhausted="partial",
        )
        assert result.value == Person(name="Ada")
        assert result.issues == ("age (int_parsing)",)

    async def test_what_is_left_must_still_be_a_value(self, request_: ChatRequest) -> None:
        error = await failure(ScriptedProvider(['{"name": 3}']), request_, on_exhausted="partial")
        assert code(error) == "validation"


class TestGrounding:
    async def test_values_are_found_in_the_users_words(self, request_: ChatRequest) -> None:
        result = await extract(
            ScriptedProvider([ADA]), request_, Person, evidence=GroundingPolicy()
        )
        assert result.evidence == (
            Evidence(path="name", status="exact", message=0, start=0, end=3, score=1.0),
            Evidence(path="age", status="exact", message=0, start=7, end=9, score=1.0),
        )
        assert result.metadata.grounding is not None
        assert result.metadata.grounding.located == 2

    async def test_an_invented_value_may_be_rejected(self, request_: ChatRequest) -> None:
        provider = ScriptedProvider(['{"name": "Grace", "age": 36}', ADA])
        policy = GroundingPolicy(on_ungrounded="reject")
        result = await extract(provider, request_, Person, retries=1, evidence=policy)
        assert result.value.name == "Ada"
        assert result.metadata.attempts[0].error_code == "ungrounded"


class TestParse:
    def test_a_response_at_hand_is_parsed_without_a_call(self) -> None:
        result = Extractor().parse(text_response(ADA), Person)
        assert result.value.age == 36
        assert result.metadata == ExtractionMetadata.new(ExtractionMode.NATIVE)

    @pytest.mark.parametrize("text", ["[1, 2]", '{"value": [1, 2]}'])
    def test_a_value_that_is_no_object_may_stand_bare(self, text: str) -> None:
        assert Extractor().parse(text, list[int]).value == [1, 2]
        assert not Extractor().parse(text, list[int]).metadata.repaired

    def test_a_text_and_a_tool_call_are_parsed_too(self) -> None:
        assert Extractor().parse(ADA, Person).value.name == "Ada"
        result = Extractor().parse(calls(call(ADA)), Person)
        assert result.metadata.mode is ExtractionMode.FORCED_TOOL

    def test_the_same_rules_and_failures_hold(self) -> None:
        assert Extractor(repair=True).parse(f"```\n{ADA}\n```", Person).metadata.repaired
        with pytest.raises(ExtractFailure) as caught:
            Extractor().parse('{"name": "Ada", "agee": 1}', Person)
        assert code(caught.value) == "undeclared_key"
        assert caught.value.metadata.passes == 0
        assert caught.value.metadata.undeclared_key_rejections == 1


async def test_a_cancelled_extraction_leaves_a_consistent_record(request_: ChatRequest) -> None:
    class Waiting(ScriptedProvider):
        async def chat(self, request: ChatRequest) -> ChatResponse:
            if self.requests:
                await asyncio.sleep(60)
            return await super().chat(request)

    provider = Waiting(["bad", ADA])
    task = asyncio.create_task(extract(provider, request_, Person, retries=1))
    while not provider.requests:
        await asyncio.sleep(0)
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    record = ExtractionMetadata.from_error(caught.value)
    assert record is not None
    assert (record.passes, record.calls) == (1, 2)


async def test_a_copy_keeps_the_other_settings() -> None:
    extractor = Extractor(retries=2, repair=True).with_(retries=1)
    assert (extractor.retries, extractor.repair) == (1, True)
