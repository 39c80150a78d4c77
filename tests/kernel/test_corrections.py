"""A captured value changes: what rested on it is cleared, and the call goes back to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flowengine import Functions
from flowengine.effects import Resolve
from flowengine.facts import FunctionEnded, PhaseEntered

Begin = Callable[..., Any]

FLOW = """
flow: corrections
state: {time: string}
records: {when: {fields: {time: {recognize: {one_of: [seven, eight]}}}}}
resolvers: {free: {args: [time]}}
watch: [{key: go, became_true: true, do: [{run: audit}]}]
phases:
  ask:
    initial: true
    needs: [time]
    transitions: [{to: look, when: captured(time)}]
  look:
    on_enter: [{resolve: free}]
    done: resolved(free)
    transitions: [{to: end, when: free:result == true}]
  end: {final: true}
"""


def functions() -> Functions:
    made = Functions()

    @made.watcher
    async def audit(values: Any) -> dict[str, Any]:
        return {}

    return made


def test_a_correction_in_the_phase_that_it_undoes_enters_it_anew(begin: Begin) -> None:
    call = begin(FLOW, functions())
    call.turn("seven")
    call.answer(call.run("free"), False)
    assert call.phase == "look"
    call.turn("no, eight")
    assert call.happened(PhaseEntered) == [PhaseEntered("look")]
    assert [effect.args for effect in call.asked(Resolve)] == [{"time": "eight"}]
    call.answer(call.run("free"), True)
    assert call.phase == "end"


def test_an_async_function_that_fails_is_a_fact(begin: Begin) -> None:
    call = begin(FLOW, functions())
    call.set(go=True)
    call.answer(call.run("audit"), None, "failed", "no_disk")
    assert call.happened(FunctionEnded) == [FunctionEnded("audit", "failed", "no_disk")]
