"""`flowengine new`, and `flowengine test` on what it makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flowengine.testing.run import run_scenario
from flowengine.testing.scenario_file import load_scenarios


@pytest.mark.parametrize("template", ["blank", "booking"])
def test_a_new_flow_checks_clean_and_its_scenarios_pass(
    run: Any, tmp_path: Path, template: str
) -> None:
    folder = tmp_path / "flows" / "my-flow"
    done = run("new", folder, "--template", template)
    assert done.code == 0
    assert done.out.splitlines()[0] == str(folder / "flow.yaml")
    checked = run("check", folder, "--strict")
    assert (checked.code, checked.out) == (0, "")
    (file,) = (folder / "scenarios").iterdir()
    scenarios, flow, functions = load_scenarios(file)
    assert flow.flow == "my-flow"
    for number, scenario in enumerate(scenarios.scenarios):
        report = run_scenario(scenario, flow, functions)
        assert report.passed, report.text(scenarios, number)


def test_the_editor_finds_the_schema_that_the_first_line_names(run: Any, tmp_path: Path) -> None:
    run("new", tmp_path / "mine")
    first = (tmp_path / "mine" / "flow.yaml").read_text().splitlines()[0]
    name = first.partition("$schema=")[2]
    assert (tmp_path / "mine" / name).read_text() == run("schema").out


def test_a_name_that_yaml_would_take_for_a_number_is_quoted(run: Any, tmp_path: Path) -> None:
    run("new", tmp_path / "2026")
    assert run("check", tmp_path / "2026").code == 0


def test_nothing_is_overwritten(run: Any, table: Path) -> None:
    before = (table / "flow.yaml").read_text()
    done = run("new", table)
    assert done.code == 1
    assert "exists already" in done.err
    assert (table / "flow.yaml").read_text() == before


def test_a_name_that_is_none_is_wrong_usage(run: Any, tmp_path: Path) -> None:
    assert run("new", tmp_path / "a b").code == 2


def test_scenarios_run_and_pass_their_exit_code_on(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    run("new", folder)
    quick = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    assert run("test", folder, *quick).code == 0
    file = folder / "scenarios" / "blank.scenario.yaml"
    file.write_text(file.read_text().replace("phase: talk", "phase: greet"))
    assert run("test", folder, *quick, "-k", "has and minute").code == 1


def test_a_folder_without_scenarios_says_so(run: Any, tmp_path: Path) -> None:
    done = run("test", tmp_path, "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    assert done.code == 1
    assert "*.scenario.yaml" in done.err


def test_the_schema_can_be_written_to_a_file(run: Any, tmp_path: Path) -> None:
    assert run("schema", "--out", tmp_path / "s.json").out == ""
    assert (tmp_path / "s.json").read_text() == run("schema").out
