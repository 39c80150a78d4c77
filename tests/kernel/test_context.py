"""What the model is told, and why the conversation stands where it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine import FlowError, Functions
from flowengine.kernel import Explanation

Begin = Callable[..., Any]

FLOW = """
flow: told
instruction: You are Ada.
amendment: Stay on the subject.
state: {name: {type: string, pii: true}, amount: decimal}
phase_defaults: {show: [name], context: "Caller: {name}."}
tools: {look: {}, pay: {when: captured(amount)}}
phases:
  ask:
    initial: true
    instruction: Ask how much. Be kind, {name}.
    context: "So far {amount}."
    show: ["order:item"]
    notes: [{when: is_true(angry), text: Apologise.}]
    needs: [amount, "order:item"]
    tools: [look]
    transitions:
      - {to: confirm, when: captured(amount) and confidence(amount) >= 0.9, description: sum known}
      - {to: ask, on: again}
      - {to: closed, on: stop}
      - {to: confirm, after: 30s}
  confirm:
    instruction: Read it back.
    tools: {deny: [pay]}
    transitions: [{to: closed}]
  closed: {final: true}
"""


def context(call: Any, **more: Any) -> Any:
    return call.kernel.context(call.snapshot, **more)


def test_the_instruction_joins_standing_text_phase_and_notes(begin: Begin) -> None:
    call = begin(FLOW, name="Jo")
    assert context(call).instruction == (
        "You are Ada.\nAsk how much. Be kind, Jo.\nStay on the subject."
    )
    call.set(angry=True)
    assert "Be kind, Jo.\nApologise.\nStay" in context(call).instruction
    assert "Stay on" not in context(call, moved=True).instruction, "only where no phase moved"


def test_a_template_replaces_the_whole_instruction_while_it_yields_text(begin: Begin) -> None:
    call = begin(FLOW + 'instruction_template: "{script}"\n')
    assert "Ada" in context(call).instruction
    call.set(script="Say nothing.")
    assert context(call).instruction == "Say nothing."


def test_shown_keys_and_known_facts_follow_state(begin: Begin) -> None:
    call = begin(FLOW, name="Jo")
    assert (context(call).known, context(call).facts) == ({"name": "Jo"}, "Caller: Jo.\nSo far .")
    call.set(**{"order:item": "soup"})
    assert context(call).known == {"name": "Jo", "order:item": "soup"}
    assert "Known so far:\n- name: Jo\n- item: soup" in context(call).text()


def test_navigation_says_where_it_was_what_is_needed_and_where_it_may_lead(begin: Begin) -> None:
    call = begin(FLOW)
    assert context(call).navigation == (
        "Now in: ask - Ask how much.\nStill needed: amount, item\n"
        "May lead to: confirm - sum known\nMay lead to: closed"
    )
    assert context(call).unmet == ("amount", "order:item")
    call.at = 30_000
    call.turn()
    assert context(call).navigation == (
        "Now in: confirm - Read it back.\nBefore: ask (turn 1)\nMay lead to: closed"
    )
    call.turn()
    assert context(call).navigation == (
        "Now in: closed\nBefore: ask (turn 1), confirm (turn 2)\nThis is the final phase."
    )
    assert context(call).tools == ()


def test_tools_are_those_of_the_phase_whether_or_not_their_guard_holds(begin: Begin) -> None:
    call = begin(FLOW)
    assert context(call).tools == ("look",)
    call.at = 30_000
    call.turn()
    assert context(call).tools == ("look",)
    assert context(begin(FLOW.replace("tools: [look]", "title: x"))).tools == ("look", "pay")


def test_texts_can_be_functions_of_state(begin: Begin) -> None:
    functions = Functions()
    functions.text(name="kind")(lambda find: f"Hello {find('name')}" if find("name") else None)
    call = begin(FLOW.replace("instruction: You are Ada.", "instruction: {run: kind}"), functions)
    assert context(call).instruction.startswith("Ask how much.")
    call.set(name="Jo")
    assert context(call).instruction.startswith("Hello Jo\n")


# -- why not --------------------------------------------------------------------------------------


def explained(call: Any) -> Explanation:
    return call.kernel.explain(call.snapshot)


def test_why_not_names_for_each_edge_what_is_false_or_unknown_and_what_is_missing(
    begin: Begin,
) -> None:
    why = explained(begin(FLOW)).why_not("confirm")
    assert [edge.open for edge in why.edges] == [False, False]
    assert why.missing == ("amount",)
    assert "30s in the phase (now 0s)" in str(why).replace("0ms", "0s")
    assert "captured(amount)" in str(why)


def test_why_not_shows_present_values_but_not_those_of_pii_keys(begin: Begin) -> None:
    call = begin(FLOW.replace("captured(amount) and", "name == 'Al' and amount > 5 and"))
    call.set(name="Jo", amount="3")
    text = str(explained(call).why_not("confirm"))
    assert "3" in text
    assert "Jo" not in text


def test_why_not_where_no_edge_leads_or_the_phase_is_active(begin: Begin) -> None:
    call = begin(FLOW)
    assert str(explained(call).why_not("ask")) == "'ask' is active."
    call.at = 30_000
    call.turn()
    assert str(explained(call).why_not("ask")) == "No edge leads from 'confirm' to 'ask'."
    with pytest.raises(FlowError, match="Did you mean 'confirm'"):
        explained(call).why_not("confrim")


def test_an_edge_that_explains_itself_as_open_is_taken(begin: Begin) -> None:
    call = begin(FLOW)
    call.at = 29_999
    call.set(x=1)
    assert not any(edge.open for edge in explained(call).why_not("confirm").edges)
    call.at = 30_000
    assert call.set(x=2).snapshot.place.active == ("confirm",)
