"""On random flows and walks the kernel, a plain machine and a restored session agree."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from flowengine.errors import UnsettledError
from flowengine.facts import Fact, PhaseEntered, PhaseExited, TransitionTaken, lines
from flowengine.inputs import Admin, Heard, Input, TurnEnded
from flowengine.kernel import CompiledFlow, Kernel, Snapshot, Step, from_json, to_json
from flowengine.kernel import settle as settling

FLOWS, BATCHES = 1_000, 20
WALK = 4
MICROSTEPS = 12
"""Fewer than the kernel's own hundred: random flows often go round for ever."""


def oracle(plain: ModuleType, rules: ModuleType, flow: Any) -> Any:
    """The plain machine of the chart's test, in which a digression ends by itself.

    It returns from a final phase once a caller turn has closed there: no event is needed.
    """

    class Turning(plain.PlainMachine):
        def __init__(self) -> None:
            self.turns, self.closing = 0, False
            self.entered: dict[str, int] = {}
            super().__init__(flow, {}, 2 * MICROSTEPS)

        def turn(self, writes: dict[str, bool]) -> None:
            self.turns, self.closing = self.turns + 1, True
            self.give(writes, None)
            self.closing = False

        def used(self) -> int:
            return self.limit - self.patience

        def happened(self, how: str, state: Any) -> None:
            if how == "enter" and state.id in self.names:
                self.entered[self.names[state.id]] = self.turns
            super().happened(how, state)

        def add(
            self,
            source: Any,
            target: Any,
            is_open: Callable[[], bool],
            take: Callable[[], object],
            event: str | None,
            before: Callable[[], None] | None = None,
        ) -> Any:
            if event != rules.RETURN:
                return super().add(source, target, is_open, take, event, before)
            return super().add(
                source, target, lambda: self.is_over(source) and is_open(), take, None, before
            )

        def is_over(self, holder: Any) -> bool:
            finals = (
                name
                for name, (state, phase) in self.phases.items()
                if phase.final and state.parent is holder and self.is_active(state)
            )
            return self.closing and any(self.entered[name] < self.turns for name in finals)

    return Turning()


class Walker:
    """The kernel on one flow, as it is, and restored from JSON before each input."""

    def __init__(self, flow: Any) -> None:
        self.kernel = Kernel(flow)
        self.log: list[tuple[str, object]] = []
        self.ids = 0
        first = self.kernel.start(0)
        self.snapshot = first.snapshot
        self.read(first.facts)

    def give(self, writes: dict[str, bool], event: str | None) -> Step:
        return self.take(Admin(self.id(), 0, writes, event=event))

    def turn(self, writes: dict[str, bool]) -> Step:
        self.take(Heard(self.id(), 0, "well"))
        return self.take(TurnEnded(self.id(), 0, writes))

    def take(self, input: Input) -> Step:
        restored = from_json(json.loads(json.dumps(to_json(self.snapshot))))
        step, again = self.kernel.step(self.snapshot, input), self.kernel.step(restored, input)
        assert list(lines(1, step.facts)) == list(lines(1, again.facts))
        assert step.effects == again.effects
        assert to_json(step.snapshot) == to_json(again.snapshot)
        self.snapshot = step.snapshot
        self.read(step.facts)
        return step

    def read(self, facts: tuple[Fact, ...]) -> None:
        self.log += _moves(facts, self.kernel.compiled)

    def id(self) -> str:
        self.ids += 1
        return str(self.ids)


def _moves(facts: tuple[Fact, ...], flow: CompiledFlow) -> Iterator[tuple[str, object]]:
    for fact in facts:
        match fact:
            case PhaseExited(phase):
                yield "exit", phase
            case PhaseEntered(phase):
                yield "enter", phase
            case TransitionTaken(name):
                yield "edge", _label(name, flow)
            case _:
                pass


def _label(name: str, flow: CompiledFlow) -> tuple[object, ...]:
    """An edge as the plain machine calls it."""
    edge, number = flow.by_name[name].edge, int(name.rpartition(".")[2])
    match edge.kind:
        case "own":
            return "own", edge.source, number
        case "resume":
            return "resume", edge.digression, edge.into
        case "global" | "fallback":
            return edge.kind, number
        case _:
            return edge.kind, edge.digression


def _stack(snapshot: Snapshot) -> list[str | None]:
    return [frame.layer or None for frame in snapshot.place.stack]


def compare(seed: int, rules: ModuleType, plain_machine: ModuleType) -> int:
    """How many inputs were compared; a flow that does not come to rest ends its walk."""
    flow = rules.random_flow(seed)
    plain = oracle(plain_machine, rules, flow)
    plain.give({}, None)
    try:
        walker = Walker(flow)
    except UnsettledError:
        assert plain.used() >= MICROSTEPS, f"seed {seed}"
        return 0
    for number, given in enumerate(rules.random_walk(seed, WALK)):
        before = walker.snapshot
        event = given.event if given.event in rules.EVENTS else None
        if given.event == rules.RETURN:
            step = walker.turn(given.writes)
            plain.turn(given.writes)
        else:
            step = walker.give(given.writes, event)
            plain.give(given.writes, event)
        where = f"seed {seed}, input {number}"
        if step.error is not None:
            assert isinstance(step.error, UnsettledError), where
            assert plain.used() >= MICROSTEPS, where
            assert walker.snapshot.place == before.place, where
            assert walker.snapshot.values == before.values, where
            return number
        assert plain.used() <= MICROSTEPS, where
        assert walker.log == plain.log, where
        assert set(walker.snapshot.place.active) == plain.active(), where
        assert walker.snapshot.values == plain.store, where
        assert _stack(walker.snapshot) == plain.stack, where
    return WALK


@pytest.mark.usefixtures("without_collection")
@pytest.mark.parametrize("batch", range(BATCHES))
def test_kernel_plain_machine_and_restored_session_agree(
    batch: int,
    random_flows: ModuleType,
    plain_machine: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settling, "MICROSTEPS", MICROSTEPS)
    seeds = range(batch, FLOWS, BATCHES)
    compared = sum(compare(seed, random_flows, plain_machine) for seed in seeds)
    assert compared > len(seeds) * WALK / 2
