"""Recorded calls through the kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flowengine.batch import (
    CallReport,
    Dialogue,
    Options,
    Recording,
    Unreadable,
    Utterance,
    read_calls,
    replay,
    replay_folder,
    summary_of,
)
from flowengine.batch.playback import play
from flowengine.facts import MASK, RunEnded
from flowengine.flow.load import load
from flowengine.kernel import Kernel
from flowengine.testing import Simulation

START = Options(start=1_772_638_200_000)
DATA = Path(__file__).parents[3] / "shared" / "data" / "dialogues" / "dialogues.jsonl"
TABLES = Path(__file__).parents[2] / "flows" / "table_booking"


def dialogue(*lines: str, ref: Any = None) -> Dialogue:
    """Lines such as `c: hello` and `m: hi`."""
    said = tuple(Utterance(line[0] == "c", line[3:]) for line in lines)
    return Dialogue("call", "calls.jsonl:1", said, ref)


def report(folder: Path, *lines: str, options: Options = START) -> CallReport:
    (found,) = replay_folder(folder, [dialogue(*lines)], options)
    assert not found.error
    return found


def test_a_call_leaves_its_path_its_values_and_the_words_they_came_from(folder: Path) -> None:
    got = report(folder, "m: Hello", "c: a table for four", "m: When?", "c: on March the ninth")
    assert got.phases == (("ask", 0), ("confirm", 3))
    assert got.turns == 2
    assert got.captured["people"][:3] == (4, "four", 2)
    assert got.captured["day"][:3] == ("2026-03-09", "March the ninth", 3)
    assert got.unmet == ("agreed",)
    assert not got.ended
    assert got.facts > 10


def test_the_caller_speaking_again_ends_the_turn_before(folder: Path) -> None:
    got = report(folder, "c: hello", "c: a table for four")
    assert got.turns == 2
    assert got.captured["people"].turn == 2


def test_words_of_the_model_that_follow_its_own_belong_to_the_same_turn(folder: Path) -> None:
    one = report(folder, "c: a table for four", "m: Good.", "m: When?", "c: tomorrow")
    assert one.captured["day"].turn == 2


def test_time_passes_and_timers_ring_on_the_way(folder: Path) -> None:
    got = report(folder, *["c: hm", "m: Yes?"] * 7)
    assert [phase for phase, _ in got.phases] == ["ask", "gone"]
    assert got.ended


def test_an_extractor_lands_empty_and_the_call_goes_on(folder: Path) -> None:
    call = dialogue("c: a table for four")
    (kept,) = replay(load(folder), [call], START)
    assert set(kept.captured) == {"people"}
    assert kept.failed == ()
    playback = play(Kernel(load(folder)), call, START.start, {})
    ended = [fact for _, facts in playback.facts for fact in facts if isinstance(fact, RunEnded)]
    assert [(run.name, run.status, run.error) for run in ended] == [("Mood", "failed", "no_model")]


def test_a_day_is_read_in_the_flow_s_time_zone(folder: Path, tmp_path: Path) -> None:
    row = {"ref": "2019-03-01", "turns": [{"speaker": "user", "text": "tomorrow"}]}
    (tmp_path / "calls.jsonl").write_text(json.dumps(row))
    (got,) = replay_folder(folder, read_calls(tmp_path / "calls.jsonl"), START)
    assert got.captured["day"].value == "2019-03-02"


def test_secret_values_and_their_words_are_masked_until_revealed(folder: Path) -> None:
    lines = ("c: my name is Rosalind",)
    masked = report(folder, *lines)
    assert masked.captured["name"][:2] == (MASK, MASK)
    assert "Rosalind" not in json.dumps(masked.to_json())
    shown = report(folder, *lines, options=Options(START.start, reveal=True))
    assert shown.captured["name"].value == "Rosalind"
    assert "Rosalind" in shown.captured["name"].words


def test_what_cannot_be_replayed_is_a_report_with_its_place(folder: Path) -> None:
    bad = Unreadable("x", "calls.jsonl:7", "calls.jsonl:7: no")
    call = dialogue("c: hi")
    wrong = Options(START.start, {"name": 5})
    reports = list(replay_folder(folder, [bad, call], wrong))
    assert [each.error.split(":")[0:2] for each in reports] == [
        ["calls.jsonl", "7"],
        ["calls.jsonl", "1"],
    ]
    assert summary_of(reports).errors == 2


def test_the_same_calls_give_the_same_reports_on_several_processes(folder: Path) -> None:
    calls = [dialogue("c: a table for four", "m: When?", "c: tomorrow")] * 3
    alone = list(replay_folder(folder, calls, START))
    assert list(replay_folder(folder, calls, START, jobs=2)) == alone


def test_a_summary_counts_calls_not_visits(folder: Path) -> None:
    calls = [dialogue("c: a table for four"), dialogue("c: for four people tomorrow")]
    total = summary_of(replay_folder(folder, calls, START))
    assert (total.calls, total.replayed, total.turns, total.ended) == (2, 2, 2, 0)
    assert total.phases == {"ask": 2, "confirm": 1}
    assert total.captured == {"people": 2, "day": 1}
    assert total.with_unmet == 2


# -- recorded inputs ------------------------------------------------------------------------------


def recording(folder: Path, *, change: bool = False) -> Recording:
    call = Simulation(load(folder))
    call.turn("a table for four", "When?", extract={"Mood": {"mood": "calm"}})
    call.advance("10s")
    call.turn("tomorrow", "Right?")
    facts = [json.loads(line) for line in call.lines]
    if change:
        written = next(f for f in facts if f["fact"] == "KeyWritten" and f["key"] == "people")
        written["new"] = 5
    return Recording(
        "s", "calls.jsonl:1", call.inputs, call.inputs[0].at, facts=tuple(facts)
    )  # fmt: skip


def test_recorded_inputs_bring_back_the_recorded_facts(folder: Path) -> None:
    (got,) = replay_folder(folder, [recording(folder)], START)
    assert got.difference is None
    assert got.captured["derived:mood"].value == "calm"
    assert got.captured["people"].words == "four"


def test_the_first_fact_that_differs_is_shown_from_both_sides(folder: Path) -> None:
    (got,) = replay_folder(folder, [recording(folder, change=True)], START)
    assert got.difference is not None
    assert got.difference.recorded is not None
    assert got.difference.replayed is not None
    assert (got.difference.recorded["new"], got.difference.replayed["new"]) == (5, 4)
    assert summary_of([got]).different == 1


def test_facts_that_are_missing_or_too_many_are_a_difference(folder: Path) -> None:
    whole = recording(folder)
    short = Recording("s", "x:1", whole.inputs, whole.at, facts=whole.facts[:-1])
    long = Recording("s", "x:1", whole.inputs[:-1], whole.at, facts=whole.facts)
    missing, extra = replay_folder(folder, [short, long], START)
    assert missing.difference is not None
    assert missing.difference.recorded is None
    assert extra.difference is not None
    assert extra.difference.replayed is None


def test_another_version_of_the_flow_differs_only_where_it_acts_otherwise(folder: Path) -> None:
    old = recording(folder)
    file = folder / "flow.yaml"
    file.write_text(file.read_text().replace("Ask for people and day.", "Ask."))
    (got,) = replay_folder(folder, [old], START)
    assert got.difference is None


@pytest.mark.skipif(not DATA.exists(), reason="the public dialogues (../shared) are absent")
def test_every_public_dialogue_replays_on_table_booking_without_an_error() -> None:
    reports = list(replay_folder(TABLES, read_calls(DATA), START))
    assert len(reports) == 117
    assert not [each for each in reports if each.error or each.failed]
    restaurants = [each for each in reports if each.captured.get("party_size")]
    assert len(restaurants) > 15
