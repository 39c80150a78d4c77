"""A model calls a tool by the name that it was told; everything else knows it by its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine.effects import RunTool
from flowengine.facts import CallEnded, ToolDecided

Begin = Callable[..., Any]

FLOW = """
flow: names
tools: {desk.find: {times: once}, desk.pay: {when: is_true(paid)}}
phases:
  a:
    initial: true
    tools: [desk.find, desk.pay]
    transitions: [{to: b, when: called_ok(desk.find)}]
  b: {tools: [desk.pay]}
"""


@pytest.mark.parametrize("name", ["desk.find", "desk__find"])
def test_a_call_is_understood_under_either_name(begin: Begin, name: str) -> None:
    call = begin(FLOW)
    call.tool(name)
    assert [effect.tool for effect in call.asked(RunTool)] == ["desk.find"]
    assert [fact.tool for fact in call.happened(ToolDecided)] == ["desk.find"]
    call.answer(call.run("c"), {})
    assert [fact.tool for fact in call.happened(CallEnded)] == ["desk.find"]
    assert call.phase == "b"


def test_both_names_spend_the_same_tool(begin: Begin) -> None:
    call = begin(FLOW.replace("transitions", "x-transitions"))
    call.tool("desk__find", "one")
    call.tool("desk.find", "two")
    assert [answer.kind for _, answer in call.answers] == ["spent"]


def test_a_refusal_names_the_tools_as_the_model_knows_them(begin: Begin) -> None:
    call = begin(FLOW)
    call.tool("desk__pay")
    [(_, answer)] = call.answers
    assert "Available now: desk__find, desk__pay." in answer.say
    assert answer.say.startswith("desk__pay ")
    assert answer.available == ("desk.find", "desk.pay")


def test_a_tool_that_has_to_come_first_is_named_as_the_model_knows_it(begin: Begin) -> None:
    call = begin(FLOW.replace("phases:", "constraints: [{before: [desk.find, desk.pay]}]\nphases:"))
    call.tool("desk__pay")
    [(_, answer)] = call.answers
    assert (answer.kind, answer.missing) == ("before", ("desk.find",))
    assert answer.say.startswith("desk__pay cannot run before desk__find.")


def test_an_argument_that_the_tool_does_not_take_is_told_in_words(begin: Begin) -> None:
    call = begin(FLOW.replace("desk.pay: {", "desk.pay: {args: {amount: number}, "))
    call.tool("desk__pay", args={"amuont": 5})
    [(_, answer)] = call.answers
    assert answer.kind == "arguments"
    assert answer.say.startswith("desk__pay cannot run: no such argument: it takes amount")


def test_a_name_that_nobody_told_is_refused(begin: Begin) -> None:
    call = begin(FLOW)
    call.tool("desk_find")
    assert [answer.kind for _, answer in call.answers] == ["unknown_tool"]
