"""The flows of this repository, loaded once, and their scenarios by name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from flowengine import Flow, Functions, load, load_functions
from flowengine.testing import Scenario, load_scenarios

FLOWS = Path(__file__).parents[2] / "flows"


class Folder:
    """A flow's folder: the flow, its functions, its scenarios."""

    def __init__(self, name: str) -> None:
        self.path = FLOWS / name
        self.flow: Flow = load(self.path)
        self.functions: Functions = load_functions(self.path)

    @property
    def scenarios(self) -> dict[str, Scenario]:
        files = sorted(self.path.glob("scenarios/*.scenario.yaml"))
        return {s.name: s for file in files for s in load_scenarios(file)[0].scenarios}


@cache
def folder(name: str) -> Folder:
    return Folder(name)


@pytest.fixture(scope="session")
def flow_folder():
    """By name: `flow_folder("debt_promise")`."""
    return folder
