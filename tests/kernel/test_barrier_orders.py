"""The barrier holds its rules in every order in which two turns, three extractors, a tool call and
a timer may arrive, with a crash and a resume between any two of them.

All orders are walked as one graph: orders that lead to the same snapshot go on as one, and each
step of each is checked. A cause comes before its effects; nothing else is assumed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import pytest

from flowengine import loads
from flowengine.effects import AnswerTool, RunExtractor, RunTool
from flowengine.facts import BarrierSettled, KeyWritten, RunEnded, ToolDecided, canonical_json
from flowengine.facts import lines as fact_lines
from flowengine.inputs import Heard, Input, Json, Outcome, Timer, ToolCalled, TurnEnded
from flowengine.kernel import Kernel, Snapshot, Step, from_json, to_json

FLOW = loads("""
flow: orders
state: {amount: decimal, paid: {type: boolean, writers: ["tool:pay"]}}
records: {promise: {fields: {amount: {recognize: money}}}}
extract:
  - name: Mood
    schema:
      properties:
        mood: &mood {enum: [calm, brisk, tense, relieved]}
        note: {enum: [first, second]}
    promote: [{field: mood, policy: overwrite}, {field: note, to: "turn:note", policy: overwrite}]
  - name: Plan
    schema: {properties: {plan: {enum: [pay, wait]}, mood: *mood}}
    promote: [{field: plan, policy: overwrite}, {field: mood, policy: overwrite}]
  - name: Risk
    min_words: 6
    schema: {properties: {risk: {enum: [high, low]}, cause: {enum: [rent, work]}}}
    promote: [{field: risk, policy: overwrite}, {field: cause}]
tools: {pay: {when: plan == 'pay', set: {paid: true}}}
phases:
  a: {initial: true, transitions: [{to: b, when: plan == 'pay'}]}
  b: {transitions: [{to: c, when: is_true(paid)}]}
  c: {}
