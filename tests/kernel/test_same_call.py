"""One call, whatever happens between its inputs: resumed from JSON or not, read ahead or not."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flowengine import Functions, loads
from flowengine.extract.recognizers import text
from flowengine.facts import canonical_json, lines
from flowengine.inputs import (
    Admin,
    Generated,
    Heard,
    Input,
    Outcome,
    Said,
    Timer,
    ToolCalled,
    TurnEnded,
)
from flowengine.kernel import Kernel, Snapshot, from_json, to_json

FLOW = """
flow: same
timezone: America/New_York
state:
  agreed: boolean
  amount: decimal
  day: date
  slot: string
  name: {type: string, pii: true}
  born: {type: date, pii: true}
computed: {big: {cases: [{when: amount > 100, value: true}], else: false}}
watch:
  - {key: name, changed: true, do: [{copy: {copied: name}}]}
  - {key: slot, changed: true, do: [{run: fussy}]}
records:
  answer: {fields: {agreed: {recognize: yes_no}}}
  sum: {fields: {amount: {recognize: money}, price: {resolve: prices, args: [amount]}}}
  time: {trigger: {interval: 2}, fields: {slot: {recognize: {one_of: [seven, nine]}}}}
  who: {fields: {name: {recognize: {one_of: [jane smith]}}, born: {recognize: date_of_birth}}}
  when: {window: 4, fields: {day: {recognize: date}}}
  tail: {trigger: on_generation_complete, fields: {slot: {recognize: {one_of: [seven, nine]}}}}
extract:
  - {name: X, schema: {properties: {ok: {}, name: {}}}, promote: [{field: ok, policy: overwrite}]}
  - {name: G, trigger: on_generation_complete, schema: {properties: {promised: {}}}}
decisions: {sure: {question: Sure?}, able: {question: Able?}}
resolvers: {account: {args: [slot]}, prices: {args: [amount]}}
tools:
  charge: {commit: true, when: is_true(agreed) and is_true(big), confirm: Sure?, set: {paid: true}}
  quote: {times: per_correction, when: is_true(big)}
  later: {background: when_idle, idempotency_key: k}
  known: {when: resolved(account)}
  sure: {when: decided(sure) and decided(able)}
  dated: {when: is_set(day) and grounded(day)}
phases:
  a: {initial: true, needs: [agreed, amount], transitions: [{to: b, when: is_true(big)}],
      no_input: [{after: 1s, do: [{say: Hello}]}]}
  b: {on_enter: [{resolve: account}], transitions: [{to: c, when: is_true(paid)}, {to: a, on: go}]}
  c: {transitions: [{to: a, on: go}, {to: b, when: decided(sure) and decided(able)}]}
