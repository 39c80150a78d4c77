"""Whatever becomes of a tool call, the conversation goes on and nothing is written that was not.

Each call that runs in a scenario is made to end otherwise: it fails, times out, is cancelled, is
interrupted by the caller, or is asked for twice under way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from flowengine.testing import Report, Scenario, run_scenario
from flowengine.testing.scenario import Step

FLOWS = Path(__file__).parents[2] / "flows"
NAMES = sorted(path.parent.name for path in FLOWS.glob("*/flow.yaml"))
ENDS = ("failed", "timed_out", "cancelled")
NEXT = Step(user="Hello?")


@cache
def runs(folder: Any) -> tuple[tuple[Scenario, int, Step], ...]:
    """Every step of the flow's scenarios in which a tool runs, with its place."""
    return tuple(
        (scenario, place, step)
        for scenario in folder.scenarios.values()
        for place, step in enumerate(scenario.turns)
        if step.tool is not None and _runs(step)
    )


def _runs(step: Step) -> bool:
    wanted = step.tool.expect if step.tool else None
    return wanted == "ran" or getattr(wanted, "ran", None) is not None


def instead(scenario: Scenario, place: int, *steps: Step) -> Scenario:
    """The scenario up to the step, then these."""
    turns = (*scenario.turns[:place], *steps)
    return scenario.model_copy(update={"turns": turns, "repeat": 1})


def call(step: Step, **changes: Any) -> Step:
    assert step.tool is not None
    plain = {"expect": None, "result": None, **changes}
    return Step(tool=step.tool.model_copy(update=plain))


def facts_of(report: Report, kind: str) -> Iterator[dict[str, Any]]:
    return (fact for line in report.facts if (fact := json.loads(line))["fact"] == kind)


def written(report: Report, tool: str, since: int) -> list[str]:
    """What the tool has written after this line of the facts."""
    facts = map(json.loads, report.facts[since:])
    return [f["key"] for f in facts if f["fact"] == "KeyWritten" and f["by"] == f"tool:{tool}"]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", NAMES)
def test_a_call_that_does_not_end_well_writes_nothing_and_the_next_words_are_heard(
    name: str, end: str, flow_folder: Any
) -> None:
    folder = flow_folder(name)
    for scenario, place, step in runs(folder):
        before = run_scenario(instead(scenario, place), folder.flow, folder.functions)
        told = instead(scenario, place, call(step, error=end), NEXT)
        report = run_scenario(told, folder.flow, folder.functions)
        assert report.passed, (scenario.name, report.mismatches)
        *_, ended = facts_of(report, "CallEnded")
        assert (ended["tool"], ended["status"]) == (step.tool.name, end)
        assert not written(report, step.tool.name, len(before.facts)), scenario.name
        *_, closed = facts_of(report, "TurnClosed")
        assert closed["spoke"] is True


@pytest.mark.parametrize("name", NAMES)
def test_a_caller_who_interrupts_stops_a_call_unless_it_is_a_commit(
    name: str, flow_folder: Any
) -> None:
    folder = flow_folder(name)
    for scenario, place, step in runs(folder):
        spec = folder.flow.tools[step.tool.name]
        told = instead(scenario, place, call(step, pending=True), Step(interrupt="One mo"), NEXT)
        report = run_scenario(told, folder.flow, folder.functions)
        assert report.passed, (scenario.name, report.mismatches)
        ends = [(f["tool"], f["status"]) for f in facts_of(report, "CallEnded")]
        stopped = ends[-1:] == [(step.tool.name, "cancelled")]
        assert stopped is not spec.finishes, (scenario.name, step.tool.name)


@pytest.mark.parametrize("name", NAMES)
def test_a_commit_asked_for_twice_runs_once(name: str, flow_folder: Any) -> None:
    folder = flow_folder(name)
    commits = [run for run in runs(folder) if folder.flow.tools[run[2].tool.name].commit]
    assert commits
    for scenario, place, step in commits:
        told = instead(scenario, place, call(step, pending=True), call(step), NEXT)
        report = run_scenario(told, folder.flow, folder.functions)
        assert report.passed, (scenario.name, report.mismatches)
        *_, second = facts_of(report, "ToolDecided")
        assert (second["tool"], second["kind"]) == (step.tool.name, "spent")
