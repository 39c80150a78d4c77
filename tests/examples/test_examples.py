"""Every example runs, and does what its words promise."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py") if not path.name.startswith("test_"))


def run(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the script prints when it is run as one."""
    code: object = 0
    try:
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    except SystemExit as ended:
        code = ended.code
    assert code in (0, None)
    return capsys.readouterr().out


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_example_runs_as_a_script(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(name, capsys).strip()


def test_the_quickstart_says_what_is_missing_then_ends(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("quickstart.py", capsys)
    assert "size and pickup are missing" in printed
    assert "Repeat 2 medium pizzas at 18:30" in printed


def test_the_demo_plays_one_call_to_its_end_and_says_what_the_totals_mean(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call, _, recorded = run("demo.py", capsys).partition("\nRecorded calls")
    assert "-> denied: confirmed is missing" in call
    assert "-> party_size = 5" in call
    assert "-> booked" in call
    assert recorded.index("with unmet needs") < recorded.index("What this means")


def test_the_flow_built_in_python_refuses_an_early_verification_and_ends_with_a_promise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    printed = run("debt_collection.py", capsys).splitlines()
    tools = [line for line in printed if line.startswith("tool:")]
    assert tools == [
        "tool:   verify_identity: denied, last_four is missing",
        "tool:   verify_identity: ran",
        "tool:   record_promise: ran",
    ]
    assert printed[-1].strip() == "-> close"


def test_our_own_dialogues_have_the_form_of_the_public_ones() -> None:
    text = (EXAMPLES / "dialogues" / "booking.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    assert len(rows) == 3
    for row in rows:
        assert row.keys() >= {"id", "services", "ref", "turns"}
        assert {turn["speaker"] for turn in row["turns"]} == {"user", "agent"}
        assert all(turn["text"] for turn in row["turns"])
