"""One input: the same facts every time, its record part kept, its consequences all or none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowengine import FlowError, Functions, loads
from flowengine.errors import FlowEngineError
from flowengine.facts import (
    BarrierSettled,
    InputFailed,
    InputIgnored,
    RunEnded,
    SessionStarted,
    lines,
)
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
from flowengine.kernel import Kernel, Step, from_json, to_json

EVERYTHING = """
flow: everything
state:
  amount: decimal
  name: {type: string, pii: true}
  agreed: {type: boolean, depends_on: [amount]}
  paid: {type: boolean, writers: ["tool:pay"]}
records:
  promise: {fields: {amount: {recognize: money}}}
extract:
  - name: Mood
    schema: {type: object, properties: {mood: {type: string}, agreed: {type: boolean}}}
    promote:
      - {field: mood, to: "turn:mood", policy: overwrite}
      - {field: agreed, policy: overwrite}
    on_failure: {raise: lost}
  - {name: Later, trigger: after_tool_call, schema: {properties: {note: {}}}}
  - {name: Promised, trigger: on_generation_complete, schema: {properties: {promised: {}}}}
  - {name: Entered, trigger: on_phase_change, on_failure: hold, schema: {properties: {tone: {}}}}
computed:
  large: {cases: [{when: amount > 100, value: true}], else: false}
  odd: {run: odd}
watch:
  - {key: large, became_true: true, do: [{set: {"phase:warned": true}}, {run: react}]}
patterns:
  - {name: cross, when: "turn:mood == 'angry'", turns: 2, do: [{raise: calm_down}]}
  - {name: slow, when: is_true(agreed), sustained: 20s, do: [{set: {slow: true}}]}
resolvers:
  account: {args: [amount]}
tools:
  pay: {args: {sum: number}, when: "is_true(agreed) and args.sum > 0", set: {paid: true}}
  note: {save_as: noted}
digressions:
  detour:
    on: ask
    phases:
      aside: {initial: true, transitions: [{to: back}]}
      back: {final: true, say: Where were we?}
global_transitions:
  - {to: closed, on: hang_up}
  - {to: calm, on: calm_down}
fallback_transitions:
  - {to: calm, when: is_true(slow)}
phases:
  ask:
    initial: true
    say: How much?
    needs: [amount]
    repair: {reprompt_after: 1, escalate_after: 3}
    transitions:
      - {to: confirm, when: captured(amount)}
      - {to: calm, after: 30s}
  confirm:
    tools: [pay]
    needs: [agreed]
    on_enter: [{resolve: account}]
    transitions:
      - {to: closed, when: is_true(paid)}
      - {to: ask, when: custom(fussy)}
  calm:
    transitions: [{to: ask}]
  closed: {final: true, say: Goodbye.}
monitors:
  mood:
    phases:
      fine: {initial: true, transitions: [{to: bad, when: "turn:mood == 'angry'"}]}
      bad: {transitions: [{to: fine, when: "turn:mood == 'fine'"}]}
