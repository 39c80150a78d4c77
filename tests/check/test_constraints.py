"""Constraints: that they name what exists, and that a conversation can keep them."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine.check import FlowFileError
from flowengine.flow.load import parse

PHASES = """\
tools: {charge: {respond: 1}, look: {respond: 1}}
phases:
  greet: {initial: true, tools: [], transitions: [{to: verify}]}
  verify: {tools: [look], transitions: [{to: collect}, {to: verify, on: again}]}
  collect: {tools: [charge], transitions: [{to: bye}]}
  bye: {final: true}
"""


def flow(*rules: str) -> str:
    listed = "".join(f"  - {rule}\n" for rule in rules)
    return f"flow: x\nconstraints:\n{listed}" + PHASES


def test_rules_that_can_be_kept_are_left_alone(codes: Any) -> None:
    text = flow(
        "before: [verify, collect]", "before: [look, collect]", "before: [verify, charge]",
        "before: [look, charge]", "once: charge", "require: [verify]", "ambient: [look]",
        "{never: charge, until: done(verify)}",
    )  # fmt: skip
    assert codes(text) == []


@pytest.mark.parametrize(
    ("rule", "code", "path", "meant"),
    [
        ("once: chrage", "unknown_tool", "/constraints/0/once", "charge"),
        ("{never: chrage, until: done(verify)}", "unknown_tool", "/constraints/0/never", "charge"),
        ("ambient: [look, loook]", "unknown_tool", "/constraints/0/ambient/1", "look"),
        ("require: [verfy]", "unknown_phase", "/constraints/0/require/0", "verify"),
        ("before: [verfy, charge]", "unknown_phase", "/constraints/0/before/0", "verify"),
        ("before: [verify, chrage]", "unknown_phase", "/constraints/0/before/1", "charge"),
        ("{never: charge, until: done(verfy)}", "unknown_phase", "/constraints/0/until", "verify"),
    ],
)
def test_a_rule_about_what_does_not_exist_has_its_near_miss(
    rule: str, code: str, path: str, meant: str
) -> None:
    with pytest.raises(FlowFileError) as caught:
        parse(flow(rule), file="f.yaml")
    [diagnostic] = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.path) == (code, path)
    assert diagnostic.suggestion == f"did you mean {meant!r}?"
    assert diagnostic.fix[0]["path"] == path


def test_a_circle_of_order_is_printed(found: Any) -> None:
    [diagnostic] = found(flow("before: [look, charge]", "before: [charge, look]"))
    assert (diagnostic.code, diagnostic.path) == ("order_cycle", "/constraints/1/before")
    assert diagnostic.message.endswith("look before charge before look")
    assert [d.path for d in found(flow("before: [charge, charge]"))] == ["/constraints/0/before"]


@pytest.mark.parametrize("rule", ["before: [collect, verify]", "before: [charge, verify]"])
def test_what_only_the_second_leads_to_cannot_come_first(found: Any, rule: str) -> None:
    [diagnostic] = found(flow(rule))
    assert diagnostic.code == "order_cycle"
    assert "only 'verify' leads to it" in diagnostic.message


def test_what_keeps_a_tool_shut_reads_keys_that_exist(codes: Any) -> None:
    text = flow("{never: charge, until: is_true(verfied)}")
    assert codes(text) == ["unknown_state_key /constraints/0/until"]
