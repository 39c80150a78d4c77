"""Extraction by regular expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.errors import FlowError
from flowengine.extract import Promotion, RegexExtractor, run_turn_extractor
from flowengine.extract.record.compiled import Finding
from flowengine.inputs import Json
from flowengine.transcript import Turn


def test_the_value_is_the_group_that_took_part_else_the_whole_match() -> None:
    extractor = RegexExtractor(
        "debt",
        {
            "order": r"order #?(?P<number>\d+)|ticket (\d+)",
            "phone": r"\d{3}-\d{4}",
        },
    )
    assert extractor.extract((Turn(1, "ORDER 77 or call 555-0199"),)) == {
        "order": "77",
        "phone": "555-0199",
    }
    assert extractor.extract((Turn(1, "it was ticket 12"),)) == {"order": "12"}


def test_a_pattern_may_stand_for_a_value_of_its_own() -> None:
    extractor = RegexExtractor(
        "acks", {"disclosure_given": {r"\bi understand\b": True, r"\bi do(n't| not)\b": False}}
    )
    assert extractor.extract((Turn(1, "Yes, I understand."),)) == {"disclosure_given": True}
    assert extractor.extract((Turn(1, "I understand... no, I do not"),)) == {
        "disclosure_given": False
    }
    assert extractor.extract((Turn(1, "what?"),)) == {}


def test_only_the_caller_is_read_unless_both_are_asked_for() -> None:
    window = (Turn(1, "what is this about", "Sure, I understand, you owe $90."),)
    patterns = {"agreed": {"i understand": True}, "amount": r"\$\d+"}
    assert RegexExtractor("r", patterns).extract(window) == {}
    both = RegexExtractor("r", patterns, speakers=("caller", "model"))
    assert both.extract(window) == {"agreed": True, "amount": "$90"}


def test_the_newest_words_win_within_a_turn_and_between_turns() -> None:
    extractor = RegexExtractor("r", {"amount": r"\$(\d+)"})
    window = (Turn(1, "$10"), Turn(2, "$20, no, $30"), Turn(3, "fine"))
    assert extractor.findings(window) == (Finding("amount", "30", "caller", 2, (10, 12), rule="r"),)


def test_an_old_turn_fills_a_gap_but_never_replaces_what_is_known() -> None:
    promotions = (Promotion(field="amount", to="ptp_amount", policy="overwrite"),)
    extractor = RegexExtractor("r", {"amount": r"\$(\d+)"}, promotions=promotions)
    window = (Turn(1, "$10"), Turn(2, "that is all"))
    assert extractor.extract(window) == {"amount": "10"}
    assert extractor.extract(window, {"ptp_amount": "25"}) == {}
    assert extractor.extract((*window, Turn(3, "make it $40")), {"ptp_amount": "25"}) == {
        "amount": "40"
    }


DOLLARS = re.compile(r"\$\d[\d,]*")
ACKNOWLEDGED = re.compile(r"\b(i understand|understood|yes)\b", re.IGNORECASE)


def debt_fields(text: str, existing: Mapping[str, Json]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    if "dollar_amount" not in existing and (amount := DOLLARS.search(text)):
        found["dollar_amount"] = amount[0]
    if "disclosure_given" not in existing and ACKNOWLEDGED.search(text):
        found["disclosure_given"] = True
    return found


@pytest.mark.anyio
async def test_a_function_reads_turn_by_turn_newest_first() -> None:
    extractor = RegexExtractor(
        "debt_fields", debt_fields, 10, fields=("dollar_amount", "disclosure_given")
    )
    window = (Turn(1, "yes I understand"), Turn(2, "I can do $1,200"), Turn(3, "no, $800"))
    assert await run_turn_extractor(extractor, window, {}) == {
        "dollar_amount": "$800",
        "disclosure_given": True,
    }
    known = {"dollar_amount": "$800", "disclosure_given": False}
    silent = (*window, Turn(4, "thank you"))
    assert await run_turn_extractor(extractor, silent, known) == {}


def test_nothing_is_kept_between_runs() -> None:
    extractor = RegexExtractor("debt_fields", debt_fields)
    assert extractor.extract((Turn(1, "yes, $5"),)) != {}
    assert extractor.extract((Turn(1, "hello"),)) == {}


def test_a_pattern_that_re2_cannot_read_is_refused_with_its_place() -> None:
    with pytest.raises(FlowError, match=r"^debt\.amount: this pattern is not RE2 .*look-around"):
        RegexExtractor("debt", {"amount": r"(?<=\$)\d+"})
    with pytest.raises(FlowError, match=r"^debt\.amount: give a pattern as text"):
        RegexExtractor("debt", {"amount": ""})
    with pytest.raises(FlowError, match=r"^debt\.amount: give a pattern as text"):
        RegexExtractor("debt", {"amount": 3})  # pyright: ignore[reportArgumentType]


def test_unknown_speakers_are_refused() -> None:
    with pytest.raises(FlowError, match="'caller', 'model' or both"):
        RegexExtractor("r", {"a": "b"}, speakers=("agent",))  # pyright: ignore[reportArgumentType]
    with pytest.raises(FlowError, match="'caller', 'model' or both"):
        RegexExtractor("r", {"a": "b"}, speakers="caller")  # pyright: ignore[reportArgumentType]


def test_half_a_character_neither_breaks_the_reading_nor_moves_a_place() -> None:
    [found] = RegexExtractor("r", {"n": r"\d+"}).findings((Turn(1, "a \ud83d 42"),))
    assert (found.value, found.span) == ("42", (4, 6))


def test_a_long_turn_is_read_in_linear_time_up_to_a_bound() -> None:
    words = "a" * 9_000 + "b" * 50_000 + "!"
    assert RegexExtractor("r", {"x": r"(a*)*!"}).extract((Turn(1, words),)) == {}


@given(st.lists(st.text(max_size=60), min_size=1, max_size=6))
def test_a_value_stands_where_its_finding_says(said: list[str]) -> None:
    window = tuple(Turn(number, words) for number, words in enumerate(said, 1))
    for found in RegexExtractor("r", {"word": r"[^\s\d]+", "n": r"(\d)\d*"}).findings(window):
        assert found.span is not None
        start, end = found.span
        assert window[found.turn - 1].user[start:end] == found.value
        newer = window[found.turn :]
        assert not any(re.search(r"[^\s\d]+", t.user) for t in newer if found.field == "word")
