"""Bodies of another shape than promised: read as far as they go, never a fault of ours."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.llm import gemini_wire, openai_wire
from flowengine.llm.collect import Collector
from flowengine.llm.data import compact
from flowengine.llm.foreign import MOST, a_count, a_text, an_object, objects
from flowengine.testing.fake_gemini import answer, usage_counts

GEMINI: list[Any] = [
    answer({"text": "{}"}, usage=usage_counts(prompt=1, candidates=2, thoughts=3, cached=1)),
    answer({"functionCall": {"id": "1", "name": "f", "args": {}}, "thoughtSignature": "YWJj"}),
    {"promptFeedback": {"blockReason": "SAFETY"}},
]
CALL = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}
USAGE = {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}}
OPENAI: list[Any] = [
    {"id": "r", "model": "m", "usage": USAGE, "choices": [{role: told, "finish_reason": "stop"}]}
    for role in ("message", "delta")
    for told in ({"content": "{}", "refusal": None}, {"tool_calls": [CALL]})
]
JUNK: list[Any] = [None, True, -1, 1.5, 10**30, "", "x", [], [None], [[]], {}, {"a": None}]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path in a value but the root's."""
    inside = value.items() if isinstance(value, dict) else ()
    for key, child in enumerate(value) if isinstance(value, list) else inside:
        yield (*path, key)
        yield from places(child, (*path, key))


@st.composite
def spoiled(draw: st.DrawFn, bodies: list[Any]) -> Any:
    """A body of which one or two parts are something else."""
    body = copy.deepcopy(draw(st.sampled_from(bodies)))
    for _ in range(draw(st.integers(1, 2))):
        *above, last = draw(st.sampled_from(list(places(body))))
        holder = body
        for step in above:
            holder = holder[step]
        holder[last] = copy.deepcopy(draw(st.sampled_from(JUNK)))
    return body


@given(spoiled(GEMINI))
def test_gemini_answers_of_any_shape_are_read(body: Any) -> None:
    called = gemini_wire.read_response(compact(body), ())
    collected = Collector()
    reader = gemini_wire.ChunkReader()
    for event in (*reader.read(body), *reader.end()):
        collected.add(event)
    assert collected.response().usage == called.usage
    assert collected.response().text == called.text


@given(spoiled(OPENAI))
def test_openai_answers_of_any_shape_are_read(body: Any) -> None:
    openai_wire.read_response(body, ())
    collected = Collector()
    reader = openai_wire.ChunkReader()
    for event in (*reader.read(body), *reader.end()):
        collected.add(event)
    assert collected.response().raw is None


@pytest.mark.parametrize("value", [True, -1, 1.5, "3", None, [], MOST + 1])
def test_only_a_whole_number_counts(value: Any) -> None:
    assert a_count(value) is None


def test_what_has_the_right_shape_is_kept() -> None:
    assert (a_count(3), a_text("x"), an_object({"a": 1})) == (3, "x", {"a": 1})
    assert objects([{"a": 1}, None, 2, {}]) == [{"a": 1}, {}]
    assert (a_text(3), an_object([]), objects({})) == (None, {}, [])