""")
WORDS = ("I can pay two hundred dollars", "make it three hundred dollars")
ANSWERS: dict[tuple[str, int], dict[str, Json]] = {
    ("Mood", 1): {"mood": "calm", "note": "first"},
    ("Mood", 2): {"mood": "brisk", "note": "second"},
    ("Plan", 1): {"plan": "pay", "mood": "tense"},
    ("Plan", 2): {"plan": "pay", "mood": "relieved"},
    ("Risk", 1): {"risk": "high", "cause": "rent"},
}
EXTRACTORS = ("Mood", "Plan", "Risk")
SPOKEN = ("heard 1", "ended 1", "heard 2", "ended 2")


class Node(NamedTuple):
    """A call between two inputs."""

    snapshot: Snapshot
    spoken: int
    """How much of the two turns has happened."""
    called: bool
    rung: bool
    runs: tuple[int, ...]
    """Runs that were asked of each extractor."""
    answers: int
    """Answers that the tool call has got."""


Key: TypeAlias = tuple[str, tuple[Any, ...]]
"""A node that equals another: its snapshot in canonical JSON, and the rest of it."""


def key(node: Node) -> Key:
    return canonical_json(to_json(node.snapshot)), node[1:]


class Walk:
    """Every order of arrival, from the start to where nothing more can come."""

    def __init__(self, failing: str = "") -> None:
        self.kernel, self.failing = Kernel(FLOW), failing
        self.orders, self.steps, self.states = 0, 0, 0
        self.ends: list[Node] = []
        self.reasons: Counter[str] = Counter()

    def all(self) -> None:
        first = self.first()
        level = {key(first): (first, 1)}
        while level:
            level = self.next_level(level)

    def first(self) -> Node:
        """The caller has begun to speak; with a run that fails, the first turn has ended too."""
        node = Node(self.kernel.start(0).snapshot, 0, False, False, (0, 0, 0), 0)
        for _ in range(2 if self.failing else 1):
            input = next(self.arrivals(node))
            node = after(node, input, self.kernel.step(node.snapshot, input))
        return node

    def next_level(self, nodes: dict[Key, tuple[Node, int]]) -> dict[Key, tuple[Node, int]]:
        """Where one more input leads, with the number of orders that lead there."""
        level: dict[Key, tuple[Node, int]] = {}
        for node, ways in nodes.values():
            self.states += 1
            resumed = from_json(json.loads(json.dumps(to_json(node.snapshot))))
            self.check_resumed(node, resumed)
            arrivals = list(self.arrivals(node))
            if not arrivals:
                self.ends.append(node)
                self.orders += ways
            for input in arrivals:
                after = self.take(node, resumed, input)
                there = key(after)
                level[there] = (after, level[there][1] + ways if there in level else ways)
        return level

    # -- what may come next -----------------------------------------------------------------------

    def arrivals(self, node: Node) -> Iterator[Input]:
        at, wait = node.snapshot.at, node.snapshot.wait
        if node.spoken < len(SPOKEN):
            turn, ends = divmod(node.spoken, 2)
            id = SPOKEN[node.spoken]
            yield TurnEnded(id, at) if ends else Heard(id, at, WORDS[turn])
        if not node.called:
            yield ToolCalled("called", at, "call", "pay")
        if wait.timer is not None and not node.rung:
            yield Timer("rung", wait.timer[1], wait.timer[0])
        for effect, run in wait.runs.items():
            if run.kind == "tool":
                yield Outcome(f"outcome-{effect}", at, effect, "ok", True)
            elif (run.name, run.turn) == (self.failing, 1):
                yield Outcome(f"outcome-{effect}", at, effect, "failed", None, "down")
            else:
                yield Outcome(f"outcome-{effect}", at, effect, "ok", ANSWERS[run.name, run.turn])

    def take(self, node: Node, resumed: Snapshot, input: Input) -> Node:
        """One step, made twice: by the process that was there, and by one that has resumed."""
        self.steps += 1
        step, again = self.kernel.step(node.snapshot, input), self.kernel.step(resumed, input)
        assert same_bytes(step, again)
        assert (step.effects, step.error) == (again.effects, None)
        check(node, input, step)
        self.reasons.update(f.reason for f in step.facts if isinstance(f, BarrierSettled))
        return after(node, input, step)

    def check_resumed(self, node: Node, resumed: Snapshot) -> None:
        """Everything that is still open is asked for again, under the id that it had."""
        asked = [e for e in self.kernel.reopen(resumed) if isinstance(e, RunExtractor | RunTool)]
        assert [effect.id for effect in asked] == list(node.snapshot.wait.runs)
        for effect in asked:
            if isinstance(effect, RunExtractor):
                assert effect.turn == effect.window[-1].number


def after(node: Node, input: Input, step: Step) -> Node:
    asked = Counter(e.name for e in step.effects if isinstance(e, RunExtractor))
    return Node(
        step.snapshot,
        node.spoken + isinstance(input, Heard | TurnEnded),
        node.called or isinstance(input, ToolCalled),
        node.rung or isinstance(input, Timer),
        tuple(n + asked[name] for n, name in zip(node.runs, EXTRACTORS, strict=True)),
        node.answers + sum(isinstance(effect, AnswerTool) for effect in step.effects),
    )


def same_bytes(step: Step, again: Step) -> bool:
    """Whether the facts are written alike; equal spellings in Python save the writing."""
    if repr(step.facts) == repr(again.facts):
        return True
    seq = step.snapshot.seq
    return [*fact_lines(seq, step.facts)] == [*fact_lines(seq, again.facts)]


# -- what must hold in every step -----------------------------------------------------------------


def check(before: Node, input: Input, step: Step) -> None:
    check_barrier(before.snapshot, input, step)
    check_writes(before, step)
    check_turn_keys(before.snapshot, input, step)
    check_runs(step.snapshot)
    check_call(before, input, step)


def check_barrier(before: Snapshot, input: Input, step: Step) -> None:
    """It settles when its runs have landed, when its time is over, or when the next turn ends."""
    barrier, now = before.wait.barrier, step.snapshot.wait.barrier
    settled = [fact.reason for fact in step.facts if isinstance(fact, BarrierSettled)]
    if now is not None:
        assert now.runs
        assert set(now.runs) <= step.snapshot.wait.runs.keys()
        assert step.snapshot.at < now.due_at
    if barrier is None:
        assert settled == []
        return
    last = isinstance(input, Outcome) and barrier.runs == (input.effect,)
    over = isinstance(input, Timer) and input.at >= barrier.due_at
    next_turn = isinstance(input, TurnEnded)
    why = ["all runs landed"] * last + ["timed out"] * over + ["next turn"] * next_turn
    assert settled == why
    if not why:
        assert now is not None
        assert (now.turn, now.due_at) == (barrier.turn, barrier.due_at)


def check_writes(before: Node, step: Step) -> None:
    """A value is replaced only by one of a later (turn, order)."""
    now = step.snapshot
    for key, old in before.snapshot.evidence.items():
        if key in ("mood", "plan", "risk", "cause", "amount"):
            new = now.evidence[key]
            assert (new.turn, new.order) >= (old.turn, old.order)
            if now.values[key] != before.snapshot.values[key]:
                assert (new.turn, new.order) > (old.turn, old.order)


def check_turn_keys(before: Snapshot, input: Input, step: Step) -> None:
    """A `turn:` key is of the newest turn; it goes with the next input once that has settled, and
    what comes later for it is dropped."""
    now = step.snapshot
    if "turn:note" in now.values:
        assert now.evidence["turn:note"].turn == now.transcript.turns[-1].number
        assert not (before.settled and "turn:note" in before.values)
    late = [fact.run for fact in step.facts if isinstance(fact, RunEnded) and fact.status == "late"]
    if late:
        assert before.wait.barrier is None or late[0] not in before.wait.barrier.runs
        written = [f.new for f in step.facts if isinstance(f, KeyWritten) and f.key == "turn:note"]
        assert written in ([], [None])


def check_runs(now: Snapshot) -> None:
    """At most one run of an extractor is open, and at most one follows it."""
    names = [run.name for run in now.wait.runs.values() if run.kind == "extractor"]
    assert len(names) == len(set(names))
    assert now.wait.queued <= set(names)


def check_call(before: Node, input: Input, step: Step) -> None:
    """It is admitted when its guard holds, waits only for what may make it hold, is answered once;
    a decision on what the run that it waits for has brought comes before any phase moves."""
    now = step.snapshot
    answered = sum(isinstance(effect, AnswerTool) for effect in step.effects)
    assert before.answers + answered <= 1
    holds = now.values.get("plan") == "pay"
    decided = [fact for fact in step.facts if isinstance(fact, ToolDecided)]
    assert [fact.admitted for fact in decided] == [holds] * len(decided)
    for call in now.wait.calls.values():
        if call.effect:
            assert holds
            continue
        assert not holds
        assert now.at < call.due_at
        assert any(run.name == "Plan" for run in now.wait.runs.values())
    kinds = [type(fact).__name__ for fact in step.facts]
    run = before.snapshot.wait.runs.get(input.effect) if isinstance(input, Outcome) else None
    if run is not None and run.name == "Plan" and decided and "TransitionTaken" in kinds:
        assert kinds.index("ToolDecided") < kinds.index("TransitionTaken")


# -- what must hold in every end ------------------------------------------------------------------


def check_end(end: Node, failing: str) -> None:
    now = end.snapshot
    assert end.answers == 1
    assert now.wait.runs == {}
    assert now.wait.calls == {}
    assert now.wait.barrier is None
    for name, runs in zip(EXTRACTORS, end.runs, strict=True):
        assert runs <= 2 + (name == failing), "one a turn, and one again where it failed early"
    assert now.wait.ran == {"promise": 2, "Mood": 2, "Plan": 2, "Risk": 1}
    kept = {key: now.values.get(key) for key in ("amount", "mood", "plan", "risk", "cause")}
    assert kept == {
        "amount": "300", "mood": "relieved", "plan": "pay", "risk": "high", "cause": "rent",
    }  # fmt: skip
    paid = now.values.get("paid") is True
    assert now.place.active == (("c",) if paid else ("b",))
    assert dict(now.wait.answered)["call"].status == ("ran" if paid else "denied")


@pytest.mark.parametrize(("failing", "orders"), [("", 40_000), ("Plan", 15_000)])
def test_every_rule_holds_in_every_order(failing: str, orders: int) -> None:
    walk = Walk(failing)
    walk.all()
    for end in walk.ends:
        check_end(end, failing)
    print(f"{walk.orders} orders through {walk.states} snapshots in {walk.steps} steps")
    assert walk.orders > orders
    assert walk.reasons.keys() == {"all runs landed", "timed out", "next turn"}
    paid = {end.snapshot.values.get("paid") for end in walk.ends}
    assert paid == {True, None}, "the call is denied where it comes too early"
