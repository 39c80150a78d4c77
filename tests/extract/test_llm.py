"""Extraction by a language model, on the wire where the wire matters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, field_validator, model_validator
from typing_extensions import TypedDict

from flowengine.errors import FlowError
from flowengine.extract import (
    ExtractionFailed,
    ExtractSpec,
    Interval,
    LlmExtractor,
    Promotion,
    Providers,
    RegexExtractor,
    extract_turns,
    from_spec,
    run_turn_extractor,
    spec_of,
)
from flowengine.inputs import Json
from flowengine.llm import GeminiProvider, RetryingProvider, RetryPolicy, ScriptedProvider
from flowengine.testing.fake_gemini import FakeGemini, Reply, blocked
from flowengine.transcript import Turn

pytestmark = pytest.mark.anyio

SCHEMA = {
    "type": "object",
    "properties": {
        "slot": {"type": "string", "description": "When."},
        "people": {"type": "integer"},
        "mood": {"enum": ["calm", "angry"]},
    },
    "required": ["slot", "people"],
    "additionalProperties": False,
}
WINDOW = (
    Turn(1, "a table for four please", "For what time?"),
    Turn(2, "seven tomorrow evening", "Seven it is. Anything else?"),
)


class Quoted(Promotion):
    """A promotion whose field is asked for together with the caller's words."""

    quote: bool = True


def booking(provider: Any, **more: Any) -> LlmExtractor:
    more = {"schema": SCHEMA, "model": "gemini-test", **more}
    return LlmExtractor("booking", provider, "The booking.", 3, **more)


# -- what is asked ------------------------------------------------------------------------------


async def test_every_top_level_field_accepts_null_on_the_wire_and_nulls_say_nothing(
    gemini: FakeGemini, provider: GeminiProvider
) -> None:
    gemini.says('{"slot": "seven", "people": null, "mood": null}')
    assert await run_turn_extractor(booking(provider), WINDOW, {}) == {"slot": "seven"}
    sent = gemini.requests[0].body["generationConfig"]["responseJsonSchema"]
    assert sent["required"] == ["slot", "people", "mood"]
    for part in sent["properties"].values():
        assert part["anyOf"][1] == {"type": "null"}
    assert sent["properties"]["slot"]["description"] == "When."
    assert gemini.requests[0].model == "gemini-test"


async def test_a_null_inside_a_value_is_told_from_one_that_strict_output_brings(
    gemini: FakeGemini, provider: GeminiProvider
) -> None:
    inner = {"name": {"type": "string"}, "note": {"type": ["string", "null"]}}
    schema = {"type": "object", "properties": {"who": {"type": "object", "properties": inner}}}
    gemini.says('{"who": {"name": null, "note": null}}')
    found = await booking(provider, schema=schema).extract(WINDOW)
    assert found == {"who": {"note": None}}


async def test_known_values_are_shown_by_field_and_the_latest_turn_is_quoted_last(
    gemini: FakeGemini, provider: GeminiProvider
) -> None:
    gemini.says("{}")
    promotions = (Promotion(field="slot", to="booking_slot"), Promotion(field="mood"))
    extractor = booking(provider, promotions=promotions)
    known = {"booking_slot": "seven tomorrow", "people": 4, "identity_verified": True}
    await run_turn_extractor(extractor, WINDOW, known)
    [content] = gemini.requests[0].body["contents"]
    text = content["parts"][0]["text"]
    assert 'Already known: {"slot": "seven tomorrow", "people": 4}' in text
    assert text.endswith('\n\nThe caller\'s latest turn: "seven tomorrow evening"')
    assert "identity_verified" not in json.dumps(gemini.requests[0].body)


async def test_no_thinking_is_asked_for_as_0_then_64_then_not_at_all_and_learned(
    gemini: FakeGemini, provider: GeminiProvider
) -> None:
    for _ in range(2):
        gemini.fails(400, "Request contains an invalid argument.", name="INVALID_ARGUMENT")
    gemini.says('{"slot": "seven"}')
    gemini.says('{"slot": "eight"}')
    extractor = booking(provider)
    assert await extractor.extract(WINDOW) == {"slot": "seven"}
    assert await extractor.extract(WINDOW) == {"slot": "eight"}
    budgets = [seen.body["generationConfig"].get("thinkingConfig") for seen in gemini.requests]
    sent = [budget and next(iter(budget.values())) for budget in budgets]
    assert sent == [0, 64, None, None]