"""

functions = Functions()


@functions.computed
def odd(state: Any) -> bool:
    return len(str(state.get("noted", ""))) % 2 == 1 and 1 / (len(state.get("name", "")) - 3) > 0


@functions.watcher
def react(new: Any, state: Any) -> dict[str, Any]:
    return {"seen": new}


@functions.guard(reads=["amount"])
def fussy(state: Any) -> bool:
    return int(float(state["amount"])) % 7 == 3


FLOW = loads(EVERYTHING)
KERNEL = Kernel(FLOW, functions)

ids = st.sampled_from(["nonsense", "c1", "c2"]) | st.builds(
    "{}.{}".format, st.integers(0, 14), st.integers(0, 3)
)
words = st.sampled_from(["hello", "two hundred dollars", "no, make it ten dollars", "nonsense", ""])
values = st.sampled_from([None, True, False, "", "abc", 5, 5.5, [1], {"a": {"b": None}}])
fields = st.dictionaries(st.sampled_from(["mood", "agreed", "note", "tone", "what"]),
                         st.sampled_from(["angry", "fine", True, 3, None]))  # fmt: skip
keys = st.sampled_from(["amount", "agreed", "name", "noted", "paid", "slow", "turn:mood", "phase:x",
                        "derived:large", "session:locale", "large", "x"])  # fmt: skip
writes = st.dictionaries(keys, values | st.sampled_from(["3", "12.50"]), max_size=2)
tools = st.sampled_from(["pay", "note", "note", "what"])
events = st.sampled_from([None, "ask", "hang_up", "calm_down", "lost", "what"])
sums = st.fixed_dictionaries({"sum": st.sampled_from([5, 0, None])})
inputs = st.one_of(
    st.builds(lambda text: (Heard, (text,)), words),
    st.builds(lambda text, cut: (Said, (text, cut)), words, st.booleans()),
    st.builds(lambda text: (Generated, (text,)), words),
    st.builds(lambda values: (TurnEnded, (values,)), writes),
    *[st.just((TurnEnded, ()))] * 2,
    st.builds(lambda *a: (ToolCalled, a), ids, tools, sums),
    st.builds(
        lambda effect, status, value: (Outcome, (effect, status, value, "code")),
        st.sampled_from(["open", "open", "open", "1.0"]),
        st.sampled_from(["ok", "ok", "failed", "timed_out", "cancelled"]),
        values | fields | fields,
    ),
    st.builds(lambda id: (Timer, (id,)), st.sampled_from(["open", "open", "1.0"])),
    st.builds(lambda set, event: (Admin, (set, (), event)), writes, events),
    st.builds(lambda key: (Admin, ({}, (key,))), keys),
)  # fmt: skip
walks = st.lists(
    st.tuples(st.sampled_from([0, 0, 10, 1_500, 6_000, 40_000]), inputs), min_size=6, max_size=40
)


def make(number: int, at: int, step: Step, kind: Any, args: tuple[Any, ...]) -> Input:
    """The input; `open` stands for an id that is really open, if there is one."""
    wait = step.snapshot.wait
    if args and args[0] == "open":
        known = [wait.timer[0]] if wait.timer else []
        real = list(wait.runs) if kind is Outcome else known
        args = (real[number % len(real)] if real else "none", *args[1:])
    return kind(str(number), at, *args)


def run(walk: list[Any], restart: bool) -> tuple[list[str], list[Input], Step]:
    step, at = KERNEL.start(0), 0
    found, given = list(lines(0, step.facts)), []
    for number, (span, (kind, args)) in enumerate(walk):
        at += span
        given.append(make(number, at, step, kind, args))
        snapshot = step.snapshot
        if restart:
            snapshot = from_json(json.loads(json.dumps(to_json(snapshot))))
            assert snapshot == step.snapshot
        step = KERNEL.step(snapshot, given[-1])
        assert step.error is None or isinstance(step.error, FlowEngineError)
        found += [*lines(step.snapshot.seq, step.facts), *map(repr, step.effects)]
    return found, given, step


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(walks)
def test_the_same_inputs_give_the_same_facts_even_from_restored_snapshots(walk: list[Any]) -> None:
    found, given_inputs, step = run(walk, restart=False)
    again, inputs_again, restored = run(walk, restart=True)
    assert found == again
    assert given_inputs == inputs_again
    assert to_json(step.snapshot) == to_json(restored.snapshot)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(walks)
def test_whatever_comes_in_a_call_is_answered_at_most_once_and_only_open_ones_wait(
    walk: list[Any],
) -> None:
    found, given_inputs, step = run(walk, restart=False)
    asked = {i.call for i in given_inputs if isinstance(i, ToolCalled)}
    settled = [json.loads(line) for line in found if line.startswith("{")]
    decided = [f["call"] for f in settled if f["fact"] == "ToolDecided"]
    ended = [f["call"] for f in settled if f["fact"] == "CallEnded"]
    assert len(decided) == len(set(decided))
    assert len(ended) == len(set(ended))
    wait = step.snapshot.wait
    assert asked == {id for id, _ in wait.answered} | set(wait.calls)
    assert not {id for id, _ in wait.answered} & set(wait.calls)
    assert {c.effect for c in wait.calls.values() if c.effect} == {
        id for id, r in wait.runs.items() if r.kind == "tool"
    }


# -- what failing leaves behind -------------------------------------------------------------------

FAILING = """
flow: failing
state: {amount: integer, secret: {type: string, pii: true}}
records: {r: {fields: {amount: {recognize: integer}}}}
extract: [{name: E, schema: {properties: {x: {}}}}]
computed: {half: {run: half}}
watch: [{key: amount, changed_to: 13, do: [{set: {unlucky: true}}, {run: react}]}]
phases:
  a: {initial: true, transitions: [{to: b, when: amount > 20}, {to: b, when: custom(fussy)}]}
  b: {}
