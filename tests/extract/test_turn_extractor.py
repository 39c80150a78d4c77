"""What a turn extractor promises, and one run of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from flowengine.errors import FlowError
from flowengine.extract import (
    ExtractionFailed,
    Interval,
    LlmExtractor,
    Promotion,
    Raise,
    RegexExtractor,
    TurnExtractor,
    run_turn_extractor,
    spec_of,
)
from flowengine.inputs import Json
from flowengine.llm import ScriptedProvider
from flowengine.transcript import Turn

pytestmark = pytest.mark.anyio


class OrderNumber(TurnExtractor):
    name = "order_info"
    window = 5

    def should_extract(self, window: Any) -> bool:
        return len(window[-1].user.split()) >= 3

    async def extract(self, window: Any) -> dict[str, Json]:
        text = " ".join(f"{turn.user} {turn.model}" for turn in window)
        found = re.search(r"order\s+#?(\d+)", text)
        return {"order_number": found[1]} if found else {}


class Given(TurnExtractor):
    """Answers what it was made with."""

    name = "given"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def extract(self, window: Any) -> Any:
        return self.answer


def every_kind() -> list[Any]:
    schema = {"type": "object", "properties": {"order_number": {"type": "string"}}}
    llm = ScriptedProvider(['{"order_number": "7781"}'])
    return [
        pytest.param(OrderNumber(), id="own"),
        pytest.param(RegexExtractor("order_info", {"order_number": r"order #?(\d+)"}), id="regex"),
        pytest.param(LlmExtractor("order_info", llm, "The order.", schema=schema), id="llm"),
    ]


@pytest.mark.parametrize("extractor", every_kind())
async def test_every_kind_keeps_the_contract(extractor: TurnExtractor) -> None:
    assert isinstance(extractor, TurnExtractor)
    assert spec_of(extractor).name == "order_info"
    window = (Turn(1, "it is about order #7781", "One moment."),)
    assert await run_turn_extractor(extractor, window, {}) == {"order_number": "7781"}


async def test_a_turn_that_is_not_worth_it_is_skipped_before_anything_runs() -> None:
    assert await run_turn_extractor(OrderNumber(), (Turn(1, "order 5"),), {}) is None


async def test_a_plain_function_will_do_and_finding_nothing_is_not_a_skip() -> None:
    assert await run_turn_extractor(Given({"a": 1}), (Turn(1, "hi"),), {}) == {"a": 1}
    assert await run_turn_extractor(Given(None), (Turn(1, "hi"),), {}) == {}


async def test_what_is_known_is_shown_read_only_to_an_extractor_that_asks_for_it() -> None:
    class Next(TurnExtractor):
        name = "next"

        async def extract(self, window: Any, state: Mapping[str, Json]) -> dict[str, Json]:
            with pytest.raises(TypeError):
                state["count"] = 9  # pyright: ignore[reportIndexIssue]
            count = state["count"]
            assert isinstance(count, int)
            return {"count": count + 1}

    known = {"count": 4}
    assert await run_turn_extractor(Next(), (Turn(1, "hi"),), known) == {"count": 5}
    assert known == {"count": 4}


@pytest.mark.parametrize(
    ("window", "runs"),
    [
        ((Turn(1, "uh huh"),), False),
        ((Turn(1, "seven in the evening"), Turn(2, "", "Noted.")), True),
        ((Turn(1, "seven in the evening"), Turn(2, "ok")), False),
        ((Turn(1, "", "Hello."),), True),  # nobody is transcribed: words cannot be counted
    ],
)
async def test_min_words_counts_the_newest_caller_utterance(
    window: tuple[Turn, ...], runs: bool
) -> None:
    class Wordy(Given):
        min_words = 3

    assert (await run_turn_extractor(Wordy({}), window, {}) is not None) is runs


async def test_values_become_json_and_what_cannot_is_a_failure_with_its_place() -> None:
    found = await run_turn_extractor(Given({"due": date(2026, 3, 1)}), (Turn(1, "hi"),), {})
    assert found == {"due": "2026-03-01"}
    with pytest.raises(ExtractionFailed) as failed:
        await run_turn_extractor(Given({"due": {"a secret"}}), (Turn(1, "hi"),), {})
    assert (failed.value.place, failed.value.code) == ("given.due", "not_json")
    assert "secret" not in str(failed.value)


async def test_an_answer_that_is_no_object_is_a_failure_without_its_words() -> None:
    with pytest.raises(ExtractionFailed, match=r"^given: not_an_object \(a str\)$") as failed:
        await run_turn_extractor(Given("my number is 12345"), (Turn(1, "hi"),), {})
    assert failed.value.code == "not_an_object"


async def test_a_fault_of_ones_own_code_is_passed_on() -> None:
    class Broken(Given):
        def extract(self, window: Any) -> Any:
            return {"a": 1 / 0}

    with pytest.raises(ZeroDivisionError):
        await run_turn_extractor(Broken({}), (Turn(1, "hi"),), {})


def test_an_extractor_is_flow_data_down_to_what_it_may_write() -> None:
    class Signals(Given):
        window = 4
        trigger = Interval(interval=2)
        promotions = (Promotion(field="agreed", to="consent", policy="true_only"),)
        on_failure = Raise.model_validate({"raise": "lost"})
        min_words = 2
        timeout = "800ms"

    spec = spec_of(Signals({}))
    assert (spec.window, spec.trigger, spec.min_words) == (4, Interval(interval=2), 2)
    assert (spec.promote, spec.on_failure) == (Signals.promotions, Signals.on_failure)
    assert spec.timeout == "800ms"
    regex = RegexExtractor("r", {"amount": r"\d+", "agreed": {"yes": True}})
    assert list(spec_of(regex).schema_["properties"]) == ["amount", "agreed"]


def test_wrong_attributes_are_named_all_at_once() -> None:
    class Wrong(Given):
        window = 99
        timeout = "soon"

    with pytest.raises(FlowError) as failed:
        spec_of(Wrong({}))
    assert re.search(
        r"extractor Wrong: `window`: .*50.*; `timeout`: .*write 500ms", str(failed.value)
    )


def test_a_wrong_choice_is_told_with_the_others_and_once() -> None:
    class Wrong(Given):
        trigger: Any = "every_trun"
        on_failure: Any = "retry"

    with pytest.raises(FlowError) as failed:
        spec_of(Wrong({}))
    assert str(failed.value) == (
        "extractor Wrong: `trigger` takes every_turn, after_tool_call, on_phase_change, "
        "on_generation_complete, Interval(interval=n), not 'every_trun'. Did you mean "
        "'every_turn'?; `on_failure` takes continue, hold, Raise(raise_='event'), not 'retry'."
    )


def test_an_extractor_without_a_name_is_told_so() -> None:
    class Nameless(TurnExtractor):
        def extract(self, window: Any) -> dict[str, Json]:
            return {}

    with pytest.raises(FlowError, match=r"extractor Nameless: `name`: .*string"):
        spec_of(Nameless())