@pytest.mark.parametrize(("budget", "sent"), [(None, None), (256, 256)])
async def test_a_budget_is_sent_as_given_and_none_leaves_the_models_default(
    gemini: FakeGemini, provider: GeminiProvider, budget: int | None, sent: int | None
) -> None:
    gemini.says("{}")
    await booking(provider, thinking_budget=budget).extract(WINDOW)
    config = gemini.requests[0].body["generationConfig"].get("thinkingConfig")
    assert (config and next(iter(config.values()))) == sent


async def test_a_quoted_field_brings_the_callers_words_with_it() -> None:
    model = ScriptedProvider(
        ['{"slot": "19:00", "slot_quote": "seven tomorrow", "people": null, "people_quote": "x"}']
    )
    promotions = (Quoted(field="slot"), Quoted(field="people"), Promotion(field="mood"))
    found = await booking(model, promotions=promotions).extract(WINDOW)
    assert found == {"slot": "19:00", "slot_quote": "seven tomorrow"}
    asked = model.requests[0].response_format
    assert asked is not None
    assert asked.json_schema is not None
    names = ["slot", "slot_quote", "people", "people_quote", "mood"]
    assert list(asked.json_schema["properties"]) == names


async def test_without_a_model_the_environment_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedProvider(["{}", "{}"])
    monkeypatch.setenv("GEMINI_TEXT_MODEL", "gemini-of-mine")
    await booking(model, model=None).extract(WINDOW)
    monkeypatch.delenv("GEMINI_TEXT_MODEL")
    await booking(model, model=None).extract(WINDOW)
    assert [asked.model for asked in model.requests] == ["gemini-of-mine", "gemini-flash-latest"]


# -- when it runs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "more", "runs"),
    [
        ((Turn(1, "at seven please"), Turn(2, "", "It is booked.")), {}, False),
        ((Turn(1, "", "Hello."), Turn(2, "", "It is booked.")), {}, True),
        ((Turn(1, "at seven please"), Turn(2, "", "Done.")), {"trigger": "after_tool_call"}, True),
        ((Turn(1, "yes"),), {"min_words": 3}, False),
        ((), {}, False),
    ],
)
async def test_an_every_turn_extractor_skips_a_silent_or_short_turn(
    window: tuple[Turn, ...], more: dict[str, Any], runs: bool
) -> None:
    model = ScriptedProvider(["{}"])
    found = await run_turn_extractor(booking(model, **more), window, {})
    assert (found is not None) is runs
    assert len(model.requests) == runs


# -- what comes back ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ['```json\n{"slot": "seven"}\n```', 'Here: {"slot": "seven"}', '{"slot": "seven",}']
)
async def test_what_surrounds_the_json_is_taken_off_without_another_call(text: str) -> None:
    model = ScriptedProvider([text])
    assert await booking(model).extract(WINDOW) == {"slot": "seven"}


async def test_a_field_that_does_not_fit_is_dropped_and_counted_and_the_rest_lands() -> None:
    bad = {"slot": "seven", "people": "a few", "mood": "livid", "admin": True}
    extractor = booking(ScriptedProvider([json.dumps(bad), json.dumps({"people": "x"})]))
    answer = await extractor.ask(WINDOW)
    assert answer.fields == {"slot": "seven"}
    assert sorted(answer.dropped) == ["* (undeclared)", "mood (schema)", "people (schema)"]
    assert await extractor.extract(WINDOW) == {}
    assert extractor.dropped["people (schema)"] == 2
    assert answer.metadata.calls == 1


async def test_half_a_character_is_dropped_before_it_reaches_state() -> None:
    extractor = booking(ScriptedProvider(['{"slot": "\\ud83d", "people": 4}']))
    assert await extractor.extract(WINDOW) == {"people": 4}
    assert extractor.dropped == {"slot (unicode)": 1}


async def test_output_that_is_no_json_fails_at_once_with_a_code_and_no_words() -> None:
    model = ScriptedProvider(["The caller, Jane Smith, wants seven."])
    with pytest.raises(ExtractionFailed) as failed:
        await booking(model).extract(WINDOW)
    assert (failed.value.place, failed.value.code) == ("booking", "parse")
    assert "Jane" not in f"{failed.value} {failed.value!r} {failed.value.__cause__!r}"
    assert len(model.requests) == 1


