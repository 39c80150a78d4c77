"""A flow without one of its safeguards fails one of its scenarios: so the scenarios guard it."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from flowengine import Flow, loads
from flowengine.flow.dump import dumps
from flowengine.testing import run_scenario

TWINS: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("twins.yaml").read_text("utf-8")
)
CASES = [
    pytest.param(name, twin, id=f"{name} without {twin['without']}")
    for name, twins in TWINS.items()
    for twin in twins
]


def patched(flow: Flow, patch: list[dict[str, Any]]) -> Flow:
    """The flow with the patches applied to its canonical form, and loaded like any other."""
    data = json.loads(dumps(flow, "json"))
    for step in patch:
        *path, last = step["path"].strip("/").split("/")
        part = data
        for name in path:
            part = part[int(name) if isinstance(part, list) else name]
        key = int(last) if isinstance(part, list) else last
        part[key]  # what is removed or replaced must be there
        if step["op"] == "remove":
            del part[key]
        else:
            part[key] = deepcopy(step["value"])
    return loads(json.dumps(data), format="json")


@pytest.mark.parametrize(("name", "twin"), CASES)
def test_a_scenario_fails_without_the_safeguard(
    name: str, twin: dict[str, Any], flow_folder: Any
) -> None:
    folder = flow_folder(name)
    scenario = folder.scenarios[twin["caught_by"]]
    whole = patched(folder.flow, [])
    assert whole == folder.flow
    assert run_scenario(scenario, whole, folder.functions).passed
    broken = patched(folder.flow, twin["patch"])
    found = run_scenario(scenario, broken, folder.functions).mismatches
    assert found
    assert found[0].code != "given", "it fails in the conversation, not before"


def test_every_flow_has_at_least_three_twins(flow_folder: Any) -> None:
    flows = Path(__file__).parents[2] / "flows"
    assert set(TWINS) == {path.parent.name for path in flows.glob("*/flow.yaml")}
    assert all(len(twins) >= 3 for twins in TWINS.values())
