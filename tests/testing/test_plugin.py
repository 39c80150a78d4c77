"""The pytest plugin: scenario files become tests of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from flowengine.testing import items  # noqa: F401 - kept loaded while inner runs come and go

SCENARIOS = """\
- name: a promise
  tags: [smoke, skip_me]
  given: {phase: negotiate}
  turns:
    - user: two hundred dollars on Friday
      expect: {phase: confirm}
- name: "the end: an odd/name"
  turns:
    - event: hang_up
      expect: {ended: true}
"""
FAILING = """\
- name: too much
  given: {phase: negotiate}
  turns:
    - user: two hundred dollars
      expect:
        phase: confirm
"""


@pytest.fixture
def folder(pytester: pytest.Pytester, flow_text: str) -> pytest.Pytester:
    """A folder with a flow and one file of scenarios that pass."""
    pytester.makefile(".yaml", flow=flow_text)
    pytester.mkdir("scenarios")
    add(pytester, "calls", SCENARIOS)
    return pytester


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    """An inner run of pytest; without hypothesis, whose import takes longer than all the rest."""
    return pytester.runpytest_inprocess("-p", "no:hypothesispytest", *args)


def add(pytester: pytest.Pytester, name: str, text: str) -> None:
    (pytester.path / "scenarios" / f"{name}.scenario.yaml").write_text(text)


def test_each_scenario_is_a_test_with_the_files_name_and_its_own(folder: pytest.Pytester) -> None:
    ran = run(folder, "-v", "--import-mode=importlib", "-p", "no:cacheprovider")
    ran.assert_outcomes(passed=2)
    ran.stdout.fnmatch_lines(
        [
            "scenarios/calls.scenario.yaml::a promise PASSED*",
            "scenarios/calls.scenario.yaml::the end: an odd/name PASSED*",
        ]
    )


def test_one_scenario_can_be_run_by_its_node_id(folder: pytest.Pytester) -> None:
    ran = run(folder, "scenarios/calls.scenario.yaml::a promise")
    ran.assert_outcomes(passed=1)


def test_tags_are_marks_that_strict_runs_know(folder: pytest.Pytester) -> None:
    strict = ("--strict-markers", "-W", "error")
    run(folder, "-m", "smoke", *strict).assert_outcomes(passed=1, deselected=1)
    run(folder, "-m", "scenario", *strict).assert_outcomes(passed=2)
    run(folder, "-m", "not scenario", *strict).assert_outcomes(deselected=2)


def test_a_failure_shows_the_place_and_the_difference_and_no_traceback(
    folder: pytest.Pytester,
) -> None:
    add(folder, "fails", FAILING)
    ran = run(folder, "scenarios/fails.scenario.yaml")
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(
        [
            "*too much*",
            "error[[]phase[]]: expected phase 'confirm', is 'negotiate'",
            "  --> *fails.scenario.yaml:6:16 *",
            "*^^^^^^^",
            "why not 'confirm':",
            "*ptp_date is missing",
            "FAILED scenarios/fails.scenario.yaml::too much - error*",
        ]
    )
    ran.stdout.no_fnmatch_line("*Traceback*")
    ran.stdout.no_fnmatch_line("*ScenarioFailed*")
    ran.stdout.no_fnmatch_line("*SessionStarted*")


def test_facts_of_a_failing_scenario_are_shown_on_demand(folder: pytest.Pytester) -> None:
    add(folder, "fails", FAILING)
    ran = run(folder, "--flow-facts")
    ran.assert_outcomes(passed=2, failed=1)
    ran.stdout.fnmatch_lines(['{"at":*"fact":"SessionStarted"*', '*"key":"ptp_amount"*'])
    assert ran.stdout.str().count("SessionStarted") == 1


def test_a_file_that_is_wrong_is_a_collection_error_in_its_place(folder: pytest.Pytester) -> None:
    add(folder, "wrong", "- name: a\n  tuns: []\n")
    ran = run(folder)
    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines(
        ["error[[]unknown_key[]]: 'tuns' is not a key of a scenario", "*did you mean 'turns'?"]
    )
    ran.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize("name", ["flow.yaml", "functions.py"])
def test_a_flow_that_is_wrong_is_a_collection_error_too(folder: pytest.Pytester, name: str) -> None:
    (folder.path / name).write_text("no: such\nthing: [")
    ran = run(folder)
    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines([f"*{name}*"])
    ran.stdout.no_fnmatch_line("*Traceback*")


RACING = """\
- name: charged
  given: {phase: negotiate}
  turns:
    - tool: {name: note, pending: true}
    - resolve: {name: note, value: {noted: 1}}
    - interrupt: I
"""


def test_orders_are_tried_on_demand_and_a_race_is_shown_in_its_place(
    folder: pytest.Pytester,
) -> None:
    add(folder, "racing", RACING)
    run(folder, "-W", "error").assert_outcomes(passed=3)
    ran = run(folder, "--flow-interleave")
    ran.assert_outcomes(passed=2, failed=1)
    ran.stdout.fnmatch_lines(
        ["error[[]race[]]: 1 of 2 orders of the inputs end in another way",
         "  --> *racing.scenario.yaml:1:9 *", "*as recorded*in another order", "*2 orders tried*"]
    )  # fmt: skip
    ran.stdout.no_fnmatch_line("*Traceback*")


def test_scenarios_that_try_their_orders_are_marked(folder: pytest.Pytester) -> None:
    add(folder, "racing", RACING.replace("  given:", "  interleave: true\n  given:"))
    run(folder, "-m", "interleave", "--strict-markers").assert_outcomes(failed=1, deselected=2)


def test_scenarios_run_on_several_workers(folder: pytest.Pytester) -> None:
    add(folder, "fails", FAILING)
    ran = run(folder, "-n", "2", "--strict-markers", "--flow-facts")
    ran.assert_outcomes(passed=2, failed=1)
    ran.stdout.fnmatch_lines(["*expected phase 'confirm', is 'negotiate'", "*SessionStarted*"])


def test_other_yaml_files_are_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", scenario="- name: x", other="a: [")
    ran = run(pytester)
    ran.assert_outcomes()


def test_a_run_without_scenarios_loads_nothing_of_the_engine() -> None:
    code = (
        "import sys, flowengine.testing.plugin\n"
        "print(sorted(m for m in sys.modules if m.startswith('flowengine.')))\n"
        "print({'pydantic', 'yaml', 'statemachine', 'rapidfuzz'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == [
        "['flowengine.lazy', 'flowengine.testing', 'flowengine.testing.plugin']",
        "set()",
    ]
