"""`flowengine replay`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flowengine.batch import Recording, recording_lines
from flowengine.flow.load import load
from flowengine.testing import Simulation

DATA = Path(__file__).parents[3] / "shared" / "data" / "dialogues" / "dialogues.jsonl"
TABLES = Path(__file__).parents[2] / "flows" / "table_booking"


def row(id: str, *words: str, **more: Any) -> str:
    turns = [{"speaker": "user", "text": text} for text in words]
    return json.dumps({"id": id, "ref": "2026-03-04", "turns": turns, **more})


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    file = tmp_path / "calls.jsonl"
    file.write_text(
        "\n".join(
            [
                row("a/1", "a table for four", services=["Tables"]),
                row("b/2", "hello, my name is Rosalind", services=["Chairs"]),
            ]
        )
    )
    return file


def test_each_call_shows_its_path_its_values_with_their_words_and_what_is_missing(
    run: Any, table: Path, calls: Path
) -> None:
    done = run("replay", table, calls)
    assert done.code == 0
    assert "a/1\n  ask > confirm (1)\n  people = 4  “four”  turn 1\n" in done.out
    assert "  still needed: people\n" in done.out
    assert "captured people" in done.out.replace("  ", " ")
    assert done.err == ""


def test_json_is_one_object_with_calls_and_a_summary(run: Any, table: Path, calls: Path) -> None:
    done = run("replay", table, calls, "--json")
    data = json.loads(done.out)
    assert list(data) == ["calls", "summary"]
    first = data["calls"][0]
    assert first["phases"] == [{"phase": "ask", "turn": 0}, {"phase": "confirm", "turn": 1}]
    assert first["captured"]["people"] == {
        "value": 4, "words": "four", "turn": 1, "confidence": 1.0, "by": "record:booking",
    }  # fmt: skip
    assert data["summary"]["phases"] == {"ask": 2, "confirm": 1}


@pytest.mark.parametrize(("part", "ids"), [("Chair", ["b/2"]), ("a/", ["a/1"]), ("x", [])])
def test_only_chooses_by_id_and_by_services(
    run: Any, table: Path, calls: Path, part: str, ids: list[str]
) -> None:
    data = json.loads(run("replay", table, calls, "--json", "--only", part).out)
    assert [call["id"] for call in data["calls"]] == ids


def test_secrets_are_masked_until_they_are_asked_for(run: Any, table: Path, calls: Path) -> None:
    assert "Rosalind" not in run("replay", table, calls).out
    assert "Rosalind" in run("replay", table, calls, "--reveal").out


def test_a_bad_row_is_named_by_its_line_and_the_rest_is_replayed(
    run: Any, table: Path, calls: Path
) -> None:
    calls.write_text("nonsense\n" + calls.read_text())
    done = run("replay", table, calls, "--json")
    assert done.code == 1
    assert done.err.startswith(f"{calls}:1: this line is not JSON")
    assert (
        json.loads(done.out)["summary"] | {"errors": 1, "replayed": 2}
        == json.loads(done.out)["summary"]
    )


def test_calls_start_with_the_state_they_are_given(run: Any, table: Path, calls: Path) -> None:
    done = run("replay", table, calls, "--state", "people=3", "--state", "zip=02139")
    assert done.code == 0
    wrong = run("replay", table, calls, "--state", "zp=1")
    assert wrong.code == 0  # any name may be a key; only what looks like a declared one is wrong
    assert run("replay", table, calls, "--state", "agred=true").code == 2
    assert run("replay", table, calls, "--state", "people").code == 2


def test_a_file_that_is_not_there_is_a_message_with_the_near_miss(
    run: Any, table: Path, calls: Path
) -> None:
    done = run("replay", table, calls.with_name("cals.jsonl"))
    assert (done.code, done.out) == (1, "")
    assert "Did you mean 'calls.jsonl'?" in done.err


def test_recorded_facts_are_compared(run: Any, table: Path, tmp_path: Path) -> None:
    call = Simulation(load(table))
    call.turn("a table for four", "Right?")
    facts = [json.loads(line) for line in call.lines]
    file = tmp_path / "recorded.jsonl"

    def replayed() -> Any:
        recording = Recording("s", "", call.inputs, call.inputs[0].at, facts=tuple(facts))
        file.write_text("\n".join(recording_lines(recording)))
        return run("replay", table, file)

    assert replayed().code == 0
    written = next(fact for fact in facts if fact["fact"] == "KeyWritten")
    written["new"] = 5
    done = replayed()
    assert done.code == 1
    assert f"differs from the recording at fact {written['id']}" in done.out
    assert '"new":5' in done.out
    assert '"new":4' in done.out


@pytest.mark.skipif(not DATA.exists(), reason="the public dialogues (../shared) are absent")
def test_every_public_dialogue_runs_in_a_pipe_without_an_error() -> None:
    code = "import sys; from flowengine.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "replay", str(TABLES), str(DATA), "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    data = json.loads(done.stdout)
    assert len(data["calls"]) == data["summary"]["replayed"] == 117
