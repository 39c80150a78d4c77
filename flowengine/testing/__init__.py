"""Tests of a flow without a model: drive it by hand, or let scenario files do it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowengine.lazy import lazily

if TYPE_CHECKING:
    from flowengine.testing.answers import PENDING, Failure
    from flowengine.testing.expect import End, Interleave, Never
    from flowengine.testing.interleaving import Interleaving, interleave
    from flowengine.testing.run import Report, run_scenario
    from flowengine.testing.scenario import Scenario
    from flowengine.testing.scenario_file import load_scenarios
    from flowengine.testing.simulation import Simulation

# Names are fetched on first use: the pytest plugin beside them loads in every test run of a user.
_HOME = {
    "flowengine.testing.answers": ("Failure", "PENDING"),
    "flowengine.testing.expect": ("End", "Interleave", "Never"),
    "flowengine.testing.interleaving": ("Interleaving", "interleave"),
    "flowengine.testing.run": ("Report", "run_scenario"),
    "flowengine.testing.scenario": ("Scenario",),
    "flowengine.testing.scenario_file": ("load_scenarios",),
    "flowengine.testing.simulation": ("Simulation",),
}

__all__ = [
    "End",
    "Failure",
    "Interleave",
    "Interleaving",
    "Never",
    "PENDING",
    "Report",
    "Scenario",
    "Simulation",
    "interleave",
    "load_scenarios",
    "run_scenario",
]

__getattr__, __dir__ = lazily(__name__, _HOME)
