"""Every order in which the deeds and the answers of a recorded call may arrive.

Orders are walked together: those that lead to the same snapshot go on as one. A cause comes before
its effects: deeds keep their order, an answer comes after its question and within its time; and the
model does not go on before it has the answers to its calls that it had in the recorded call, nor
calls a tool before it is offered, if it was offered there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple, TypeAlias

from flowengine.effects import AnswerTool, Cancel, Deliver, RunTool
from flowengine.facts import InputFailed, canonical_json
from flowengine.inputs import Input, Json, Outcome, Timer, TurnEnded
from flowengine.kernel import Snapshot, Step, from_json, to_json
from flowengine.testing.answers import Task
from flowengine.testing.expect import Never
from flowengine.testing.never import breaches
from flowengine.testing.recording import Deed, Key, Recording, key_of, tasks_of

Answered: TypeAlias = tuple[str, str, str, str, Json]
"""Call, tool, status, kind and value."""


class Open(NamedTuple):
    """A question whose answer is known and has not come."""

    key: Key
    answer: Outcome
    limit: int
    """When whoever was asked is cut short."""
    position: int
    """Where the answer stands in the recorded call; past its end if it is not in it."""
    overtaken: int = 0
    """Turns that have ended since it was asked."""


class Node(NamedTuple):
    """A call between two inputs of one order, or of several that are alike."""

    snapshot: Snapshot
    done: int
    """Deeds that have happened."""
    open: tuple[Open, ...]
    answered: tuple[Answered, ...] = ()
    """In the order of the answers."""
    broken: tuple[str, ...] = ()
    """What happened although it must never."""
    failed: tuple[str, ...] = ()
    """Codes of the inputs that failed."""
    asked: Mapping[Key, int] = {}
    """How often each thing was asked for."""


class Way(NamedTuple):
    """The shortest way to a node, in overtakings, and in how many orders it is reached."""

    node: Node
    orders: int
    overtakings: int
    inputs: tuple[Input, ...]


Level: TypeAlias = dict[str, Way]


class Orders:
    """The walk; `ends` has the ways to where nothing more can come."""

    def __init__(
        self,
        recording: Recording,
        never: Never,
        *,
        behind: int | None,
        slow: bool,
        restart: bool,
        limit: int,
    ) -> None:
        self._recording, self._never = recording, never
        self._behind, self._slow, self._restart, self._limit = behind, slow, restart, limit
        self.ends: list[Way] = []
        self.snapshots = 0
        self.exhaustive = True

    def walk(self) -> None:
        """All of them, level by level: every input of one order after one more of another."""
        level = {"": Way(self._first(), 1, 0, ())}
        while level:
            self.snapshots += len(level)
            if self.snapshots > self._limit:
                self.exhaustive = False
                return
            level = self._next(level)

    def sample(self, times: int, seed: int) -> None:
        """Some of them, drawn with a seed."""
        random = Random(seed)
        for _ in range(times):
            way = Way(self._first(), 1, 0, ())
            while arrivals := list(self._arrivals(way.node)):
                way = self._take(way, *random.choice(arrivals))
            self.ends.append(way)

    def recorded(self) -> Node:
        """Where the recorded order ends."""
        node = self._first()
        for input in self._recording.inputs:
            step = self._recording.kernel.step(node.snapshot, input)
            node = self._after(node, step)
        return node

    def _first(self) -> Node:
        step = self._recording.first
        return self._after(Node(step.snapshot, 0, ()), step)

    def _next(self, level: Level) -> Level:
        following: Level = {}
        for way in level.values():
            arrivals = list(self._arrivals(way.node))
            if not arrivals:
                self.ends.append(way)
            for input, deeds in arrivals:
                after = self._take(way, input, deeds)
                there = _written(after.node)
                if there in following:
                    after = _both(following[there], after)
                following[there] = after
        return following

    # -- what may come next ---------------------------------------------------------------------

    def _arrivals(self, node: Node) -> Iterator[tuple[Input | None, int]]:
        """Inputs that may come now, each with the number of deeds that are done with it."""
        now = node.snapshot.at
        for each in node.open:
            yield replace(each.answer, at=now), 0
        if node.done < len(self._recording.deeds):
            yield from self._deed(node, self._recording.deeds[node.done])
        if self._slow and (timer := _waiting_timer(node.snapshot)) is not None:
            id, due_at = timer
            if node.open and all(each.limit > due_at for each in node.open):
                yield Timer(f"timer-{id}", due_at, id), 0

    def _deed(self, node: Node, deed: Deed) -> Iterator[tuple[Input | None, int]]:
        if not self._is_caused(node, deed):
            return
        until = self._began(node) + deed.gap
        timer = node.snapshot.wait.timer
        rings = timer is not None and timer[1] <= until and deed.gap > 0
        at = timer[1] if timer is not None and rings else until
        late = [each for each in node.open if each.position < deed.position]
        if deed.gap > 0 and any(each.limit < at for each in late):
            return
        if rings and timer is not None:
            yield Timer(f"timer-{timer[0]}", max(at, node.snapshot.at), timer[0]), 0
        elif deed.input is None and node.open:
            return  # nothing happens at the end of the time, so nothing can come after it
        elif not (self._ends_turn(deed) and any(self._is_last_turn(each) for each in late)):
            at = max(until, node.snapshot.at)
            yield (replace(deed.input, at=at) if deed.input else None), 1

    def _is_caused(self, node: Node, deed: Deed) -> bool:
        """The model has the answers that it had, and is offered the tool that it calls."""
        if not deed.waits <= {call for call, *_ in node.answered}:
            return False
        if not deed.offered or not node.open:
            return True
        return deed.offered in self._recording.kernel.context(node.snapshot).tools

    def _began(self, node: Node) -> int:
        """When the last deed was done; timers that have rung since do not move it."""
        return node.asked.get(_CLOCK, node.snapshot.at)

    def _ends_turn(self, deed: Deed) -> bool:
        return isinstance(deed.input, TurnEnded)

    def _is_last_turn(self, each: Open) -> bool:
        return self._behind is not None and each.overtaken >= self._behind

    # -- one input ------------------------------------------------------------------------------

    def _take(self, way: Way, input: Input | None, deeds: int) -> Way:
        node, position = way.node, self._position(way.node, input)
        missed = [each.position for each in node.open if input is None or each is not input]
        done = self._recording.deeds
        missed += [deed.position for deed in done[node.done + deeds : node.done + deeds + 1]]
        overtakings = way.overtakings + sum(each < position for each in missed)
        if input is None:
            return way._replace(node=node._replace(done=node.done + deeds))
        before = node.snapshot
        if self._restart:
            before = from_json(json.loads(json.dumps(to_json(before))))
        step = self._recording.kernel.step(before, input)
        after = self._after(self._without(node, input, deeds), step)
        return Way(after, way.orders, overtakings, (*way.inputs, input))

    def _position(self, node: Node, input: Input | None) -> int:
        if isinstance(input, Outcome):
            return next(e.position for e in node.open if e.answer.effect == input.effect)
        deeds = self._recording.deeds
        return deeds[node.done].position if node.done < len(deeds) else len(self._recording.inputs)

    def _without(self, node: Node, input: Input, deeds: int) -> Node:
        """The node as far as the input itself changes it."""
        still = node.open
        if isinstance(input, Outcome):
            still = tuple(each for each in still if each.answer.effect != input.effect)
        if isinstance(input, TurnEnded):
            still = tuple(each._replace(overtaken=each.overtaken + 1) for each in still)
        asked = {**node.asked, _CLOCK: input.at} if deeds else node.asked
        return node._replace(done=node.done + deeds, open=still, asked=asked)

    def _after(self, node: Node, step: Step) -> Node:
        broken = [breach.message for breach in breaches(self._never, step.facts)]
        failed = [fact.code for fact in step.facts if isinstance(fact, InputFailed)]
        node = node._replace(
            snapshot=step.snapshot,
            answered=(*node.answered, *_answers(step)),
            broken=(*node.broken, *broken),
            failed=(*node.failed, *failed),
        )
        for task in tasks_of(step.effects):
            node = self._ask(node, task)
        unwanted = {effect.effect for effect in step.effects if isinstance(effect, Cancel)}
        return self._stop(node, unwanted) if unwanted else node

    def _ask(self, node: Node, task: Task) -> Node:
        key, now = key_of(task), node.snapshot.at
        nth = node.asked.get(key, 0)
        node = node._replace(asked={**node.asked, key: nth + 1})
        answer = self._recording.answer(task, nth, now)
        if answer is None:
            return node
        positions = self._recording.positions.get(key, [])
        position = positions[min(nth, len(positions) - 1)] if positions else 1 << 30
        limit = now + self._recording.limit(task)
        return node._replace(open=(*node.open, Open(key, answer, limit, position)))

    def _stop(self, node: Node, unwanted: set[str]) -> Node:
        """What is no longer wanted ends as cancelled, if it has not ended before."""
        still = tuple(each for each in node.open if each.answer.effect not in unwanted)
        stopped = (
            Open(("cancelled", id), _cancelled(id, node.snapshot.at), 1 << 60, 1 << 30)
            for id in sorted(unwanted)
        )
        return node._replace(open=(*still, *stopped))


_CLOCK: Key = ("clock",)


def _both(one: Way, other: Way) -> Way:
    """Two ways to the same node: the one that overtakes less."""
    shorter = other if other.overtakings < one.overtakings else one
    return shorter._replace(orders=one.orders + other.orders)


def _written(node: Node) -> str:
    """Equal for nodes from which everything goes on alike."""
    still = sorted((each.answer.effect, each.overtaken) for each in node.open)
    asked = sorted((*key, n) for key, n in node.asked.items())
    rest: list[Any] = [
        node.done,
        still,
        sorted(map(str, node.answered)),
        node.broken,
        node.failed,
        asked,
    ]
    return canonical_json([to_json(node.snapshot), rest])


def _answers(step: Step) -> Iterator[Answered]:
    for effect in step.effects:
        if isinstance(effect, AnswerTool | Deliver):
            answer = effect.answer
            yield effect.call, effect.tool, answer.status, answer.kind, answer.value
        elif isinstance(effect, RunTool) and effect.call.endswith(":compensation"):
            yield effect.call, effect.tool, "undone", "", None


def _waiting_timer(snapshot: Snapshot) -> tuple[str, int] | None:
    """The timer, if it is one that ends a wait: that of the barrier, or of a call at the gate."""
    wait = snapshot.wait
    instants = [call.due_at for call in wait.calls.values() if not call.effect]
    if wait.barrier is not None:
        instants.append(wait.barrier.due_at)
    return wait.timer if wait.timer is not None and wait.timer[1] in instants else None


def _cancelled(effect: str, at: int) -> Outcome:
    return Outcome(f"outcome-{effect}", at, effect, "cancelled", None, "cancelled")
