"""`flowengine new`: a folder with a flow that checks clean, and scenarios that pass."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

from flowengine.cli.misuse import Misuse
from flowengine.cli.output import complain
from flowengine.errors import FlowEngineError
from flowengine.flow.schema import write_schema
from flowengine.flow.yaml import scalar

_NAME = re.compile(r"\w[\w-]*")


def make_flow(folder: Path, template: str) -> int:
    """Write the folder and print what is in it."""
    if not _NAME.fullmatch(folder.name):
        raise Misuse(f"{folder.name!r} is no name for a flow: letters, digits, _ and -")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FlowEngineError(f"{folder} exists already; choose another name, or remove it first")
    source = files("flowengine.cli") / "templates" / template
    flow, scenario = folder / "flow.yaml", folder / "scenarios" / f"{template}.scenario.yaml"
    scenario.parent.mkdir(parents=True, exist_ok=True)
    text = (source / "flow.yaml").read_text("utf-8")
    flow.write_text(text.replace("NAME", _spelled(folder.name), 1), "utf-8")
    scenario.write_text((source / "scenario.yaml").read_text("utf-8"), "utf-8")
    write_schema(folder / "flow.schema.json")
    for file in (flow, scenario, folder / "flow.schema.json"):
        print(file)
    complain(f"next: flowengine check {folder}, test {folder}, chat {folder}")
    return 0


def _spelled(name: str) -> str:
    """In quotes where YAML would take it for something else, such as a number."""
    return name if isinstance(scalar(name), str) else json.dumps(name)