# -- faults of the service ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault", [429, 500, 503, "drop"], ids=["rate", "internal", "overloaded", "transport"]
)
async def test_a_passing_fault_is_retried_once_after_300_ms(
    gemini: FakeGemini, provider: GeminiProvider, fault: int | str
) -> None:
    if isinstance(fault, int):
        gemini.fails(fault, retry_delay="9s")
    else:
        gemini.script(Reply(fault="drop"))
    gemini.says('{"slot": "seven"}')
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    assert await booking(provider, sleep=sleep).extract(WINDOW) == {"slot": "seven"}
    assert slept == [0.3]
    assert gemini.calls == 2


@pytest.mark.parametrize(
    ("status", "calls", "code"),
    [(503, 2, "overloaded"), (429, 2, "rate_limited"), (403, 1, "auth_failed")],
)
async def test_a_fault_that_stays_is_a_code(
    gemini: FakeGemini, provider: GeminiProvider, status: int, calls: int, code: str
) -> None:
    for _ in range(3):
        gemini.fails(status, "the caller said: seven tomorrow evening")

    async def sleep(seconds: float) -> None: ...

    with pytest.raises(ExtractionFailed) as failed:
        await run_turn_extractor(booking(provider, sleep=sleep), WINDOW, {})
    assert (failed.value.code, gemini.calls) == (code, calls)
    assert "seven" not in f"{failed.value} {failed.value.__cause__}"


async def test_a_blocked_answer_is_a_code(gemini: FakeGemini, provider: GeminiProvider) -> None:
    gemini.script(Reply(blocked()))
    with pytest.raises(ExtractionFailed) as failed:
        await booking(provider).extract(WINDOW)
    assert failed.value.code == "blocked"


async def test_a_retrying_provider_keeps_its_own_rules(
    gemini: FakeGemini, provider: GeminiProvider
) -> None:
    gemini.fails(503)
    once = RetryingProvider(provider, RetryPolicy(max_attempts=1))
    with pytest.raises(ExtractionFailed):
        await booking(once).extract(WINDOW)
    assert gemini.calls == 1


# -- a type's fields ----------------------------------------------------------------------------


class Model(BaseModel):
    score: Annotated[float, Field(ge=0, le=1)]
    name: str = "nobody"

    @field_validator("name")
    @classmethod
    def _tidy(cls, name: str) -> str:
        if not name.strip():
            raise ValueError("empty")
        return name.strip().title()

    @model_validator(mode="after")
    def _whole(self) -> Model:
        raise ValueError("asked of the whole only")


@dataclass
class Plain:
    score: Annotated[float, Field(ge=0, le=1)]
    name: Annotated[str, AfterValidator(str.title)] = "nobody"


class Loose(TypedDict):
    score: Annotated[float, Field(ge=0, le=1)]
    name: Annotated[str, AfterValidator(str.title)]


@pytest.mark.parametrize("wanted", [Model, Plain, Loose])
async def test_a_types_fields_are_checked_and_read_one_by_one(wanted: type[Any]) -> None:
    model = ScriptedProvider(
        ['{"score": 7, "name": "jane smith"}', '{"score": 0.5, "name": null}', '{"name": 5}']
    )
    extractor = extract_turns(wanted, model, "Who.", model="m")
    assert (extractor.name, extractor.window, extractor.min_words) == (wanted.__name__, 3, 3)
    assert await extractor.extract(WINDOW) == {"name": "Jane Smith"}
    assert await extractor.extract(WINDOW) == {"score": 0.5}
    assert await extractor.extract(WINDOW) == {}
    assert set(spec_of(extractor).schema_["properties"]) == {"score", "name"}


async def test_a_fields_own_validator_drops_that_field_alone() -> None:
    extractor = extract_turns(Model, ScriptedProvider(['{"score": 1, "name": " "}']), "", model="m")
    assert await extractor.extract(WINDOW) == {"score": 1.0}
    assert extractor.dropped == {"name (value_error)": 1}


