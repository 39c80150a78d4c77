"""Extraction without a named model is told, and cured by naming one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flowengine.check import apply_fixes, check
from flowengine.flow.functions import Functions
from flowengine.flow.load import parse

EXTRACT = """\
extract:
  - name: mood
    schema: {type: object, properties: {calm: {type: boolean}}}
"""
PHASES = "phases: {a: {done: is_true(calm)}}\n"
PINNED = """\
models:
  extraction: gemini-3.5-flash-lite
  extraction_thinking_budget: 64
"""


def test_the_cure_pins_a_small_model_and_its_smallest_budget(found: Any) -> None:
    [diagnostic] = found("flow: x\n" + EXTRACT + PHASES)
    assert (diagnostic.code, diagnostic.severity) == ("unpinned_extraction_model", "warning")
    assert (diagnostic.path, diagnostic.line) == ("/extract", 2)
    assert "mood" in diagnostic.message
    value = {"extraction": "gemini-3.5-flash-lite", "extraction_thinking_budget": 64}
    assert diagnostic.fix == ({"op": "add", "path": "/models", "value": value},)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("flow: x\n" + EXTRACT + PHASES, "flow: x\n" + PINNED + EXTRACT + PHASES),
        (
            "flow: x\n\n# what is heard\n" + EXTRACT + PHASES,
            "flow: x\n\n" + PINNED + "\n# what is heard\n" + EXTRACT + PHASES,
        ),
        (
            "flow: x\nmodels:\n    decision: m  # it decides\n" + EXTRACT + PHASES,
            "flow: x\nmodels:\n    extraction: gemini-3.5-flash-lite\n"
            "    extraction_thinking_budget: 64\n    decision: m  # it decides\n"
            + EXTRACT + PHASES,
        ),
        (
            "flow: x\nmodels: {extraction_thinking_budget: 0}\n" + EXTRACT + PHASES,
            "flow: x\nmodels: {extraction: gemini-3.5-flash-lite, extraction_thinking_budget: 0}\n"
            + EXTRACT + PHASES,
        ),
    ],
    ids=["before what uses it", "apart where others are", "in block style", "in flow style"],
)  # fmt: skip
def test_the_cure_is_written_where_an_author_would(cured: Any, before: str, after: str) -> None:
    assert cured(before) == after


def test_json_stays_json() -> None:
    schema = {"type": "object", "properties": {"calm": {"type": "boolean"}}}
    phases = {"a": {"done": "is_true(calm)"}}
    data = {"flow": "x", "extract": [{"name": "mood", "schema": schema}], "phases": phases}
    for indent in (None, 2):
        text = json.dumps(data, indent=indent)
        loaded = parse(text, file="f.json", format="json")
        text = apply_fixes(text, check(loaded.flow, source=loaded.source), format="json")
        models = json.loads(text).pop("models")
        assert models == {"extraction": "gemini-3.5-flash-lite", "extraction_thinking_budget": 64}
        assert json.loads(text) == {**data, "models": models}


def test_a_model_of_the_flow_or_of_the_entry_is_enough(codes: Any) -> None:
    assert codes("flow: x\nmodels: {extraction: m}\n" + EXTRACT + PHASES) == []
    own = EXTRACT.replace("- name: mood", "- name: mood\n    model: m")
    assert codes("flow: x\n" + own + PHASES) == []


def test_code_that_extracts_needs_no_model(codes: Any) -> None:
    functions = Functions()
    functions.extractor(name="mood")(lambda window, known: {})
    assert codes("flow: x\n" + EXTRACT + PHASES, functions) == []
