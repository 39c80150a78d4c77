"""Local repair: what it mends, what it says about it, and what it leaves alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from flowengine.llm import Extractor, RepairLevel
from flowengine.llm.repair import Mended, mend

documents = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(documents, st.sampled_from([None, 2]))
def test_valid_json_is_left_as_it_is(document: Any, indent: int | None) -> None:
    assert mend(json.dumps(document, indent=indent)) == Mended(document)


@settings(max_examples=200, deadline=None)
@given(documents, st.sampled_from(RepairLevel), st.booleans())
def test_what_was_valid_json_is_never_called_repaired(
    document: Any, level: RepairLevel, ascii_only: bool
) -> None:
    text = json.dumps({"value": document}, ensure_ascii=ascii_only)
    result = Extractor(repair=level).parse(text, TypeAdapter(Any))
    assert result.value == document
    assert not result.metadata.repaired
    assert result.metadata.repairs == ()


@given(documents)
def test_a_fence_is_taken_off_any_document(document: Any) -> None:
    mended = mend(f"Here you are:\n```json\n{json.dumps(document)}\n```\nAnything else?")
    assert mended is not None
    assert mended.value == document
    assert mended.repairs[0].code == "fence"


@pytest.mark.parametrize(
    ("text", "value", "codes"),
    [
        ('Sure! {"a": 1} Bye.', {"a": 1}, ["prose"]),
        ('{"a": 1,}', {"a": 1}, ["trailing_comma"]),
        ("{'a': 'b'}", {"a": "b"}, ["quotes"]),
        ("{“a”: “b”}", {"a": "b"}, ["quotes"]),
        ("{a: 1}", {"a": 1}, ["bare_key"]),
        ('{"a": True, "b": None}', {"a": True, "b": None}, ["python_word"]),
        ('{"a": NaN}', {"a": None}, ["not_a_number"]),
        ('{"a": [1, {"b": "c"', {"a": [1, {"b": "c"}]}, ["unclosed"]),
        ('{"a": 1 /* one */, // two\n "b": 2}', {"a": 1, "b": 2}, ["comment"]),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, ["missing_comma"]),
        ('{"a": 1, "a": 2}', {"a": 2}, ["duplicate_key"]),
        ('{"a": "x\ny"}', {"a": "x\ny"}, ["control_character"]),
        ('{"a": +1, "b": .5}', {"a": 1, "b": 0.5}, ["number_form"]),
    ],
)
def test_each_mend_is_named(text: str, value: Any, codes: list[str]) -> None:
    mended = mend(text)
    assert mended is not None
    assert mended.value == value
    assert list(dict.fromkeys(repair.code for repair in mended.repairs)) == codes
    assert all(repair.cost >= 1 for repair in mended.repairs)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "cut in the mid',
        '{"a": 12',
        '{"a": tru',
        '{"a": 1,',
        '{"a": {"b": 1}, "c": "cut',
        '{"a": [1, 2], "c": 3 4 5, [6]',
        "no json here",
        "",
        "{",
        '{"a" 1}',
        "[1}",
    ],
)
def test_what_was_cut_or_is_no_value_is_not_invented(text: str) -> None:
    assert mend(text) is None


def test_a_bracket_in_the_prose_does_not_hide_the_value() -> None:
    mended = mend('As said [see above], it is {"a": 1}.')
    assert mended is not None
    assert mended.value == {"a": 1}


def test_two_different_candidates_are_a_tie_and_two_equal_ones_are_not() -> None:
    assert mend('{"a": 1} or {"a": 2}') is None
    mended = mend('{"a": 1}, that is {"a": 1}')
    assert mended is not None
    assert mended.value == {"a": 1}


def test_deep_nonsense_ends() -> None:
    assert mend("{" * 5000) is None
    assert mend("[" * 5000) is None
