"""A commit that failed is undone once, and only if it may have run."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine.effects import RunTool
from flowengine.inputs import Said

FLOW = """
flow: p
tools: {charge: {commit: true, compensate_with: refund}, refund: {}}
phases: {a: {initial: true}}
"""


def test_compensated_is_taken_back_when_the_tool_succeeds(begin: Any) -> None:
    call = begin(FLOW)
    call.tool("charge", "c1")
    call.answer(call.run("c1"), None, "failed", "x")
    call.answer(call.run("c1:compensation"), {})
    assert call.values["compensated:charge"] is True
    call.tool("charge", "c2")
    call.answer(call.run("c2"), {"id": 1})
    assert "compensated:charge" not in call.values


@pytest.mark.parametrize(
    "error", ["invalid_arguments", "not_allowed", "missing_value", "unknown_server"]
)
def test_what_never_ran_is_not_compensated(begin: Any, error: str) -> None:
    call = begin(FLOW)
    call.tool("charge", "c1")
    call.answer(call.run("c1"), None, "failed", error)
    assert not call.asked(RunTool)


def test_a_commit_cut_by_an_interruption_is_compensated(begin: Any) -> None:
    call = begin("""
flow: p
tools: {charge: {commit: true, on_interruption: cancel, compensate_with: refund}, refund: {}}
phases: {a: {initial: true}}
""")
    call.tool("charge", "c1")
    run = call.run("c1")
    call.send(Said, "one mom", True)
    call.answer(run, None, "cancelled", "cancelled")
    assert [effect.tool for effect in call.asked(RunTool)] == ["refund"]
