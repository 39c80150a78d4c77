"""The incremental scanner: whatever it shows, the finished document agrees with."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowengine.llm.partial import PartialJson

documents = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
).map(lambda value: {"value": value})


def agrees(partial: Any, final: Any) -> bool:
    """Whether the final value could have grown out of the partial one."""
    match partial, final:
        case dict(), dict():
            return all(key in final and agrees(part, final[key]) for key, part in partial.items())
        case list(), list():
            return len(partial) <= len(final) and all(map(agrees, partial, final))
        case str(), str():
            return final.startswith(partial)
        case _:
            return type(partial) is type(final) and partial == final


def reach(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@settings(max_examples=300, deadline=None)
@given(documents, st.booleans(), st.booleans())
def test_no_prefix_ever_contradicts_the_final_value(
    document: Any, ascii_only: bool, spaced: bool
) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only, indent=1 if spaced else None)
    final = json.loads(text)
    scan = PartialJson()
    for char in text:
        scan.feed(char)
        assert not scan.broken
        assert scan.value is None or agrees(scan.value, final)
        for path in scan.complete:
            assert reach(scan.value, path) == reach(final, path)
    assert scan.done
    assert scan.value == final


@given(documents, st.data())
def test_the_cut_between_chunks_does_not_matter(document: Any, data: st.DataObject) -> None:
    text = json.dumps(document)
    cut = data.draw(st.integers(0, len(text)))
    scan = PartialJson()
    scan.feed(text[:cut])
    scan.feed(text[cut:])
    assert scan.value == json.loads(text)


def test_half_a_number_is_not_shown_and_an_unfinished_string_is() -> None:
    scan = PartialJson()
    scan.feed('{"age": 3')
    assert scan.value == {}
    scan.feed('6, "name": "Ad')
    assert scan.value == {"age": 36, "name": "Ad"}
    assert scan.complete == [("age",)]


def test_half_an_escaped_pair_is_held_back() -> None:
    scan = PartialJson()
    scan.feed('["\\ud83d')
    assert scan.value == [""]
    scan.feed('\\ude00"]')
    assert scan.value == ["😀"]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1 "b"',
        "[1,]x",
        '{"a": tru1',
        "{a",
        '["\\x"',
        '{"a": 01',
        '{"a":1,"a":2',
        "nope",
        "[1}",
    ],
)
def test_an_error_stops_it_where_it_was(text: str) -> None:
    scan = PartialJson()
    scan.feed(text)
    before = json.dumps(scan.value)
    assert scan.broken
    scan.feed(' , "more": 1}')
    assert json.dumps(scan.value) == before
    assert scan.changed == []
