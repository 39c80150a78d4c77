"""A snapshot survives its store."""

from __future__ import annotations

import json
from typing import Any

from flowengine import loads
from flowengine.facts import canonical_json
from flowengine.inputs import Heard, Outcome, ToolCalled, TurnEnded
from flowengine.kernel import Kernel, from_json, to_json


def test_canonical_json_of_a_snapshot_keeps_the_order_of_calls_and_runs() -> None:
    """JSONB and canonical JSON sort keys; the order of calls decides which one is admitted."""
    kernel = Kernel(
        loads("""
flow: p
extract: [{name: X, schema: {properties: {ok: {}}}, promote: [{field: ok}]}]
tools: {charge: {commit: true, args: {sum: number}, when: ok == true}}
phases: {a: {initial: true}}
""")
    )

    def play(store: Any) -> list[Any]:
        snap = kernel.start(0).snapshot
        facts: list[Any] = []
        inputs: list[tuple[Any, ...]] = [
            (Heard, "x"),
            (TurnEnded,),
            (ToolCalled, "call-9", "charge", {"sum": 1}),
            (ToolCalled, "call-10", "charge", {"sum": 2}),
            (Outcome, "2.0", "ok", {"ok": True}),
        ]
        for n, (kind, *args) in enumerate(inputs, start=1):
            step = kernel.step(snap, kind(str(n), 0, *args))
            snap, facts = store(step.snapshot), [*facts, *step.facts]
        return facts

    assert play(lambda s: s) == play(lambda s: from_json(json.loads(canonical_json(to_json(s)))))
