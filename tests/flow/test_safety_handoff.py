"""A call in which someone may be in danger ends with a person, and with nothing else."""

from __future__ import annotations

from flowengine import Denied, Ran, loads
from flowengine.testing import Simulation

FLOW = loads("""
flow: line
state: {order: {type: string}}
tools: {transfer: {respond: {ok: true}}, pay: {respond: {ok: true}, when: is_set(order)}}
digressions:
  danger: {use: safety_handoff, with: {when: is_true(intent:emergency), tool: transfer}}
phases:
  ask: {initial: true, tools: [pay], transitions: [{to: end, on: bye}]}
  end: {final: true}
""")


def test_only_the_transfer_is_open_and_then_the_conversation_is_over() -> None:
    call = Simulation(FLOW, state={"order": "x"})
    call.set("intent:emergency", True)
    assert call.context.tools == ("transfer",)
    assert isinstance(call.tool("pay"), Denied)
    assert call.tool("transfer") == Ran({"ok": True})
    assert call.ended
    assert isinstance(call.tool("transfer"), Denied)
