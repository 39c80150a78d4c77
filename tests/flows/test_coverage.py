"""The scenarios of a flow enter each phase, take each transition, and run and refuse each tool."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flowengine import Flow
from flowengine.testing import run_scenario

FLOWS = Path(__file__).parents[2] / "flows"
NAMES = sorted(path.parent.name for path in FLOWS.glob("*/flow.yaml"))
AMBIENT = {"log_compliance_event"}
"""Open everywhere and without a guard: never refused."""


def edges(flow: Flow) -> set[str]:
    """Each transition as facts name it: its owner, and its place among the owner's."""
    owners = {"global": flow.global_transitions, "fallback": flow.fallback_transitions}
    owners |= {name: phase.transitions for name, phase, _ in flow.walk()}
    return {f"{owner}.{n}" for owner, several in owners.items() for n in range(len(several))}


def facts(folder: Any) -> Iterator[dict[str, Any]]:
    for scenario in folder.scenarios.values():
        yield from map(json.loads, run_scenario(scenario, folder.flow, folder.functions).facts)


@pytest.mark.parametrize("name", NAMES)
def test_scenarios_reach_everything(name: str, flow_folder: Any) -> None:
    folder = flow_folder(name)
    seen = list(facts(folder))
    taken = {fact["edge"] for fact in seen if fact["fact"] == "TransitionTaken"}
    entered = {fact["phase"] for fact in seen if fact["fact"] == "PhaseEntered"}
    decided = {(f["tool"], f["admitted"]) for f in seen if f["fact"] == "ToolDecided"}
    assert not edges(folder.flow) - taken
    assert not {name for name, _, _ in folder.flow.walk()} - entered
    assert not {(tool, True) for tool in folder.flow.tools} - decided
    assert not {(tool, False) for tool in folder.flow.tools if tool not in AMBIENT} - decided
