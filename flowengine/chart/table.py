"""The transition table: what selected edges do, asked of the machine once and then looked up."""

from __future__ import annotations

import threading
from typing import Generic, TypeAlias, TypeVar

from flowengine.chart.compile import compile_chart
from flowengine.chart.machine import Machine, Part
from flowengine.chart.move import Configuration, Edge, History, Move
from flowengine.chart.tree import Tree

ROWS = 8192
"""Rows that a table keeps; a full one starts anew."""

K = TypeVar("K")
V = TypeVar("V")
Recalled: TypeAlias = tuple[tuple[str, ...] | None, ...]
Key: TypeAlias = tuple[Configuration, tuple[Edge, ...], Recalled]


class Rows(dict[K, V], Generic[K, V]):
    """A dictionary that never holds more than `ROWS`."""

    def keep(self, key: K, value: V) -> V:
        if len(self) >= ROWS:
            self.clear()
        self[key] = value
        return value


class Table:
    """Moves of whole configurations, composed of what the machine said about each region.

    Regions do not touch each other, because no edge leads from one into another. So a region is
    asked about alone, and the number of questions is a sum over regions, not a product.
    """

    def __init__(self, tree: Tree, edges: tuple[Edge, ...]) -> None:
        self._tree = tree
        self._compiled = compile_chart(tree, edges)
        self._regions = tuple(tree.root.children)
        self._home = {name: tree.region(node) for name, node in tree.phases.items()}
        self._region = [tree.region(tree.source(edge)) for edge in edges]
        self._local = threading.local()
        self._parts: Rows[Key, Part] = Rows()
        self._moves: Rows[Key, Move] = Rows()
        self._configurations: Rows[Configuration, Configuration] = Rows()
        self.misses = 0

    def start(self) -> Move:
        start = self._machine().start
        return Move(self.intern(start.active), (), start.entries, {})

    def intern(self, active: Configuration) -> Configuration:
        """The one tuple that is equal to this one."""
        known = self._configurations.get(active)
        return self._configurations.keep(active, active) if known is None else known

    def move(self, active: Configuration, history: History, edges: tuple[Edge, ...]) -> Move:
        recalled: Recalled = ()
        for edge in edges:
            if edge.recalls is not None:
                recalled += (history.get(edge.recalls),)
        key = (active, edges, recalled)
        move = self._moves.get(key)
        return self._moves.keep(key, self._compose(*key)) if move is None else move

    def _compose(self, active: Configuration, edges: tuple[Edge, ...], recalled: Recalled) -> Move:
        parts = self._split(active, edges, recalled)
        taken = tuple(edge for part in parts for edge in part.taken)
        return Move(
            active=self.intern(tuple(name for part in parts for name in part.active)),
            taken=taken,
            steps=(
                *(step for part in reversed(parts) for step in part.exits),
                *(("edge", edge) for edge in taken),
                *(step for part in parts for step in part.entries),
            ),
            recorded={key: leaves for part in parts for key, leaves in part.recorded.items()},
        )

    def _split(
        self, active: Configuration, edges: tuple[Edge, ...], recalled: Recalled
    ) -> list[Part]:
        """The same question for each region."""
        recall = dict(zip((e for e in edges if e.recalls is not None), recalled, strict=True))
        parts: list[Part] = []
        for region in self._regions:
            names = tuple(name for name in active if self._home[name] is region)
            own = tuple(edge for edge in edges if self._region[edge.index] is region)
            parts.append(self._part(names, own, tuple(recall[e] for e in own if e in recall)))
        return parts

    def _part(self, active: Configuration, edges: tuple[Edge, ...], recalled: Recalled) -> Part:
        if not edges:
            return Part(active, (), (), (), {})
        key = (active, edges, recalled)
        part = self._parts.get(key)
        return self._parts.keep(key, self._ask(*key)) if part is None else part

    def _ask(self, active: Configuration, edges: tuple[Edge, ...], recalled: Recalled) -> Part:
        self.misses += 1
        keys = (edge.recalls for edge in edges if edge.recalls is not None)
        history = {key: leaves for key, leaves in zip(keys, recalled, strict=True) if leaves}
        machine = self._machine()
        try:
            return machine.step(active, edges, history)
        except BaseException:
            del self._local.machine  # it may have stopped half-way
            raise

    def _machine(self) -> Machine:
        """This thread's machine: python-statemachine's is not for several threads."""
        machine: Machine | None = getattr(self._local, "machine", None)
        if machine is None:
            machine = self._local.machine = Machine(self._tree, self._compiled)
        return machine
