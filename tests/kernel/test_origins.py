"""A call waits for whatever its guards rest on, through computed keys and watchers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine import Functions
from flowengine.effects import Decide, RunExtractor, RunTool
from flowengine.inputs import Heard

Begin = Callable[..., Any]

RESTS = {
    "cases": "computed: {big: {cases: [{when: amount > 100, value: true}], else: false}}",
    "map": "computed: {big: {of: amount, map: {'200': true}, else: false}}",
    "value": "computed: {sum: {value: {key: amount}}, big: {of: sum, map: {'200': true}}}",
    "declared": "computed: {big: {run: is_big, reads: [amount]}}",
    "tracked": "computed: {big: {run: is_big}}",
    "chain": "computed: {sum: {value: {key: amount}}, big: {run: is_big, reads: [sum]}}",
    "watcher": "watch: [{key: amount, changed: true, do: [{set: {big: true}}]}]",
    "copy": "watch: [{key: amount, changed: true, do: [{copy: {big: sure}}]}]",
    "guard": "",
}


def functions() -> Functions:
    made = Functions()

    @made.computed
    def is_big(state: Any) -> bool:
        return float(state.get("amount") or state.get("sum") or 0) > 100

    @made.guard(name="open")
    def is_open(state: Any) -> bool:
        return float(state.get("amount") or 0) > 100

    return made


def flow(rests: str, source: str, when: str = "is_true(big)", more: str = "") -> str:
    """A charge that waits for `big`, which rests on the amount that `source` brings."""
    return f"""
flow: origins
state: {{amount: decimal, sure: {{type: boolean, default: true}}}}
{source}
{RESTS[rests]}
tools: {{charge: {{{f'when: "{when}"' if when else ""}}}}}
{more}
phases: {{a: {{initial: true}}}}
"""


RECORD = "records: {r: {fields: {amount: {recognize: money}}}}"
MODEL = """extract:
  - {name: X, schema: {properties: {amount: {}}}, promote: [{field: amount, grounding: accept}]}
  - {name: Mood, schema: {properties: {mood: {}}}}"""


def guard(rests: str) -> str:
    return "custom(open)" if rests == "guard" else "is_true(big)"


@pytest.mark.parametrize("rests", RESTS)
def test_a_record_is_read_for_what_a_guard_rests_on(begin: Begin, rests: str) -> None:
    call = begin(flow(rests, RECORD, guard(rests)), functions())
    call.turn("hello")
    call.send(Heard, "two hundred dollars")
    call.tool("charge")
    assert call.asked(RunTool), call.answers


@pytest.mark.parametrize("rests", RESTS)
def test_an_extractor_is_awaited_for_what_a_guard_rests_on(begin: Begin, rests: str) -> None:
    call = begin(flow(rests, MODEL, guard(rests)), functions())
    call.turn("two hundred dollars")
    call.tool("charge")
    assert call.answers == []
    call.answer(call.run("X"), {"amount": "200"})
    assert call.snapshot.wait.barrier is not None, "the turn still waits for the other run"
    assert call.asked(RunTool), call.answers


@pytest.mark.parametrize("rests", RESTS)
def test_a_question_is_asked_for_what_a_guard_rests_on(begin: Begin, rests: str) -> None:
    source = (
        "decisions: {much: {question: How much?, type: choice, options: ['50', '200'], "
        "writes: amount}}"
    )
    call = begin(flow(rests, source, guard(rests)), functions())
    call.send(Heard, "the higher one")
    call.tool("charge")
    (ask,) = call.asked(Decide)
    sure = {"option": "200", "value": "200", "probability": 0.99, "probabilities": {"200": 0.99}}
    call.answer(ask.id, {"much": sure})
    assert call.asked(RunTool), call.answers


def test_a_constraint_is_followed_as_a_guard_is(begin: Begin) -> None:
    never = "constraints: [{never: charge, until: is_true(big)}]"
    call = begin(flow("cases", RECORD, "", never))
    call.send(Heard, "two hundred dollars")
    call.tool("charge")
    assert call.asked(RunTool), call.answers


@pytest.mark.parametrize("when", ["is_true(derived:ok)", "is_true(X.ok)", "X:status == 'ok'"])
def test_an_extractor_writes_more_than_its_fields(begin: Begin, when: str) -> None:
    call = begin(flow("guard", "extract: [{name: X, schema: {properties: {ok: {}}}}]", when))
    call.turn("well")
    call.tool("charge")
    assert call.answers == []
    call.answer(call.run("X"), {"ok": True})
    assert call.asked(RunTool), call.answers


def test_what_rests_on_something_else_waits_for_nobody(begin: Begin) -> None:
    call = begin(flow("cases", MODEL.replace("amount", "price"), "is_true(big)"))
    call.send(Heard, "two hundred dollars")
    call.tool("charge")
    assert [answer.kind for _, answer in call.answers] == ["guard"]
    assert call.asked(RunExtractor) == []
