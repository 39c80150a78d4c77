"""How often a tool may run: what is spent, what is the same call, what is given back."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine.effects import RunTool


def test_overtaken_runs_do_not_pile_up(begin: Any) -> None:
    call = begin("""
flow: p
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
tools: {quote: {times: per_correction, when: amount > 1}}
phases: {a: {initial: true, needs: [amount]}}
""")
    for n in range(40):
        call.turn(f"{n + 2} dollars")
        call.tool("quote", f"c{n}")
        call.answer(call.run(f"c{n}"), {})
    assert len(call.snapshot.wait.ledger["quote"]) < 5


def test_runs_without_limit_do_not_pile_up_when_their_results_do_not_fit(begin: Any) -> None:
    call = begin("""
flow: p
state: {n: integer}
tools: {look: {set: {n: result.n}}}
phases: {a: {initial: true}}
""")
    for n in range(40):
        call.tool("look", f"c{n}")
        call.answer(call.run(f"c{n}"), {"n": "x"})
    assert not call.snapshot.wait.ledger.get("look")


def test_a_run_overtaken_by_a_correction_is_not_called_ok(begin: Any) -> None:
    call = begin("""
flow: p
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
tools: {quote: {times: per_correction, when: amount > 1}}
phases:
  a: {initial: true, needs: [amount], transitions: [{to: b, when: called_ok(quote)}]}
  b: {}
""")
    call.turn("fifty dollars")
    call.tool("quote", "c1")
    run = call.run("c1")
    call.turn("no, eighty dollars")
    call.answer(run, {"fee": 1})
    assert "quote" not in call.snapshot.wait.succeeded
    assert call.phase == "a"


def test_a_running_commit_is_not_run_beside_itself_after_a_correction(begin: Any) -> None:
    call = begin("""
flow: p
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
tools: {charge: {commit: true, times: per_correction, when: amount > 1}}
phases: {a: {initial: true, needs: [amount]}}
""")
    call.turn("fifty dollars")
    call.tool("charge", "c1")
    call.turn("no, eighty dollars")
    call.tool("charge", "c2")
    assert not call.asked(RunTool)


@pytest.mark.parametrize(
    "again", [{"sum": 200.0}, {"sum": 200, "note": ""}], ids=["the same number", "a default"]
)
def test_arguments_that_mean_the_same_are_the_same_arguments(
    begin: Any, again: dict[str, Any]
) -> None:
    call = begin("""
flow: p
tools:
  charge:
    args: {sum: number, note: {type: string, default: ""}}
    commit: true
    times: per_arguments
phases: {a: {initial: true}}
""")
    call.tool("charge", "c1", sum=200)
    call.answer(call.run("c1"), {})
    call.tool("charge", "c2", **again)
    assert not call.asked(RunTool)


def test_idempotency_key_of_the_same_number(begin: Any) -> None:
    call = begin("""
flow: p
tools: {charge: {args: {sum: number}, idempotency_key: "{args.sum}"}}
phases: {a: {initial: true}}
""")
    call.tool("charge", "c1", sum=200)
    call.answer(call.run("c1"), {})
    call.tool("charge", "c2", sum=200.0)
    assert not call.asked(RunTool)


def test_an_equal_key_under_way_is_waited_for_by_a_commit_too(begin: Any) -> None:
    call = begin("""
flow: p
tools: {charge: {args: {sum: number}, commit: true, idempotency_key: "{args.sum}"}}
phases: {a: {initial: true}}
""")
    call.tool("charge", "c1", sum=200)
    run = call.run("c1")
    call.tool("charge", "c2", sum=200)
    assert call.answers == [], call.answers
    call.answer(run, {"id": 1})
    assert [(i, a.status) for i, a in call.answers] == [("c1", "ran"), ("c2", "ran")]


@pytest.mark.parametrize(
    "computed",
    [
        "{big: {cases: [{when: amount > 100, value: true}]}}",
        "{sum: {value: {key: amount}}, big: {of: sum, map: {'200': true, '300': true}}}",
    ],
)
def test_a_run_rests_on_what_its_guard_is_worked_out_from(begin: Any, computed: str) -> None:
    call = begin(f"""
flow: p
state: {{amount: decimal}}
records: {{r: {{fields: {{amount: {{recognize: money}}}}}}}}
computed: {computed}
tools: {{quote: {{times: per_correction, when: is_true(big)}}}}
phases: {{a: {{initial: true, needs: [amount]}}}}
""")
    call.turn("two hundred dollars")
    call.tool("quote", "c1")
    call.answer(call.run("c1"), {})
    call.tool("quote", "c2")
    assert [answer.kind for _, answer in call.answers] == ["spent"]
    call.turn("no, three hundred dollars")
    call.tool("quote", "c3")
    assert call.asked(RunTool)
