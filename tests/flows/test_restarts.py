"""A call that moves to another process between any two steps goes the same way."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from flowengine.testing import Scenario, run_scenario
from flowengine.testing.scenario import Step

FLOWS = Path(__file__).parents[2] / "flows"
NAMES = sorted(path.parent.name for path in FLOWS.glob("*/flow.yaml"))
RESTART = Step(restart=True)


def restarted(scenario: Scenario) -> Scenario:
    """The same conversation, put away and taken up again after every step."""
    turns = chain.from_iterable((step, RESTART) for step in scenario.turns)
    return scenario.model_copy(update={"turns": tuple(turns), "repeat": 1})


@pytest.mark.parametrize("name", NAMES)
def test_a_restart_after_every_step_changes_no_fact(name: str, flow_folder: Any) -> None:
    folder = flow_folder(name)
    scenarios = folder.scenarios.values()
    assert len(scenarios) >= 10
    for scenario in scenarios:
        straight = run_scenario(scenario, folder.flow, folder.functions)
        with_restarts = run_scenario(restarted(scenario), folder.flow, folder.functions)
        assert with_restarts.facts == straight.facts, scenario.name
        assert len(straight.facts) > 1
