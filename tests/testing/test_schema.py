"""The schema of scenario files takes what the loader takes, and the copy on disk is that schema."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from flowengine.flow import yaml
from flowengine.testing.schema import scenario_schema, scenario_schema_text

ROOT = Path(__file__).parents[2]
FILES = sorted(ROOT.glob("flows/*/scenarios/*.scenario.yaml"))


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = scenario_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_the_copy_for_editors_is_up_to_date() -> None:
    assert (ROOT / "docs" / "scenario.schema.json").read_text("utf-8") == scenario_schema_text(), (
        "write it again with flowengine.testing.schema.write_scenario_schema"
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_scenarios_of_the_flows_are_valid(file: Path, validator: Draft202012Validator) -> None:
    root = yaml.build(file.read_text("utf-8")).root
    assert root is not None
    assert [error.message for error in validator.iter_errors(root.plain())] == []


@pytest.mark.parametrize(
    "scenario",
    [
        {"name": "a"},
        {"name": "a", "turns": []},
        {"name": "a", "turns": [{"usr": "x"}]},
        {"name": "a", "turns": [{"user": "x", "expect": {"facts": [{"fact": "Phase"}]}}]},
        {"name": "a", "turns": [{"tool": {"name": "t", "expect": "run"}}]},
    ],
)
def test_what_the_loader_refuses_is_not_valid(
    scenario: dict[str, object], validator: Draft202012Validator
) -> None:
    assert not validator.is_valid([scenario])
