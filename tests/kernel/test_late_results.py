"""What was asked before newer words never overwrites them, whatever brings it."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine import Functions
from flowengine.effects import Decide, Resolve, RunFunction

DECIDE = """
flow: d
state: {slot: string}
decisions:
  pick: {question: Which?, type: choice, options: ["seven", "nine"], writes: slot}
phases:
  a:
    initial: true
    needs: [slot]
    transitions: [{to: b, when: decided(pick) and is_true(zzz)}]
  b: {}
"""


def picked(option: str) -> dict[str, Any]:
    """The decision model's answer: this option, surely."""
    sure = {"option": option, "value": option, "probability": 0.99}
    return {"pick": {**sure, "probabilities": {option: 0.99}}}


def test_late_decision_never_overwrites_newer_words(begin: Any) -> None:
    call = begin(DECIDE)
    call.turn("seven")
    (first,) = call.asked(Decide)
    call.turn("nine")
    (second,) = call.asked(Decide)
    call.answer(second.id, picked("nine"))
    assert call.values["slot"] == "nine"
    call.answer(first.id, picked("seven"))
    assert call.values["slot"] == "nine"
    assert call.snapshot.wait.decided["pick"].turn == 2


def test_tool_result_asked_before_newer_words_does_not_overwrite_them(begin: Any) -> None:
    call = begin("""
flow: t
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
tools: {look: {set: {amount: result.amount}}}
phases: {a: {initial: true, needs: [amount]}}
""")
    call.turn("hello")
    call.tool("look")
    run = call.run("c")
    call.turn("I owe fifty dollars")
    assert call.values["amount"] == "50"
    call.answer(run, {"amount": "900"})
    assert call.values["amount"] == "50"


def test_async_watcher_result_from_an_older_turn_does_not_overwrite_newer_words(begin: Any) -> None:
    functions = Functions()

    @functions.watcher
    async def later(values: Any) -> Any:
        return {}

    call = begin(
        """
flow: t
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
watch: [{key: go, became_true: true, do: [{run: later}]}]
phases: {a: {initial: true, needs: [amount]}}
""",
        functions,
    )
    call.turn("hello")
    call.set(go=True)
    (run,) = call.asked(RunFunction)
    call.turn("I owe fifty dollars")
    call.answer(run.id, {"amount": "900"})
    assert call.values["amount"] == "50"


RESOLVE = """
flow: r
state: {id: string}
records: {who: {fields: {id: {recognize: {one_of: [alice, bob]}}}}}
resolvers: {account: {args: [id]}}
phases:
  a: {initial: true, needs: [id], transitions: [{to: b, when: captured(id)}]}
  b:
    on_enter: [{resolve: account}]
    transitions: [{to: c, when: is_true(later)}]
  c: {}
"""


def test_resolver_started_for_the_old_argument_does_not_write_after_the_correction(
    begin: Any,
) -> None:
    call = begin(RESOLVE)
    call.turn("alice")
    run = call.run("account")
    call.turn("no, bob")
    assert call.values["id"] == "bob"
    call.answer(run, {"owner": "alice"})
    assert "account:result" not in call.values


def test_of_two_runs_the_older_never_replaces_the_newer(begin: Any) -> None:
    call = begin("""
flow: r
state: {id: string}
resolvers: {account: {args: [id]}}
watch: [{key: id, changed: true, do: [{resolve: account}]}]
phases: {a: {initial: true}}
""")
    call.set(id="alice")
    (first,) = call.asked(Resolve)
    call.set(id="bob")
    (second,) = call.asked(Resolve)
    call.answer(second.id, {"owner": "bob"})
    call.answer(first.id, {"owner": "alice"})
    assert call.values["account:result"] == {"owner": "bob"}


@pytest.mark.parametrize("prefix", ["turn", "phase"])
def test_a_late_field_of_a_left_phase_or_an_ended_turn_is_dropped(begin: Any, prefix: str) -> None:
    call = begin(f"""
flow: f
state: {{slot: string}}
records:
  r:
    fields:
      slot: {{recognize: {{one_of: [seven, nine]}}}}
      price: {{resolve: prices, args: [slot], to: "{prefix}:price"}}
resolvers: {{prices: {{args: [slot]}}}}
phases: {{a: {{initial: true, transitions: [{{to: b, on: go}}]}}, b: {{}}}}
""")
    call.turn("seven")
    run = call.run("r.price")
    call.ring()  # the barrier is over
    call.set("go")
    assert call.phase == "b"
    call.answer(run, "5")
    assert f"{prefix}:price" not in call.values
