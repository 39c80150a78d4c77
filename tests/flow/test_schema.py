"""The schema file says what the loader takes, and is up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from flowengine.flow import yaml
from flowengine.flow.schema import flow_schema, schema_text

DOCS = Path(__file__).parents[2] / "docs"

FLOW = """\
flow: x
x-anything: {goes: here}
state: {a: boolean, b: {type: string, enum: [p, q]}}
tools: {t: {args: {n: integer}, when: args.n >= 1}}
computed: {c: {of: b, map: {p: 1}, else: 0}}
phases:
  s:
    initial: true
    tools: [t]
    transitions:
      - {to: e, when: is_true(a)}
      - {to: e, when: {captured: [b]}, after: 30s}
  e: {final: true, x-note: 1}
"""


def data(text: str) -> Any:
    root = yaml.build(text).root
    assert root is not None
    return root.plain()


def errors(text: str) -> list[str]:
    return [error.message for error in Draft202012Validator(flow_schema()).iter_errors(data(text))]


def test_the_file_in_docs_is_the_schema_of_the_models() -> None:
    assert (DOCS / "flow.schema.json").read_text(encoding="utf-8") == schema_text()


def test_it_is_a_schema_of_draft_2020_12() -> None:
    Draft202012Validator.check_schema(flow_schema())
    assert flow_schema()["$schema"].endswith("2020-12/schema")


def test_short_forms_and_extension_keys_are_valid() -> None:
    assert errors(FLOW) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("initial: true", "initial: yes"),
        ("initial: true", "inital: true"),
        ("a: boolean", "a: bool"),
        ("to: e,", "too: e,"),
        ("when: is_true(a)", "when: 5"),
    ],
)
def test_what_the_loader_refuses_the_schema_refuses(old: str, new: str) -> None:
    assert errors(FLOW.replace(old, new))


def test_guards_are_described_once_with_all_their_words() -> None:
    guard = flow_schema()["$defs"]["Guard"]
    assert all(word in guard["description"] for word in ("captured", "resolved", "elapsed"))
    when = flow_schema()["$defs"]["Transition"]["properties"]["when"]
    assert {"$ref": "#/$defs/Guard"} in when["anyOf"]


def test_fragments_and_their_uses_are_valid() -> None:
    text = """\
flow: x
fragments:
  f:
    parameters: {tool: tool, n: {type: integer, default: 3}}
    exits: {known: , gave_up: in vain, out: {optional: true}}
    phase: {tools: [$tool], repair: {escalate_after: $n}}
  g: {exits: [done], phases: {a: {}}}
phases:
  p: {use: f, with: {tool: t}, exits: {known: e}}
  e: {final: true}
digressions: {d: {use: g}}
"""
    assert errors(text) == []
    assert errors(text.replace("tool: tool", "tool: tol"))
