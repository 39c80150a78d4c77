"""Asks the compiled machine what a set of selected edges does in one region."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from statemachine import State
from statemachine.orderedset import OrderedSet

from flowengine.chart.compile import Compiled, Microstep
from flowengine.chart.move import Configuration, Edge, History, Step, frame, phase_key
from flowengine.chart.tree import Node, Tree
from flowengine.errors import FlowError


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What a microstep does in one region."""

    active: Configuration
    taken: tuple[Edge, ...]
    exits: tuple[Step, ...]
    entries: tuple[Step, ...]
    recorded: History


class Machine:
    """One machine, pointed anew at a configuration for each question; not for two threads.

    After an exception it must be thrown away.
    """

    def __init__(self, tree: Tree, compiled: Compiled) -> None:
        self._tree = tree
        self._compiled = compiled
        self._model = Microstep()
        self._chart = compiled.chart(self._model)
        pairs = zip(compiled.states, tree.nodes, strict=True)
        self._nodes: dict[str, Node] = {state.value: node for state, node in pairs}
        remembering = (tree.nodes[index] for index, _ in compiled.histories)
        self._keys = {node: _key(tree, node) for node in remembering}
        self.start = self._part(())
        """Entering the flow, all regions at once."""

    def step(self, active: Configuration, edges: tuple[Edge, ...], history: History) -> Part:
        """Take the selected edges of one region, all active phases of which are given."""
        states = self._compiled.states
        nodes = self._with_ancestors(active)
        for edge in edges:
            if (source := self._tree.source(edge)) not in nodes:
                raise ValueError(f"an edge out of {source.name!r} is taken, which is not active")
        model = self._model
        model.state = OrderedSet[Any](states[node.index].value for node in nodes)
        model.selected = {self._compiled.transitions[edge.index]: edge for edge in edges}
        model.taken, model.left, model.entered = {}, [], []
        self._chart.history_values = self._history_values(edges, history)
        self._chart.activate_initial_state()
        return self._part(active)

    def _with_ancestors(self, names: Iterable[str]) -> list[Node]:
        """The nodes of these phases and all above, in document order, which decides conflicts."""
        nodes = {node for name in names for node in self._tree.phases[name].path()}
        return sorted(nodes, key=lambda node: node.index)

    def _history_values(self, edges: tuple[Edge, ...], history: History) -> dict[str, list[State]]:
        values: dict[str, list[State]] = {}
        wanted = {edge.recalls for edge in edges}
        for (index, kind), state in self._compiled.histories.items():
            node = self._tree.nodes[index]
            leaves = history.get(self._keys[node]) if self._keys[node] in wanted else None
            if leaves:
                below = self._below(node, leaves)
                chosen = below if kind == "deep" else [n for n in below if n.parent is node]
                values[state.id] = [self._compiled.states[n.index] for n in chosen]
        return values

    def _below(self, node: Node, leaves: Iterable[str]) -> list[Node]:
        for leaf in leaves:
            if leaf not in self._tree.phases or not self._tree.phases[leaf].lies_in(node):
                raise FlowError(
                    f"the history of {self._keys[node]!r} names {leaf!r}, which is no phase in it"
                )
        return [n for n in self._with_ancestors(leaves) if n.lies_in(node)]

    def _part(self, before: Configuration) -> Part:
        model = self._model
        left = [self._nodes[value] for value in model.left]
        entered = [self._nodes[value] for value in model.entered]
        active = sorted((self._nodes[value] for value in model.state), key=lambda n: n.index)
        return Part(
            active=tuple(node.name for node in active if node.phase),
            taken=tuple(model.taken.values()),
            exits=tuple(("exit", node.name) for node in left if node.phase),
            entries=tuple(("enter", node.name) for node in entered if node.phase),
            recorded=self._recorded(before, left),
        )

    def _recorded(self, before: Configuration, left: Iterable[Node]) -> History:
        """Leaves alone are kept: they say which children a shallow history enters as well."""
        leaves = [self._tree.phases[name] for name in before]
        leaves = [node for node in leaves if not node.children]
        return {
            self._keys[node]: tuple(leaf.name for leaf in leaves if leaf.lies_in(node))
            for node in left
            if node in self._keys
        }


def _key(tree: Tree, node: Node) -> str:
    if node.phase is not None:
        return phase_key(node.name)
    return frame(None if node is tree.body else node.name)
