"""Rules over the whole conversation, enforced or only watched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine import loads
from flowengine.effects import RunTool
from flowengine.facts import ConstraintBroken, ConversationEnded
from flowengine.kernel import Kernel

Begin = Callable[..., Any]

FLOW = """
flow: rules
state: {verified: boolean}
tools: {charge: {}, verify: {set: {verified: true}}, log: {}}
constraints:
RULES
phases:
  a: {initial: true, tools: [charge, verify], done: is_true(told), transitions: [{to: b, when: is_true(go)}]}
  b: {tools: [charge]}
"""  # noqa: E501


def flow(*rules: str) -> str:
    return FLOW.replace("RULES", "\n".join(f"  - {rule}" for rule in rules))


def kinds(call: Any) -> list[str]:
    return [answer.kind for _, answer in call.answers]


def test_never_until_binds_whatever_the_phase(begin: Begin) -> None:
    call = begin(flow("{never: charge, until: is_true(verified)}"))
    call.tool("charge", "c1")
    assert [(a.kind, a.missing) for _, a in call.answers] == [("never_until", ("verified",))]
    call.set(go=True)
    call.tool("charge", "c2")
    assert kinds(call) == ["never_until"]
    call.set(verified=True)
    call.tool("charge", "c3")
    assert call.asked(RunTool)


def test_once_counts_a_run_under_way(begin: Begin) -> None:
    call = begin(flow("once: charge"))
    call.tool("charge", "c1")
    call.tool("charge", "c2")
    assert kinds(call) == ["spent"]


def test_before_orders_tools_and_phases(begin: Begin) -> None:
    call = begin(flow("before: [verify, charge]", "before: [a, b]"))
    call.tool("charge", "c1")
    assert [(a.kind, a.missing) for _, a in call.answers] == [("before", ("verify",))]
    call.tool("verify", "c2")
    call.answer(call.run("c2"), {})
    call.tool("charge", "c3")
    assert call.asked(RunTool)
    call.set(go=True)
    assert call.phase == "a", "b opens once a is done"
    call.set(told=True)
    assert call.phase == "b"


def test_flows_with_rules_that_come_and_go_are_not_taken_for_each_other() -> None:
    names = [f"f{n}" for n in range(20)]
    rules = flow("before: [a, b]")
    compiled = [Kernel(loads(rules.replace("flow: rules", f"flow: {name}"))) for name in names]
    assert [kernel.compiled.flow.flow for kernel in compiled] == names


def test_an_ambient_tool_needs_no_allow_list_but_other_rules_bind_it(begin: Begin) -> None:
    call = begin(flow("ambient: [log]", "once: log"))
    call.tool("log", "c1")
    assert call.asked(RunTool)
    call.tool("log", "c2")
    assert kinds(call) == ["spent"]


def test_a_rule_that_is_only_observed_lets_the_call_run_and_says_so(begin: Begin) -> None:
    call = begin(flow("{never: charge, until: is_true(verified), mode: observe}"))
    call.tool("charge", "c1")
    assert call.asked(RunTool)
    assert call.happened(ConstraintBroken) == [
        ConstraintBroken("never charge until is_true(verified)", "c1", "charge")
    ]


BEFORE = """
flow: f
constraints: [{before: [FIRST, c], mode: observe}]
tools: {verify: {}}
phases:
  a: {initial: true, done: is_true(told), transitions: [{to: b, on: go}, {to: c, on: skip}]}
  b: {phases: {x: {initial: true, transitions: [{to: c, on: go}]}, c: {}}}
"""


AWAY = """
digressions:
  faq: {on: faq, phases: {p: {initial: true, transitions: [{to: q, on: go}]}, q: {final: true}}}
"""


@pytest.mark.parametrize("first", ["a", "b", "verify"])
@pytest.mark.parametrize("ways", [("skip",), ("go", "go")])
def test_a_phase_that_is_entered_before_its_time_is_told_and_entered(
    begin: Begin, first: str, ways: tuple[str, ...]
) -> None:
    call = begin(BEFORE.replace("FIRST", first))
    for way in ways:
        assert call.happened(ConstraintBroken) == []
        call.set(way)
    assert call.phase == "c"
    assert call.happened(ConstraintBroken) == [ConstraintBroken(f"before {first}, c", "", "", "c")]


def test_a_phase_that_is_entered_in_its_time_breaks_nothing(begin: Begin) -> None:
    call = begin(BEFORE.replace("FIRST", "a"))
    call.set(told=True)
    call.set("skip")
    assert call.phase == "c"
    assert call.happened(ConstraintBroken) == []


def test_coming_back_from_a_digression_breaks_no_rule_again(begin: Begin) -> None:
    call = begin(BEFORE.replace("FIRST", "a") + AWAY)
    call.set("skip")
    call.set("faq")
    call.set("go")
    call.turn("thanks")
    assert call.phase == "c"
    assert call.happened(ConstraintBroken) == []


def test_what_was_required_and_not_done_is_told_at_the_end(begin: Begin) -> None:
    text = """
flow: f
constraints: [{require: [told, paid]}]
phases:
  told: {initial: true, done: is_true(heard), transitions: [{to: paid, on: pay}, {to: end, on: stop}]}
  paid: {transitions: [{to: end, on: stop}]}
  end: {final: true}
"""  # noqa: E501
    call = begin(text, heard=True)
    call.set("stop")
    assert call.happened(ConversationEnded) == [ConversationEnded("end", ("paid",))]
    whole = begin(text, heard=True)
    whole.set("pay")
    whole.set("stop")
    assert whole.happened(ConversationEnded) == [ConversationEnded("end")]


def test_the_order_of_admission_names_the_first_reason(begin: Begin) -> None:
    call = begin(flow("once: charge", "{never: charge, until: is_true(verified)}"), verified=True)
    call.tool("charge", "c1")
    call.set(verified=False)
    call.tool("charge", "c2")
    assert kinds(call) == ["spent"]


def test_a_call_that_a_phase_forbids_does_not_wait_for_its_guard(begin: Begin) -> None:
    text = flow("{never: log, until: is_true(verified)}") + (
        "extract: [{name: V, schema: {properties: {verified: {}}}, promote: [{field: verified}]}]\n"
    )
    call = begin(text)
    call.turn("yes")
    call.tool("log")
    assert kinds(call) == ["never_until"]
