"""A talk as a scenario file, proved by running it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

from flowengine.errors import FlowError
from flowengine.flow.dump import dumps
from flowengine.testing.run import run_scenario
from flowengine.testing.scenario import Scenario, Scenarios
from flowengine.testing.scenario_file import load_scenarios

SUFFIX = ".scenario.yaml"


def scenario_path(name: str) -> Path:
    """The file that is meant: with the suffix by which tests are found."""
    return Path(name if name.endswith(SUFFIX) else name.removesuffix(".yaml") + SUFFIX)


def save(file: Path, flow: Path, scenario: Scenario) -> str:
    """Write the file and run it; the differences, empty if it passes.

    Raises:
        FlowError: there is such a file already.
    """
    if file.exists():
        raise FlowError(f"{file} exists already; save under another name")
    scenarios = Scenarios(flow=_from(file, flow), scenarios=(scenario,))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(dumps(cast("Any", scenarios)), encoding="utf-8")
    written, model, functions = load_scenarios(file)
    report = run_scenario(written.scenarios[0], model, functions)
    return report.text(written, 0)


def _from(file: Path, flow: Path) -> str | None:
    """The flow as the file names it; None where it is found without."""
    folder = file.parent.parent if file.parent.name == "scenarios" else file.parent
    if flow.is_dir() and folder.resolve() == flow.resolve():
        return None
    return Path(os.path.relpath(flow.resolve(), file.parent.resolve())).as_posix()