def test_what_has_no_fields_cannot_be_extracted() -> None:
    model = ScriptedProvider()
    with pytest.raises(FlowError, match="'n' takes a schema with properties, or a type"):
        LlmExtractor("n", model, "What?")
    with pytest.raises(FlowError, match="'n' has no fields"):
        LlmExtractor("n", model, "What?", schema={"type": "string"})
    with pytest.raises(FlowError, match=r"'n': not a JSON Schema at \$\.type"):
        LlmExtractor("n", model, "What?", schema={"type": "strange"})


# -- as flow data -------------------------------------------------------------------------------


async def test_an_entry_of_a_flow_is_the_same_extractor_there_and_back() -> None:
    entry = {
        "name": "DebtorState",
        "instruction": "Extract emotional state and negotiation intent.",
        "schema": SCHEMA,
        "window": 5,
        "trigger": {"interval": 2},
        "min_words": 3,
        "promote": [{"field": "mood", "to": "emotional_state", "policy": "overwrite"}],
        "on_failure": "hold",
        "timeout": "3s",
    }
    spec = ExtractSpec.model_validate(entry)
    extractor = from_spec(spec, ScriptedProvider())
    assert extractor.trigger == Interval(interval=2)
    assert spec_of(extractor) == spec.model_copy(update={"thinking_budget": 0})
    assert spec_of(from_spec(spec_of(extractor), ScriptedProvider())) == spec_of(extractor)


@pytest.mark.parametrize(
    ("own", "model", "budget"),
    [
        ({}, "of-the-flow", 64),
        ({"model": "its-own"}, "its-own", 64),
        ({"thinking_budget": 0}, "of-the-flow", 0),
        ({"thinking_budget": None}, "of-the-flow", None),
    ],
)
def test_an_entrys_own_model_and_budget_win_over_the_flows(
    own: dict[str, Any], model: str, budget: int | None
) -> None:
    spec = ExtractSpec.model_validate({"name": "n", "schema": SCHEMA, **own})
    mine, flows = ScriptedProvider(), ScriptedProvider()
    served = Providers({"its-own": mine, "of-the-flow": flows})
    extractor = from_spec(spec, served, model="of-the-flow", thinking_budget=64)
    assert (extractor.model, extractor.thinking_budget) == (model, budget)
    assert extractor.provider is (mine if model == "its-own" else flows)


def test_where_nobody_names_a_budget_no_thinking_is_asked_for() -> None:
    spec = ExtractSpec.model_validate({"name": "n", "schema": SCHEMA})
    assert from_spec(spec, ScriptedProvider(), thinking_budget=None).thinking_budget == 0


def test_its_repr_shows_neither_provider_nor_instruction() -> None:
    shown = repr(booking(GeminiProvider(api_key="key-that-must-not-leak")))
    assert "booking" in shown
    assert "key-that" not in shown


# -- the debt call's two extractors -------------------------------------------------------------


class DebtorState(BaseModel):
    emotional_state: str | None = Field(None, description="calm, cooperative, frustrated, angry")
    willingness_to_pay: float | None = Field(None, description="0.0 (refusing) to 1.0 (eager)")
    negotiation_intent: str | None = None
    cease_desist_requested: bool | None = None


async def test_the_debt_call_is_read_by_pattern_and_by_model(
    gemini: FakeGemini, provider: GeminiProvider
) -> None:
    def debt_fields(text: str, existing: Mapping[str, Json]) -> dict[str, Json]:
        agreed = "understand" in text and "disclosure_given" not in existing
        return {"disclosure_given": True} if agreed else {}

    regex = RegexExtractor("debt_fields", debt_fields, 10)
    state = extract_turns(
        DebtorState,
        provider,
        "Extract: emotional state, willingness to pay, negotiation intent, cease-and-desist.",
        window=5,
        trigger=Interval(interval=2),
        model="gemini-test",
    )
    gemini.says(
        '{"emotional_state": "frustrated", "willingness_to_pay": 0.3, '
        '"negotiation_intent": null, "cease_desist_requested": null}'
    )
    window = (
        Turn(1, "who is this", "This is an attempt to collect a debt. I understand you are busy."),
        Turn(2, "yes I understand, stop calling me at work"),
    )
    assert await run_turn_extractor(regex, window[:1], {}) == {}
    assert await run_turn_extractor(regex, window, {}) == {"disclosure_given": True}
    assert await run_turn_extractor(state, window, {}) == {
        "emotional_state": "frustrated",
        "willingness_to_pay": 0.3,
    }
    assert spec_of(state).name == "DebtorState"
