"""How often a tool may run: limits, idempotency keys, reservations, compensation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine.effects import RunTool
from flowengine.facts import CallEnded

Begin = Callable[..., Any]

FLOW = """
flow: limits
state:
  medicine: string
  status: {type: object, depends_on: [medicine]}
records: {choice: {fields: {medicine: {recognize: {one_of: [aspirin, ibuprofen, codeine]}}}}}
tools:
  submit: {args: {id: string}, commit: true, when: is_set(status)}
  check: {when: is_set(medicine), times: per_correction, save_as: status}
  look: {args: {id: string}, times: per_arguments}
  pay: {args: {id: string}, commit: true, when: is_set(medicine), idempotency_key: "{args.id}-{medicine}", compensate_with: refund}
  refund: {args: {id: string}}
phases:
  a:
    initial: true
    needs: [medicine]
"""  # noqa: E501


def ran(call: Any) -> list[str]:
    return [effect.tool for effect in call.asked(RunTool)]


def kinds(call: Any) -> list[str]:
    return [answer.kind for _, answer in call.answers]


def test_a_commit_runs_once_even_while_the_first_is_under_way(begin: Begin) -> None:
    call = begin(FLOW, status={})
    call.tool("submit", "c1", id="1")
    assert ran(call) == ["submit"]
    call.tool("submit", "c2", id="2")
    assert (ran(call), kinds(call)) == ([], ["spent"])
    call.answer(call.run("c1"), {})
    call.tool("submit", "c3", id="1")
    assert (ran(call), kinds(call)) == ([], ["spent"])


@pytest.mark.parametrize("status", ["failed", "timed_out", "cancelled"])
def test_a_failed_run_gives_its_place_back(begin: Begin, status: str) -> None:
    call = begin(FLOW, status={})
    call.tool("submit", "c1", id="1")
    call.answer(call.run("c1"), None, status)
    call.tool("submit", "c2", id="1")
    assert ran(call) == ["submit"]


def test_per_arguments_is_once_for_each_set_of_arguments(begin: Begin) -> None:
    call = begin(FLOW)
    call.tool("look", "c1", id="1")
    call.tool("look", "c2", id="2")
    assert ran(call) == ["look"]
    call.tool("look", "c3", id="1")
    assert kinds(call) == ["spent"]


def test_per_correction_is_renewed_when_what_it_rests_on_is_corrected(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("aspirin")
    call.tool("check", "c1")
    call.answer(call.run("c1"), {"refillable": True})
    call.tool("check", "c2")
    assert kinds(call) == ["spent"]
    call.turn("no, ibuprofen")
    assert "status" not in call.values
    call.tool("check", "c3")
    assert ran(call) == ["check"]
    call.answer(call.run("c3"), {"refillable": True})
    call.turn("sorry, codeine")
    call.tool("check", "c4")
    assert ran(call) == ["check"], "each correction renews it"


def test_an_answer_that_comes_after_a_correction_writes_nothing_that_rests_on_it(
    begin: Begin,
) -> None:
    call = begin(FLOW)
    call.turn("aspirin")
    call.tool("check", "c1")
    call.turn("no, ibuprofen")
    call.answer(call.run("c1"), {"refillable": True})
    assert [(id, answer.status) for id, answer in call.answers] == [("c1", "ran")]
    assert "status" not in call.values
    call.tool("check", "c2")
    call.answer(call.run("c2"), {"refillable": False})
    assert call.values["status"] == {"refillable": False}


def test_calls_of_one_key_share_one_run(begin: Begin) -> None:
    call = begin(FLOW, medicine="aspirin")
    call.tool("pay", "c1", id="1")
    call.tool("pay", "c2", id="1")
    assert (ran(call), call.answers) == ([], [])
    call.answer(call.run("c1"), {"paid": 1})
    assert [(id, answer.value) for id, answer in call.answers] == [
        ("c1", {"paid": 1}), ("c2", {"paid": 1}),
    ]  # fmt: skip
    call.tool("pay", "c3", id="1")
    assert [(a.status, a.value) for _, a in call.answers] == [("ran", {"paid": 1})]
    call.tool("pay", "c4", id="2")
    assert kinds(call) == ["spent"], "another key is another call, and a commit runs once"


def test_a_repeated_key_gets_the_first_result_without_running(begin: Begin) -> None:
    text = FLOW.replace("look: {args: {id: string}, times: per_arguments}",
                        'look: {args: {id: string}, idempotency_key: "{args.id}"}')  # fmt: skip
    call = begin(text)
    call.tool("look", "c1", id="1")
    (run,) = call.asked(RunTool)
    assert run.key == "1"
    call.tool("look", "c2", id="1")
    assert (ran(call), call.answers) == ([], []), "it waits for the run under way"
    call.answer(run.id, {"ok": 1})
    assert [(id, a.status, a.value) for id, a in call.answers] == [
        ("c1", "ran", {"ok": 1}), ("c2", "ran", {"ok": 1}),
    ]  # fmt: skip
    call.tool("look", "c3", id="1")
    assert [(id, a.status, a.value, a.kind) for id, a in call.answers] == [
        ("c3", "ran", {"ok": 1}, "repeated")
    ]
    call.tool("look", "c4", id="2")
    assert ran(call) == ["look"]


def test_a_key_with_nothing_to_fill_it_is_refused(begin: Begin) -> None:
    text = FLOW.replace("{args.id}-{medicine}", "{args.id}-{other}")
    call = begin(text, medicine="aspirin")
    call.tool("pay", id="1")
    assert [(a.kind, a.missing) for _, a in call.answers] == [("idempotency_key", ("other",))]


@pytest.mark.parametrize("undone", ["ok", "failed"])
def test_a_failed_run_is_compensated_with_its_own_arguments(begin: Begin, undone: str) -> None:
    call = begin(FLOW, medicine="aspirin")
    call.tool("pay", "c1", id="1")
    call.answer(call.run("c1"), None, "failed", "boom")
    assert [(id, a.status, a.kind) for id, a in call.answers] == [("c1", "failed", "boom")]
    (undo,) = call.asked(RunTool)
    assert (undo.tool, undo.args) == ("refund", {"id": "1"})
    call.answer(undo.id, {}, undone)
    assert call.happened(CallEnded)[0].tool == "refund"
    assert (call.values.get("compensated:pay") is True) == (undone == "ok")


@pytest.mark.parametrize(("sum", "kind"), [("a", "arguments"), (None, "arguments")])
def test_arguments_that_do_not_fit_their_schema_are_refused(
    begin: Begin, sum: Any, kind: str
) -> None:
    call = begin("flow: f\ntools: {pay: {args: {sum: number}}}\nphases: {a: {initial: true}}")
    call.tool("pay", sum=sum)
    assert [(a.kind, a.missing) for _, a in call.answers] == [(kind, ())]
    assert "sum" in call.answers[0][1].say
    call.tool("pay", "d", sum=1, other=2)
    assert [(a.kind, a.missing) for _, a in call.answers] == [(kind, ())]
    assert "no such argument" in call.answers[0][1].say


def test_a_number_in_quotes_is_the_number(begin: Begin) -> None:
    call = begin(
        "flow: f\ntools: {pay: {args: {sum: number, by: {type: string, default: card}}}}\n"
        "phases: {a: {initial: true}}"
    )
    call.tool("pay", sum="12.5")
    assert [effect.args for effect in call.asked(RunTool)] == [{"sum": 12.5, "by": "card"}]
