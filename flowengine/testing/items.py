"""Scenarios as pytest's tests: a file is a collector, a scenario an item."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flowengine.errors import FlowError
from flowengine.flow.functions import Functions
from flowengine.flow.load import load
from flowengine.flow.model import Flow
from flowengine.testing.run import Report, run_scenario
from flowengine.testing.scenario import Scenario
from flowengine.testing.scenario_file import ScenarioFile, functions_of, read_scenarios

_FLOWS = pytest.StashKey[dict[Path, tuple[Flow, Functions]]]()
"""Each flow is loaded once in a test run, and so compiled once."""


class ScenarioFailed(Exception):
    """Carries a report to where pytest prints it."""

    def __init__(self, report: Report) -> None:
        super().__init__(report.scenario)
        self.report = report


class ScenarioModule(pytest.File):
    """A scenario file."""

    def collect(self) -> Iterator[pytest.Item]:
        try:
            file = read_scenarios(self.path)
            flow, functions = self._flow(file.flow_path)
            file.check_names(flow)
        except FlowError as error:
            raise self.CollectError(str(error)) from None
        for number, scenario in enumerate(file.scenarios):
            yield ScenarioItem.from_parent(
                self,
                name=scenario.name,
                place=(file, number),
                scenario=scenario,
                flow=flow,
                functions=functions,
            )

    def _flow(self, path: Path) -> tuple[Flow, Functions]:
        known = self.session.stash.setdefault(_FLOWS, {})
        path = path.resolve()
        if path not in known:
            known[path] = load(path), functions_of(path)
        return known[path]


class ScenarioItem(pytest.Item):
    """One scenario."""

    def __init__(
        self,
        *,
        place: tuple[ScenarioFile, int],
        scenario: Scenario,
        flow: Flow,
        functions: Functions,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._place, self._scenario = place, scenario
        self._flow, self._functions = flow, functions
        known = {line.partition(":")[0].strip() for line in self.config.getini("markers")}
        for tag in {*scenario.tags} - known:
            self.config.addinivalue_line("markers", f"{tag}: a tag of scenarios")
        orders = ("interleave",) if scenario.has_orders else ()
        for mark in ("scenario", *orders, *scenario.tags):
            self.add_marker(mark)

    def runtest(self) -> None:
        orders = bool(self.config.getoption("flow_interleave"))
        report = run_scenario(self._scenario, self._flow, self._functions, interleave=orders)
        if report.passed:
            return
        if self.config.getoption("flow_facts"):
            self.add_report_section("call", "facts", "\n".join(report.facts))
        raise ScenarioFailed(report)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The difference in its place; a traceback only for a fault of the engine itself."""
        if isinstance(excinfo.value, ScenarioFailed):
            return excinfo.value.report.text(*self._place)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        file, number = self._place
        return self.path, file.line(number) - 1, self.name
