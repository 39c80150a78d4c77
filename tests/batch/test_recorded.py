"""Inputs as JSON and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.batch import (
    Recording,
    RowError,
    inputs_from_json,
    inputs_to_json,
    read_calls,
    recording_lines,
)
from flowengine.inputs import (
    Admin,
    Generated,
    Heard,
    Input,
    Outcome,
    Said,
    Timer,
    ToolCalled,
    TurnEnded,
)

_text = st.text(max_size=8)
_at = st.integers(0, 2**53)
_json = st.recursive(st.none() | st.booleans() | st.integers() | _text, st.lists, max_leaves=4)
_object = st.dictionaries(_text, _json, max_size=3)
_status = st.sampled_from(["ok", "failed", "timed_out", "cancelled"])
_inputs: st.SearchStrategy[Input] = st.one_of(
    st.builds(Heard, _text, _at, _text, st.lists(_text, max_size=2).map(tuple)),
    st.builds(Said, _text, _at, _text, st.booleans()),
    st.builds(Generated, _text, _at, _text),
    st.builds(TurnEnded, _text, _at, _object),
    st.builds(ToolCalled, _text, _at, _text, _text, _object),
    st.builds(Outcome, _text, _at, _text, _status, _json, _text),
    st.builds(Timer, _text, _at, _text),
    st.builds(
        Admin, _text, _at, _object, st.lists(_text, max_size=2).map(tuple), st.none() | _text, _text
    ),
)


@given(st.lists(_inputs, max_size=3))
def test_every_input_comes_back_equal_through_json_text(inputs: list[Input]) -> None:
    text = json.dumps(inputs_to_json(inputs))
    assert inputs_from_json(json.loads(text)) == tuple(inputs)


def test_what_may_be_left_out_of_an_input_may_be_left_out() -> None:
    assert inputs_from_json([{"input": "TurnEnded", "id": "1", "at": 5}]) == (TurnEnded("1", 5),)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"input": "Heart"}, "Did you mean 'Heard'?"),
        ({"input": None}, "must be one of"),
        ({"input": "Heard", "id": "1", "at": 1, "txt": "x"}, "Did you mean 'text'?"),
        ({"input": "Heard", "id": "1", "at": 1}, "Heard.text does not fit"),
    ],
)
def test_what_is_no_input_says_so(data: dict[str, object], says: str) -> None:
    with pytest.raises(RowError, match=says.replace("?", r"\?")):
        inputs_from_json([data])


def test_a_session_s_lines_are_read_back_as_the_session(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    inputs = (Heard("1", 5, "hi"), TurnEnded("2", 5))
    call = Recording("s", f"{file}:1", inputs, 4, {"x": 1}, "ask", ({"fact": "A", "id": "1.0"},))
    file.write_text("\n".join(recording_lines(call)))
    assert list(read_calls(file)) == [call]