"""


def _failing(where: str) -> Functions:
    functions = Functions()

    def maybe(name: str, result: Any) -> Any:
        if name == where:
            raise ValueError("the caller said two hundred")
        return result

    functions.computed(name="half")(lambda state: maybe("half", 1) if "amount" in state else 0)
    functions.guard(name="fussy", reads=["amount"])(
        lambda state: maybe("fussy", False) if "amount" in state else False
    )

    @functions.watcher
    def react(new: Any) -> Any:
        return maybe("react", [1] if where == "no mapping" else {"reacted": new})

    return functions


@pytest.mark.parametrize(
    ("where", "place"),
    [("half", "computed key half"), ("fussy", "guard fussy"), ("react", "watcher react"),
     ("no mapping", "watcher react")],
)  # fmt: skip
def test_a_function_that_raises_fails_its_input_and_everything_rolls_back_together(
    begin: Callable[..., Any], where: str, place: str
) -> None:
    call = begin(FAILING, _failing(where))
    before = call.snapshot
    step = call.set(amount=13)
    assert isinstance(step.error, FlowEngineError)
    assert step.facts == (InputFailed("1", "function_failed", place),)
    assert step.effects == ()
    after = call.snapshot
    assert (after.values, after.place, after.seq) == (before.values, before.place, before.seq + 1)


def test_a_failing_turn_keeps_its_words_and_closes_its_barrier_empty(
    begin: Callable[..., Any],
) -> None:
    call = begin(FAILING, _failing("react"))
    call.turn("thirteen, and my name is Bond")
    step = call.answer(call.run("E"), {"x": 1})
    assert [type(fact) for fact in step.facts] == [RunEnded, BarrierSettled, InputFailed]
    assert step.facts[1] == BarrierSettled(1, "failed")
    assert call.snapshot.transcript.turns[-1].user == "thirteen, and my name is Bond"
    assert (call.snapshot.wait.barrier, dict(call.values)) == (None, {"derived:half": 0})
    assert "Bond" not in "".join(map(repr, step.facts)) + str(step.error)
    call.turn("twenty one")
    call.answer(call.run("E"), {"x": 2})
    assert (call.phase, call.values["derived:x"]) == ("b", 2)


def test_a_wrong_type_fails_the_input_and_writes_nothing(begin: Callable[..., Any]) -> None:
    call = begin(FAILING, _failing(""))
    call.set(first=1, amount="many")
    assert call.facts == [InputFailed("1", "wrong_type", "WrongTypeError")]
    assert "first" not in call.values


def test_turn_keys_end_even_if_the_input_fails(begin: Callable[..., Any]) -> None:
    call = begin(FAILING, _failing(""))
    call.turn("", "hello", **{"turn:x": 1})
    call.set(amount="many")
    assert "turn:x" not in call.values


def test_facts_carry_no_value_of_a_pii_key_and_no_words(begin: Callable[..., Any]) -> None:
    call = begin("""
flow: pii
state: {name: {type: string, pii: true}, born: {type: string, pii: true}}
records: {r: {fields: {born: {recognize: {regex: "born ([0-9]+)"}}}}}
extract: [{name: Who, schema: {properties: {name: {}}}, promote: [{field: name}]}]
computed:
  greeting: {of: name, map: {Jane: "Dear Jane"}}
  louder: {of: greeting, map: {"Dear Jane": "DEAR Jane"}}
phases: {a: {initial: true}}
""")
    seen = []
    call.turn("I am Jane, born 1977", "Hello Jane")
    seen += call.facts
    call.answer(call.run("Who"), {"name": "Jane"})
    seen += call.facts
    assert (call.values["name"], call.values["born"]) == ("Jane", "1977")
    text = "".join(lines(0, seen))
    assert "Jane" not in text
    assert "1977" not in text


def test_a_snapshot_of_another_flow_is_refused() -> None:
    other = Kernel(loads("flow: other\nphases: {a: {initial: true}}"))
    with pytest.raises(FlowError, match="another version of flow 'everything'"):
        KERNEL.step(other.start(0).snapshot, Heard("1", 0, "hello"))


def test_the_first_fact_says_what_the_others_depend_on() -> None:
    first = KERNEL.start(5).facts[0]
    assert isinstance(first, SessionStarted)
    assert (first.flow, first.flow_hash, first.at) == ("everything", KERNEL.compiled.hash, 5)


@pytest.mark.parametrize(
    ("input", "reason"),
    [
        (Outcome("1", 0, "9.9"), "no such effect is open"),
        (Timer("1", 0, "9.9"), "no such timer is set"),
    ],
)
def test_what_nobody_waits_for_is_ignored_with_a_fact(input: Input, reason: str) -> None:
    step = KERNEL.step(KERNEL.start(0).snapshot, input)
    assert step.facts == (InputIgnored("1", reason),)
