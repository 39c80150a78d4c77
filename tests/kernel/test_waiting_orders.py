"""Whatever comes in whatever order: a call waits only for what may come, and is answered once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flowengine.inputs import Heard, Said, TurnEnded

Begin = Callable[..., Any]

FLOW = """
flow: orders
state: {agreed: boolean, amount: decimal, slot: string, paid: boolean}
computed: {big: {cases: [{when: amount > 100, value: true}], else: false}}
records:
  answer: {fields: {agreed: {recognize: yes_no}}}
  sum: {fields: {amount: {recognize: money}, price: {resolve: prices, args: [amount]}}}
  time: {trigger: {interval: 2}, fields: {slot: {recognize: {one_of: [seven, nine]}}}}
extract:
  - {name: X, schema: {properties: {ok: {}}}, promote: [{field: ok, policy: overwrite}]}
  - {name: Y, schema: {properties: {ok: {}}}, promote: [{field: ok}]}
decisions: {sure: {question: Sure?}}
resolvers: {account: {args: [slot]}, prices: {args: [amount]}}
tools:
  charge: {commit: true, when: is_true(agreed) and is_true(big), confirm: Sure?, set: {paid: true}}
  quote: {times: per_correction, when: is_true(big)}
  look: {idempotency_key: k}
  later: {background: when_idle, idempotency_key: k}
  known: {when: resolved(account)}
  sure: {when: decided(sure)}
  priced: {when: is_set(price)}
constraints: [{never: quote, until: ok == true}]
phases:
  a: {initial: true, needs: [agreed, amount], transitions: [{to: b, when: is_true(big)}]}
  b: {on_enter: [{resolve: account}], transitions: [{to: c, when: is_true(paid)}, {to: a, on: go}]}
  c: {tools: {deny: [charge]}, transitions: [{to: a, on: go}]}
"""
TOOLS = ("charge", "quote", "look", "later", "known", "sure", "priced")
WORDS = ("yes", "no, wait", "two hundred dollars", "fifty dollars", "seven", "nine", "well")
BRINGS = {
    "extractor": ({"ok": True}, {"ok": False}, {}, None),
    "decision": tuple({"sure": {"probability": p}} for p in (0.01, 0.5, 0.99)),
    "field": ("5", None),
    "resolver": ({"found": True},),
    "confirmation": (True, False),
    "tool": ({"id": 1},),
}
MOVES = st.one_of(
    st.tuples(st.just("hear"), st.sampled_from(WORDS)),
    st.tuples(st.just("call"), st.sampled_from(TOOLS)),
    st.tuples(st.just("answer"), st.integers(0, 99)),
    st.tuples(st.just("fail"), st.integers(0, 99)),
    st.tuples(
        st.sampled_from(["turn", "end", "say", "interrupt", "ring", "go", "pass"]), st.just(0)
    ),
)


def play(call: Any, move: tuple[str, Any], asked: list[str]) -> None:
    """One input, if it can come now."""
    match move:
        case "hear", words:
            call.send(Heard, words)
        case "call", tool:
            asked.append(f"c{len(asked)}")
            call.tool(tool, asked[-1])
        case ("answer" | "fail") as kind, n if call.snapshot.wait.runs:
            id, run = sorted(call.snapshot.wait.runs.items())[n % len(call.snapshot.wait.runs)]
            brings = BRINGS[run.kind]
            ended = (brings[n % len(brings)],) if kind == "answer" else (None, "failed", "down")
            call.answer(id, *ended)
        case "turn", _:
            call.turn("well")
        case "end", _:
            call.send(TurnEnded)
        case ("say" | "interrupt") as kind, _:
            call.send(Said, "Well", kind == "interrupt")
        case "ring", _ if call.snapshot.wait.timer is not None:
            call.ring()
        case "go", _:
            call.set("go")
        case _:
            call.at += 400


def check(call: Any, answers: Counter[str], asked: list[str]) -> None:
    wait = call.snapshot.wait
    names = [run.name for run in wait.runs.values() if run.kind == "extractor"]
    assert len(names) == len(set(names)), "one run of an extractor at a time"
    assert all(answers[id] == 1 for id in asked if id not in wait.calls)
    for id, waiting in wait.calls.items():
        if waiting.effect or waiting.joins:
            continue
        assert answers[id] == 0
        assert wait.runs, "it would wait for nothing"
        assert call.snapshot.at < waiting.due_at


@settings(max_examples=200, deadline=None)
@given(st.lists(MOVES, max_size=40))
def test_every_call_is_answered_once_and_waits_for_something(
    begin: Begin, moves: list[tuple[str, Any]]
) -> None:
    call, asked, answers = begin(FLOW), list[str](), Counter[str]()
    for move in moves:
        call.effects = []
        play(call, move, asked)
        answers.update(id for id, _ in call.answers)
        check(call, answers, asked)
    for _ in range(80):
        if not call.snapshot.wait.runs:
            break
        call.answer(min(call.snapshot.wait.runs), None, "failed", "down")
        answers.update(id for id, _ in call.answers)
    assert call.snapshot.wait.calls == {}, "when nothing is under way, nothing waits"
    assert [answers[id] for id in asked] == [1] * len(asked)
