"""pytest collects `*.scenario.yaml`: one test for each scenario, its tags as marks.

pytest loads this module in every run, whatever is tested, so it imports nothing at first.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SUFFIX = ".scenario.yaml"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("flowengine", "conversation scenarios")
    group.addoption(
        "--flow-facts", action="store_true", help="show the facts of scenarios that fail"
    )
    group.addoption(
        "--flow-interleave",
        action="store_true",
        help="also try every order in which the inputs of a scenario may arrive",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"scenario: a conversation in a *{SUFFIX} file")
    config.addinivalue_line("markers", "interleave: a scenario that tries the orders of its inputs")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not file_path.name.endswith(SUFFIX):
        return None
    # the engine, its parser and pydantic: only for those who have scenarios
    from flowengine.testing.items import ScenarioModule

    return ScenarioModule.from_parent(parent, path=file_path)