"""
TOOLS = ("charge", "quote", "later", "known", "sure", "dated", "none")
WORDS = (
    "yes", "no, wait", "two", "hundred dollars", "two hundred dollars", "fifty dollars", "seven",
    "nine", "tomorrow", "next friday", "my name is jane smith", "march fifth nineteen eighty", "",
    "   ", "x" * 1200, "well " * 199 + "two hundred dollars", "三百ドル", "да", "\ud800 yes",
    "mañana", "doscientos dólares",
)  # fmt: skip
SETTINGS = (
    {"session:locale": "es-US"}, {"session:locale": "en-GB"}, {"session:locale": "xx"},
    {"session:timezone": "Asia/Tokyo"}, {"session:timezone": "Pacific/Kiritimati"},
    {"session:timezone": "Mars/Base"},
)  # fmt: skip
BRINGS: dict[str, tuple[Any, ...]] = {
    "extractor": ({"ok": True, "name": "jane smith"}, {"promised": "x"}, {"ok": 1, "zz": 2}, None),
    "decision": ({"sure": {"probability": 0.99}, "able": {"probability": 0.99}}, {}),
    "field": ("5", None),
    "resolver": ({"found": True},),
    "confirmation": (True, False),
    "tool": ({"id": 1},),
    "function": ({"note": "jane smith"}, {"day": "no day"}),
}
KINDS = [
    *("hear", "hear", "other", "say", "interrupt", "generate", "end", "end", "call", "call"),
    *("answer", "answer", "answer", "fail", "ring", "go", "set", "wait", "back", "day"),
]
MOVES = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 999)), max_size=40)


def fussy() -> Functions:
    functions = Functions()

    @functions.watcher
    def fussy(new: Any) -> Any:
        if new == "nine":
            raise ValueError
        return {"note": new}

    return functions


PLAIN, AHEAD = Kernel(loads(FLOW), fussy()), Kernel(loads(FLOW), fussy())
CLOCK = {"wait": 400, "back": -700, "day": 86_400_000}


def input_of(move: str, n: int, id: str, at: int, now: Snapshot) -> Input | None:
    """What comes, if it can come now."""
    runs, timer, words = sorted(now.wait.runs.items()), now.wait.timer, WORDS[n % len(WORDS)]
    match move:
        case "hear":
            return Heard(id, at, words)
        case "other":
            return Heard(id, at, words, (WORDS[(n * 7) % len(WORDS)], WORDS[(n * 3) % len(WORDS)]))
        case "say" | "interrupt":
            return Said(id, at, "What day?", move == "interrupt")
        case "generate":
            return Generated(id, at, "You have it by seven")
        case "end":
            return TurnEnded(id, at)
        case "call":
            return ToolCalled(id, at, f"c{id}", TOOLS[n % len(TOOLS)], {})
        case "answer" | "fail" if runs:
            effect, run = runs[n % len(runs)]
            brings = BRINGS[run.kind]
            if move == "fail":
                return Outcome(id, at, effect, "failed", None, "down")
            return Outcome(id, at, effect, "ok", brings[n % len(brings)])
        case "ring" if timer is not None:
            return Timer(id, max(at, timer[1]), timer[0])
        case "go":
            return Admin(id, at, event="go")
        case "set":
            return Admin(id, at, SETTINGS[n % len(SETTINGS)], by="runtime")
        case _:
            return None


def resumed(snapshot: Snapshot) -> Snapshot:
    return from_json(json.loads(canonical_json(to_json(snapshot))))


def shown(step: Any) -> tuple[Any, ...]:
    told = (*lines(step.snapshot.seq, step.facts),)
    return told, step.effects, canonical_json(to_json(step.snapshot))


def is_private(fact: str) -> bool:
    return "jane smith" in fact.lower() or "1980-03-05" in fact


@settings(max_examples=120, deadline=None)
@given(MOVES)
def test_a_call_is_the_same_read_ahead_or_resumed_at_every_input(
    moves: list[tuple[str, int]],
) -> None:
    at = 1_780_000_000_000
    warm, cold = PLAIN.start(at).snapshot, AHEAD.start(at).snapshot
    for id, (move, n) in enumerate(moves):
        at += CLOCK.get(move, 0)
        input = input_of(move, n, str(id), at, warm)
        if input is None:
            continue
        at = max(at, input.at)
        text._recent.cache_clear()  # pyright: ignore[reportPrivateUsage]
        one = PLAIN.step(resumed(cold), input)
        AHEAD.read_ahead(warm)
        other = AHEAD.step(warm, input)
        assert shown(one) == shown(other)
        cold, warm = one.snapshot, other.snapshot
        assert PLAIN.reopen(resumed(cold)) == AHEAD.reopen(warm)
        check(input, one, warm)


def check(input: Input, step: Any, now: Snapshot) -> None:
    """No words are lost, nothing waits for nothing, and no fact tells what is private."""
    if isinstance(input, Heard):
        assert now.transcript.current.user.endswith(input.text)
    barrier = now.wait.barrier
    assert barrier is None or (barrier.runs and now.wait.runs.keys() >= set(barrier.runs))
    assert barrier is None or now.wait.timer is not None
    if "jane smith" in str(now.values.get("name")):
        assert not any(map(is_private, lines(now.seq, step.facts)))


def test_what_a_call_of_many_turns_keeps_does_not_grow() -> None:
    kernel = PLAIN
    now, sizes = kernel.start(0).snapshot, list[int]()
    for turn in range(1, 241):
        at = turn * 60_000
        told: list[Input] = [
            Heard(f"h{turn}", at, f"it is jane smith, {turn} dollars"),
            ToolCalled(f"t{turn}", at, f"call {turn}", TOOLS[turn % len(TOOLS)], {}),
            Said(f"s{turn}", at, "Well"),
            TurnEnded(f"e{turn}", at),
        ]
        for input in told:
            now = kernel.step(now, input).snapshot
        for n in range(20):
            if runs := sorted(now.wait.runs):
                ended = Outcome(f"o{turn}.{n}", at, runs[0], "failed", None, "down")
                now = kernel.step(now, ended).snapshot
        sizes.append(len(canonical_json(to_json(now))) - len(now.wait.used))
    assert max(sizes[120:]) < 1.1 * max(sizes[60:120])
