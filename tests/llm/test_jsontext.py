from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.llm.jsontext import NotJson, parse_strict


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x), max_leaves=5))
def test_json_is_read_as_json(value: Any) -> None:
    assert parse_strict(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": 1, "a": 2}', "a key occurs twice in one object"),
        ("[" * 100_000, "nested too deeply"),
        ("[" * 101 + "]" * 101, "nested too deeply"),
        ('{"a":' * 101 + "1" + "}" * 101, "nested too deeply"),
        ("9" * 10_000, "a number is out of range"),
        ('{"a": 1} x', "Extra data"),
    ],
)
def test_what_is_not_quite_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(NotJson, match=message):
        parse_strict(text)


def test_a_hundred_levels_are_deep_enough() -> None:
    assert parse_strict("[" * 100 + "]" * 100)
    assert parse_strict("[" + "[]," * 500 + "[]]")


@pytest.mark.parametrize("text", ['{"a": ', '{"a": "b', "[1, 2", '{"a": tr', '{"a": "\\u12'])
def test_a_cut_is_told_apart_from_an_error(text: str) -> None:
    with pytest.raises(NotJson) as caught:
        parse_strict(text)
    assert caught.value.cut


@pytest.mark.parametrize("text", ["sorry", '{"a": 1,, ', "", "{'a': 1"])
def test_an_error_is_not_a_cut(text: str) -> None:
    with pytest.raises(NotJson) as caught:
        parse_strict(text)
    assert not caught.value.cut
