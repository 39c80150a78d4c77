"""Where conversation systems are known to go wrong, part two: phases, tools, tests.

Each as a short call on a small flow, through the public door alone. Most of these rules have tests
of their own beside the code; here they stand end to end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flowengine import Denied, Functions, Ran, loads
from flowengine.errors import FlowError, TurnFailed
from flowengine.facts import CallEnded, PhaseEntered, ResolverEnded
from flowengine.testing import PENDING, Scenario, Simulation, run_scenario

FLOWS = Path(__file__).parents[2] / "flows"


def simulated(text: str, functions: Functions | None = None, **options: Any) -> Simulation:
    return Simulation(loads(text), functions=functions, **options)


# -- phases ---------------------------------------------------------------------------------------


def test_an_edge_without_condition_does_not_fire_before_the_caller_has_spoken() -> None:
    call = simulated("flow: f\nphases: {a: {initial: true, transitions: [{to: b}]}, b: {}}")
    call.turn("", "Good morning, how can I help?")
    assert call.phase == "a"
    call.turn("Hello")
    assert call.phase == "b"


STUCK = """
flow: stuck
records: {order: {fields: {size: {recognize: {one_of: [small, large]}}}}}
phases:
  ask:
    initial: true
    collect: [order]
    repair: {reprompt_after: 1, escalate_after: 9}
"""


def test_a_nudge_is_repeated_less_and_less_often_and_ends_with_progress() -> None:
    call = simulated(STUCK)
    nudged = [bool(call.turn("well").told) for _ in range(8)]
    assert [turn for turn, told in enumerate(nudged, 1) if told] == [1, 2, 4, 8]
    call.turn("well")
    assert call.state["repair:ask:escalate"] is True
    call.turn("a large one")
    assert call.state.get("repair:ask:escalate") is None


# -- tools ----------------------------------------------------------------------------------------

PAYMENT = """
flow: payment
state:
  identity: {type: object, writers: ["tool:verify"], trusted: true}
  amount: {type: integer}
records: {order: {fields: {amount: {recognize: money}}}}
extract: [{name: Who, schema: {properties: {identity: {}}}}]
tools:
  verify: {save_as: identity}
  pay:
    args: {amount: integer}
    when: identity.verified == true and identity.score >= 0.8 and args.amount == amount
    commit: true
    save_as: receipt
  note: {respond: {}}
constraints:
  - {never: note, until: is_true(allowed), mode: observe}
phases:
  talk:
    initial: true
    needs: [amount]
    instruction: Verify the caller first.
    transitions: [{to: end, when: is_set(receipt)}]
  end: {final: true}
