"""On random flows and random walks the table, a plain machine and a restored call agree."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest

from flowengine.chart import Edge
from flowengine.chart.chart import Chart
from flowengine.flow.model import Flow

FLOWS, BATCHES = 1_000, 20
WALK = 6
PATIENCE = 3
"""Eventless microsteps per input: random flows may go round for ever."""


class TableRun:
    """The least that can select edges: what the kernel does, over boolean keys."""

    def __init__(self, flow: Flow, rules: ModuleType, chart: Chart) -> None:
        self.flow, self.rules, self.chart = flow, rules, chart
        self.phases = {name: phase for name, phase, _ in flow.walk()}
        self.store: dict[str, bool] = {}
        self.stack: list[str | None] = []
        self.spent: set[Edge] = set()
        self.log: list[tuple[str, object]] = []
        self.labels = _labels(flow, self.chart)
        start = self.chart.start()
        self.active, self.history = start.active, start.history({})
        self.perform(start.steps)

    def give(self, writes: dict[str, bool], event: str | None) -> None:
        self.store.update(writes)
        patience = self.settle(PATIENCE)
        if event is not None:
            self.take(self.select(event))
        self.settle(patience)
        self.spent = {edge for edge in self.spent if self.holds(self.guard(edge))}

    def settle(self, patience: int) -> int:
        while patience and (edges := self.select(None)):
            self.take(edges)
            patience -= 1
        return patience

    def select(self, event: str | None) -> tuple[Edge, ...]:
        if event == self.rules.RETURN:
            return self.returning()
        if event == self.rules.CORRECT:
            return self.correcting()
        found: list[Edge] = []
        for _, edges in self.chart.offers(self.active):
            found += [edge for edge in edges if edge.event == event and self.is_open(edge)][:1]
        first = next((edge for edge in found if edge.kind in ("global", "digression")), None)
        chosen = [e for e in found if first in (None, e) or not self.in_main(e)]
        return tuple(dict.fromkeys(chosen))

    def returning(self) -> tuple[Edge, ...]:
        name = self.chart.digression_of(self.chart.main_leaf(self.active))
        how = None if name is None else self.flow.digressions[name].resume
        if how == "restart":
            edge = self.chart.restart_edge(name)
            return (edge,) if self.is_open(edge) else ()
        if how == "previous" and self.stack:
            return (self.chart.resume_edge(name, self.stack[-1]),)
        return ()

    def correcting(self) -> tuple[Edge, ...]:
        last = [name for name in self.phases if self.chart.back_to(name)][-1]
        edge = self.chart.back_to(last)
        return (edge,) if edge and last not in self.active else ()

    def in_main(self, edge: Edge) -> bool:
        return edge.source is None or self.chart.region_of(edge.source) == "main"

    def is_open(self, edge: Edge) -> bool:
        if edge in self.spent and edge.event is None:
            return False
        if edge.kind == "digression" and edge.digression in self.stack:
            return False
        guards = [self.phases[name].entry for name in edge.entry_guarded]
        return all(self.holds(guard) for guard in (self.guard(edge), *guards))

    def guard(self, edge: Edge) -> Any:
        if edge.kind == "digression":
            return self.flow.digressions[edge.digression].when
        return edge.transition.when if edge.transition else None

    def holds(self, guard: Any) -> bool:
        return self.rules.holds(guard, self.store)

    def take(self, edges: tuple[Edge, ...]) -> None:
        if not edges:
            return
        left = self.chart.digression_of(self.chart.main_leaf(self.active))
        move = self.chart.move(self.active, self.history, edges)
        self.active, self.history = move.active, move.history(self.history)
        self.perform(move.steps)
        for edge in move.taken:
            self.after(edge, left)

    def after(self, edge: Edge, left: str | None) -> None:
        if edge.kind in ("global", "fallback", "digression") and edge.event is None:
            self.spent.add(edge)
        if edge.kind == "digression":
            self.stack.append(left)
        elif edge.kind == "resume":
            self.stack.pop()
        elif self.in_main(edge) and self.chart.digression_of(edge.target) is None:
            self.stack.clear()

    def perform(self, steps: Any) -> None:
        for how, what in steps:
            self.log.append((how, self.labels[what] if how == "edge" else what))
            if how == "edge":
                actions = what.transition.do if what.transition else ()
            else:
                phase = self.phases[what]
                actions = phase.on_enter if how == "enter" else phase.on_exit
            for action in actions:
                self.store.update(action.set)

    def restore(self) -> None:
        """Forget everything but what a snapshot keeps."""
        saved = json.loads(json.dumps({"active": self.active, "history": self.history}))
        self.active = self.chart.configuration(reversed(saved["active"]))
        self.history = {key: tuple(leaves) for key, leaves in saved["history"].items()}


def _labels(flow: Flow, chart: Chart) -> dict[Edge, tuple[object, ...]]:
    names = {
        id(transition): label
        for label, transition in [
            *((("global", n), t) for n, t in enumerate(flow.global_transitions)),
            *((("fallback", n), t) for n, t in enumerate(flow.fallback_transitions)),
            *(
                (("own", name, n), t)
                for name, phase, _ in flow.walk()
                for n, t in enumerate(phase.transitions)
            ),
        ]
    }
    ends = {
        "resume": lambda e: ("resume", e.digression, e.into),
        "correction": lambda e: ("correction", e.target),
    }
    return {
        edge: names[id(edge.transition)]
        if edge.transition
        else ends.get(edge.kind, lambda e: (e.kind, e.digression))(edge)
        for edge in chart.edges
    }


def _compare(seed: int, rules: ModuleType, plain_machine: ModuleType) -> None:
    flow = rules.random_flow(seed)
    chart = Chart(flow)
    table, restored = TableRun(flow, rules, chart), TableRun(flow, rules, chart)
    plain = plain_machine.PlainMachine(flow, {}, PATIENCE)
    for number, given in enumerate([None, *rules.random_walk(seed, WALK)]):
        for run in (table, restored, plain) if given else ():
            run.give(given.writes, given.event)
        restored.restore()
        where = f"seed {seed}, input {number}"
        assert table.log == plain.log, where
        assert set(table.active) == plain.active(), where
        assert table.store == plain.store, where
        assert table.stack == plain.stack, where
        deep = plain.deep_history()
        for kept in deep.keys() & table.history.keys():
            assert list(table.history[kept]) == deep[kept], where
        assert (restored.log, restored.active, restored.history, restored.store) == (
            table.log, table.active, table.history, table.store,
        ), where  # fmt: skip


@pytest.mark.usefixtures("without_collection")
@pytest.mark.parametrize("batch", range(BATCHES))
def test_table_plain_machine_and_restored_call_agree(
    batch: int, random_flows: ModuleType, plain_machine: ModuleType
) -> None:
    for seed in range(batch, FLOWS, BATCHES):
        _compare(seed, random_flows, plain_machine)
