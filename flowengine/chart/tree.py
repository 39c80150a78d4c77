"""The tree of a flow: which phase lies in which, in document order, as the chart nests them.

root (parallel)
├── main
│   ├── body            the flow's phases
│   └── one per digression
└── one per monitor

A phase with children is a compound, a phase with regions is parallel over one compound each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from flowengine.chart.move import Edge
from flowengine.errors import FlowError, did_you_mean
from flowengine.flow.model import Flow, Phase

MAIN = "main"
"""The region of the flow's own phases and its digressions."""


@dataclass(slots=True, eq=False)
class Node:
    """A state of the chart: a phase, or what holds phases together."""

    index: int
    """Place in document order, unique."""
    parent: Node | None
    name: str
    phase: Phase | None = None
    parallel: bool = False
    children: list[Node] = field(default_factory=list["Node"])

    def ancestors(self) -> Iterator[Node]:
        """What it lies in, nearest first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def path(self) -> Iterator[Node]:
        """Itself, then its ancestors."""
        yield self
        yield from self.ancestors()

    def lies_in(self, other: Node) -> bool:
        return any(above is other for above in self.ancestors())

    def initial(self) -> Node:
        """The child that is entered by default."""
        marked = (child for child in self.children if child.phase and child.phase.initial)
        return next(marked, self.children[0])


class Tree:
    """Every node of a flow's chart; phases by name."""

    def __init__(self, flow: Flow) -> None:
        self.nodes: list[Node] = []
        self.phases: dict[str, Node] = {}
        self.root = self._add(None, "root", parallel=True)
        self.main = self._add(self.root, MAIN)
        self.body = self._add(self.main, "body")
        self._grow(self.body, flow.phases)
        self.digressions: dict[str, Node] = {}
        for name, digression in flow.digressions.items():
            self.digressions[name] = self._add(self.main, name)
            self._grow(self.digressions[name], digression.phases)
        for name, monitor in flow.monitors.items():
            if name == MAIN:
                raise FlowError(f"a monitor cannot be called {MAIN!r}: call it something else")
            self._grow(self._add(self.root, name), monitor.phases)

    def _grow(self, parent: Node, phases: dict[str, Phase]) -> None:
        for name, phase in phases.items():
            if name in self.phases:
                raise FlowError(f"two phases are called {name!r}: rename one of them")
            node = self._add(parent, name, phase, parallel=bool(phase.regions))
            self.phases[name] = node
            self._grow(node, phase.phases)
            for label, region in phase.regions.items():
                self._grow(self._add(node, label), region.phases)

    def _add(
        self, parent: Node | None, name: str, phase: Phase | None = None, *, parallel: bool = False
    ) -> Node:
        node = Node(len(self.nodes), parent, name, phase, parallel)
        self.nodes.append(node)
        if parent is not None:
            parent.children.append(node)
        return node

    def phase(self, name: str, wanted_by: str) -> Node:
        """The node of the phase so named, or a FlowError that says who wanted it."""
        if name not in self.phases:
            hint = did_you_mean(name, self.phases)
            raise FlowError(f"{wanted_by} leads to {name!r}, which is no phase.{hint}")
        return self.phases[name]

    def region(self, node: Node) -> Node:
        """The child of the root in which a node lies."""
        return next(above for above in node.path() if above.parent is self.root)

    def digression(self, node: Node) -> str | None:
        """The digression in which a node lies, or None outside of any."""
        below_main = next((above for above in node.path() if above.parent is self.main), self.body)
        return None if below_main is self.body else below_main.name

    def source(self, edge: Edge) -> Node:
        """The node that an edge leaves; flow-wide edges leave what is active in the main region."""
        if edge.source is not None:
            return self.phases[edge.source]
        if edge.kind in ("resume", "restart") and edge.digression is not None:
            return self.digressions[edge.digression]
        return self.main

    def target(self, edge: Edge) -> Node:
        """The node that an edge enters, or whose history it enters."""
        if edge.target is not None:
            return self.phases[edge.target]
        return self.body if edge.into is None else self.digressions[edge.into]

    def phases_above(self, node: Node) -> tuple[str, ...]:
        """The phases in which a node lies, nearest first."""
        return tuple(above.name for above in node.ancestors() if above.phase is not None)

    def domain(self, source: Node, target: Node) -> Node:
        """The nearest compound that holds both: an edge leaves and enters only below it."""
        around = (above for above in source.ancestors() if not above.parallel)
        return next(above for above in around if target.lies_in(above))
