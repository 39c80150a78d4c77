"""Files of recorded calls."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from flowengine.batch import Dialogue, Recording, RowError, Unreadable, Utterance, read_calls

GOOD = '{"id": "a", "turns": [{"speaker": "user", "text": "hi"}]}'


def calls(tmp_path: Path, *lines: str | bytes) -> list[object]:
    file = tmp_path / "calls.jsonl"
    file.write_bytes(b"\n".join(x if isinstance(x, bytes) else x.encode() for x in lines))
    return list(read_calls(file))


def error(tmp_path: Path, line: str | bytes) -> str:
    (call,) = calls(tmp_path, line)
    assert isinstance(call, Unreadable)
    assert call.error.startswith(f"{tmp_path / 'calls.jsonl'}:1: ")
    return call.error


def test_a_dialogue_names_its_speakers_in_any_usual_way(tmp_path: Path) -> None:
    turns = [{"speaker": who, "text": who} for who in ("caller", "agent", "customer", "bot")]
    (call,) = calls(tmp_path, json.dumps({"turns": turns, "x": 1}))
    assert isinstance(call, Dialogue)
    assert [said.caller for said in call.utterances] == [True, False, True, False]
    assert call.id == "calls:1"


def test_other_hypotheses_leave_out_the_text_itself(tmp_path: Path) -> None:
    turn = {"speaker": "user", "text": "hi", "nbest": ["hi", "high", "high"]}
    (call,) = calls(tmp_path, json.dumps({"turns": [turn]}))
    assert isinstance(call, Dialogue)
    assert call.utterances == (Utterance(True, "hi", ("high",)),)


@pytest.mark.parametrize(
    ("ref", "instant"),
    [
        ("2019-03-01", datetime(2019, 3, 1, 9)),
        ("2019-03-01T10:30", datetime(2019, 3, 1, 10, 30)),
        ("2019-03-01T10:30+00:00", datetime.fromisoformat("2019-03-01T10:30+00:00")),
    ],
)
def test_a_call_of_which_only_the_day_is_known_is_in_the_morning(
    tmp_path: Path, ref: str, instant: datetime
) -> None:
    (call,) = calls(tmp_path, json.dumps({**json.loads(GOOD), "ref": ref}))
    assert isinstance(call, Dialogue)
    assert call.ref == instant


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        ("[1]", "a JSON object with `turns`"),
        ("[" * 100_000, "depth"),
        ("{}", "`turns` is missing"),
        ('{"turns": 3}', "`turns` must be a list"),
        ('{"turns": [3]}', "`turns[0]` must be an object"),
        ('{"turns": [{"speaker": "usr", "text": "x"}]}', "Did you mean 'user'?"),
        ('{"turns": [{"text": "x"}]}', "`turns[0].speaker` is missing"),
        ('{"turns": [{"speaker": ["x"], "text": "x"}]}', "is not known"),
        ('{"turns": [{"speaker": "user", "text": 5}]}', "`turns[0].text` must be text"),
        ('{"turns": [{"speaker": "user", "text": "x", "nbest": [1]}]}', "list of texts"),
        ('{"turns": [{"speaker": "user", "text": "x"}], "ref": "soon"}', "`ref` must be"),
        ('{"turns": [{"speaker": "user", "text": "x"}], "ref": 5}', "`ref` must be"),
        ('{"inputs": [{"input": "Herd"}]}', "Did you mean 'Heard'?"),
        ('{"inputs": [{"input": "Heard", "at": "x", "id": "1", "text": "t"}]}', "Heard.at"),
        ('{"start": {"at": true}}', "`at` must be milliseconds"),
        ('{"start": {"state": []}}', "`state` must be an object"),
        ('{"input": 4}', "`input` must be an object"),
    ],
)
def test_a_row_that_is_no_call_says_where_and_why(
    tmp_path: Path, line: str | bytes, says: str
) -> None:
    assert says in error(tmp_path, line)


def test_an_error_never_repeats_what_the_caller_said(tmp_path: Path) -> None:
    row = '{"inputs": [{"input": "Heard", "id": "1", "at": "secret", "text": "secret"}]}'
    assert "secret" not in error(tmp_path, row)


def test_a_bad_row_does_not_stop_the_others(tmp_path: Path) -> None:
    found = calls(tmp_path, GOOD, "", "{", GOOD)
    assert [type(call) for call in found] == [Dialogue, Unreadable, Dialogue]
    assert [getattr(call, "place", "").rpartition(":")[2] for call in found] == ["1", "3", "4"]


def test_a_file_that_is_not_there_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(RowError, match="no such file"):
        list(read_calls(tmp_path / "nothing.jsonl"))


def test_pieces_of_several_sessions_may_be_mixed(tmp_path: Path) -> None:
    heard = {"input": "Heard", "id": "1", "at": 5, "text": "hi"}
    found = calls(
        tmp_path,
        json.dumps({"session": "a", "start": {"at": 4, "state": {"x": 1}}}),
        json.dumps({"session": "b", "input": heard}),
        json.dumps({"session": "a", "input": heard}),
        json.dumps({"session": "a", "fact": {"fact": "WordsHeard", "id": "1.0"}}),
    )
    assert all(isinstance(call, Recording) for call in found)
    a, b = found
    assert isinstance(a, Recording)
    assert isinstance(b, Recording)
    assert (a.id, a.at, a.state, len(a.inputs), len(a.facts)) == ("a", 4, {"x": 1}, 1, 1)
    assert (b.id, b.at, len(b.inputs)) == ("b", None, 1)


def test_a_file_of_bare_inputs_is_one_session(tmp_path: Path) -> None:
    heard = '{"input": "Heard", "id": "1", "at": 5, "text": "hi"}'
    (call,) = calls(tmp_path, heard, heard.replace('"1"', '"2"'))
    assert isinstance(call, Recording)
    assert call.id == "calls"
    assert [input.id for input in call.inputs] == ["1", "2"]