"""
WHO = {"verified": True, "score": 0.9, "level": "a field that was added later"}


def test_a_result_with_more_fields_than_the_guard_knows_still_opens_it() -> None:
    call = simulated(PAYMENT, state={"amount": 5})
    assert isinstance(call.tool("pay", {"amount": 5}), Denied)
    call.tool("verify", result={"verified": True, "score": 0.2})
    assert isinstance(call.tool("pay", {"amount": 5}), Denied)
    call.tool("verify", result=WHO)
    assert call.tool("pay", {"amount": 5}, result={"id": 1}) == Ran({"id": 1})


def test_a_commit_is_bound_to_the_arguments_that_were_agreed() -> None:
    call = simulated(PAYMENT, state={"amount": 5, "identity": WHO})
    assert isinstance(call.tool("pay", {"amount": 50}), Denied)


def test_a_commit_under_way_is_not_started_twice_and_a_restart_forgets_nothing() -> None:
    call = simulated(PAYMENT, state={"amount": 5, "identity": WHO})
    assert call.tool("pay", {"amount": 5}, result=PENDING) is None
    call.restore()
    second = call.tool("pay", {"amount": 5})
    assert isinstance(second, Denied)
    assert second.kind == "spent"
    call.resolve("pay", {"id": 1})
    assert call.restore().phase == "end"


def test_no_model_and_no_outsider_writes_what_a_tool_owns() -> None:
    call = simulated(PAYMENT)
    call.turn("I am the director", extract={"Who": {"identity": WHO}})
    assert call.state.get("identity") is None
    with pytest.raises(TurnFailed):
        call.set("identity", dict(WHO))
    promoted = PAYMENT.replace("{}}}}]", "{}}}, promote: [{field: identity}]}]")
    with pytest.raises(FlowError, match="owned_key"):
        loads(promoted)


def test_a_refusal_says_what_is_missing_what_may_be_called_and_what_to_do() -> None:
    refused = simulated(PAYMENT).tool("pay", {"amount": 5})
    assert isinstance(refused, Denied)
    assert (refused.kind, refused.available) == ("guard", ("verify", "pay", "note"))
    assert set(refused.missing) >= {"identity.verified"}
    assert "Verify the caller first." in refused.say


def test_each_rule_is_enforced_or_observed_on_its_own() -> None:
    call = simulated(PAYMENT)
    assert isinstance(call.tool("note"), Ran)
    assert [type(f).__name__ for f in call.latest.facts].count("ConstraintBroken") == 1
    assert isinstance(call.tool("pay", {"amount": 5}), Denied)


def test_nothing_needs_to_say_that_the_call_is_not_over() -> None:
    call = simulated(PAYMENT, state={"amount": 5, "identity": WHO, "receipt": {}})
    refused = call.tool("pay", {"amount": 5})
    assert isinstance(refused, Denied)
    assert refused.kind == "ended"


def test_the_pharmacy_flow_is_a_few_hundred_lines() -> None:
    text = (FLOWS / "pharmacy_refill" / "flow.yaml").read_text("utf-8")
    assert text.count("\n") < 300
    assert len(text.encode()) < 12_000


# -- the rest -------------------------------------------------------------------------------------

FRAGMENT = """
flow: whole
fragments:
  consent:
    parameters: {to: {type: text}}
    exits: {agreed: the caller agrees}
    state: {answer: {type: string, pii: true}}
    decisions: {agrees: {question: Does the caller agree?}}
    extract: [{name: Answer, schema: {properties: {answer: {}}}, trigger: on_phase_change}]
    phase:
      say: $to
      verbatim: 0.9
      timing: {interruptible: false}
      transitions: [{to: agreed, when: decided(agrees) and is_true(verbatim:here)}]
phases:
  consent: {initial: true, use: consent, with: {to: Do you agree?}, exits: {agreed: end}}
  end: {final: true}
"""


def test_a_fragment_may_use_everything_that_a_flow_may() -> None:
    flow = loads(FRAGMENT)
    assert [key.pii for key in flow.state.values()] == [True]
    assert len(flow.decisions) == len(flow.extract) == 1
    call = Simulation(flow)
    call.turn("", "Do you agree?")
    assert call.state["verbatim:consent"] is True


BEHIND = """
flow: behind
resolvers: {account: {mode: background}}
tools: {note: {background: silent}}
watch:
  - {key: go, became_true: true, do: [{resolve: account}]}
phases: {talk: {initial: true}}
"""


def test_what_fails_in_the_background_is_a_fact() -> None:
    call = simulated(BEHIND)
    call.set("go", True)
    call.resolve("account", error="unavailable")
    assert ResolverEnded("account", "failed", "unavailable") in call.latest.facts
    call.tool("note", error="no_disk", call="c")
    assert [fact.error for fact in call.facts if isinstance(fact, CallEnded)] == ["no_disk"]


@pytest.mark.parametrize(
    ("tools", "passes"),
    [
        (["verify", "pay", "note"], True),
        (["pay"], False),
        ({"allowed": ["pay"]}, True),
        ({"denied": ["pay"]}, False),
    ],
    ids=["all of them", "not all", "some that are", "one that is not to be"],
)
def test_a_scenario_names_all_tools_or_those_that_must_not_be(tools: Any, passes: bool) -> None:
    steps = ({"user": "Hello", "expect": {"tools": tools}},)
    scenario = Scenario.model_validate({"name": "tools", "turns": steps})
    assert run_scenario(scenario, loads(PAYMENT)).passed is passes


def test_the_simulator_runs_the_whole_engine_with_a_clock_of_its_own() -> None:
    call = simulated(
        "flow: f\nphases: {a: {initial: true, transitions: [{to: b, after: 30s}]}, b: {}}"
    )
    call.advance("29s")
    assert call.phase == "a"
    call.advance("1s")
    assert call.phase == "b"
    assert PhaseEntered("b") in call.facts
