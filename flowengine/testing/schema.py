"""The JSON Schema of a scenario file, for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from flowengine.flow.schema import DIALECT
from flowengine.testing.expect import FACTS
from flowengine.testing.scenario import Scenarios

ID = "urn:flowengine:scenario:1"


def scenario_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of what `load_scenarios` takes: an object, or a list of scenarios."""
    schema = Scenarios.model_json_schema(mode="validation")
    definitions: dict[str, Any] = schema.pop("$defs")
    for name in ("facts", "no_facts"):
        definitions["Expect"]["properties"][name]["items"] = _partial_fact()
    bare = {"type": "array", "items": {"$ref": "#/$defs/Scenario"}, "minItems": 1}
    forms: dict[str, Any] = {"anyOf": [schema, bare], "$defs": definitions}
    return {"$schema": DIALECT, "$id": ID, "title": "Scenarios of a flow", **forms}


def scenario_schema_text() -> str:
    """The schema as the file docs/scenario.schema.json holds it."""
    return json.dumps(scenario_schema(), ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def write_scenario_schema(path: str | Path) -> None:
    """Bring the file up to date with the models."""
    Path(path).write_text(scenario_schema_text(), encoding="utf-8")


def _partial_fact() -> dict[str, Any]:
    return {"type": "object", "required": ["fact"], "properties": {"fact": {"enum": sorted(FACTS)}}}
