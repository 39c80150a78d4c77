"""The chart of a flow: which edges are candidates, and what a set of selected edges does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from flowengine.chart.edges import edges_of
from flowengine.chart.move import Configuration, Edge, History, Move
from flowengine.chart.table import Rows, Table
from flowengine.chart.tree import MAIN, Node, Tree
from flowengine.errors import FlowError, did_you_mean
from flowengine.flow.model import Flow

Offer: TypeAlias = tuple[str, tuple[Edge, ...]]
"""An active leaf and its candidates in the order of their precedence."""


class Chart:
    """A flow, compiled. Shared by all sessions and threads."""

    def __init__(self, flow: Flow) -> None:
        self._tree = Tree(flow)
        self.edges = edges_of(flow, self._tree)
        self.regions: tuple[str, ...] = (MAIN, *flow.monitors)
        """The main region, then the monitors."""
        nodes = self._tree.phases.items()
        self._ancestors = {name: self._tree.phases_above(node) for name, node in nodes}
        self._regions = {name: self._tree.region(node).name for name, node in nodes}
        self._digressions = {name: self._tree.digression(node) for name, node in nodes}
        self._table = Table(self._tree, self.edges)
        self._candidates = self._list_candidates()
        self._corrections = {e.target: e for e in self.edges if e.kind == "correction"}
        self._returns = {(edge.kind, edge.digression, edge.into): edge for edge in self.edges}
        self._offers: Rows[Configuration, tuple[Offer, ...]] = Rows()
        self._start = self._table.start()

    def start(self) -> Move:
        """Enters the initial phases; its history is empty."""
        return self._start

    def offers(self, active: Configuration) -> tuple[Offer, ...]:
        """Each active leaf, in document order, with what it may take.

        Flow-wide edges to what is active already are left out; the return stack is not known here.
        """
        known = self._offers.get(active)
        return self._offers.keep(active, self._offer(active)) if known is None else known

    def candidates(self, leaf: str) -> tuple[Edge, ...]:
        """Global edges, digressions, its own, its ancestors' from the nearest on, fallbacks."""
        return self._candidates[leaf]

    def move(self, active: Configuration, history: History, edges: tuple[Edge, ...]) -> Move:
        """Takes the selected edges, at most one per leaf, in one microstep.

        They are given in the document order of the leaves that selected them.
        """
        return self._table.move(active, history, edges)

    def resume_edge(self, digression: str, into: str | None) -> Edge:
        """Back to the digression that it had interrupted, or to the body (None)."""
        return self._returns["resume", digression, into]

    def restart_edge(self, digression: str) -> Edge:
        """From the digression to the initial phase of the body."""
        return self._returns["restart", digression, None]

    def back_to(self, phase: str) -> Edge | None:
        """To a phase of the body that a correction has undone; None for any other phase."""
        return self._corrections.get(phase)

    @property
    def misses(self) -> int:
        """How often the machine had to be asked because the table did not know."""
        return self._table.misses

    # what is active

    def configuration(self, phases: Iterable[str]) -> Configuration:
        """The one tuple for these active phases, as a snapshot names them in any order."""
        names = tuple(phases)
        for name in names:
            if name not in self._tree.phases:
                hint = did_you_mean(name, self._tree.phases)
                raise FlowError(f"{name!r} is no phase of this flow.{hint}")
        return self._table.intern(tuple(sorted(names, key=self.order)))

    def leaves(self, active: Configuration) -> tuple[str, ...]:
        """The active phases without children, in document order."""
        return tuple(leaf for leaf, _ in self.offers(active))

    def leaf_of(self, active: Configuration, region: str) -> str:
        """The first active leaf of a region."""
        return next(name for name in self.leaves(active) if self.region_of(name) == region)

    def main_leaf(self, active: Configuration) -> str:
        """The first active leaf of the main region."""
        return (self._offers.get(active) or self.offers(active))[0][0]

    # what lies where

    def parent(self, phase: str) -> str | None:
        """The phase in which a phase lies; a region between them does not count."""
        return next(iter(self.ancestors(phase)), None)

    def ancestors(self, phase: str) -> tuple[str, ...]:
        """The phases in which a phase lies, nearest first."""
        return self._ancestors[phase]

    def order(self, phase: str) -> int:
        """Place in document order: the main region, digressions, monitors."""
        return self._tree.phases[phase].index

    def is_final(self, phase: str) -> bool:
        return _is_final(self._tree.phases[phase])

    def region_of(self, phase: str) -> str:
        return self._regions[phase]

    def digression_of(self, phase: str) -> str | None:
        """The digression to which a phase belongs; None for the body and for monitors."""
        return self._digressions[phase]

    def _offer(self, active: Configuration) -> tuple[Offer, ...]:
        return tuple(
            (name, tuple(e for e in self._candidates[name] if e.source or e.target not in active))
            for name in active
            if name in self._candidates
        )

    def _list_candidates(self) -> dict[str, tuple[Edge, ...]]:
        own: dict[str, list[Edge]] = {}
        for edge in self.edges:
            if edge.source is not None:
                own.setdefault(edge.source, []).append(edge)
        wide = [e for e in self.edges if e.kind in ("global", "digression", "fallback")]
        leaves = (node for node in self._tree.phases.values() if not node.children)
        return {leaf.name: self._list(leaf, own, wide) for leaf in leaves}

    def _list(self, leaf: Node, own: dict[str, list[Edge]], wide: list[Edge]) -> tuple[Edge, ...]:
        around = (leaf.name, *self._ancestors[leaf.name])
        nearest = tuple(edge for name in around for edge in own.get(name, ()))
        if _is_final(leaf) or not leaf.lies_in(self._tree.main):
            return nearest
        here = self._digressions[leaf.name]
        apart = [edge for edge in wide if edge.target not in around]
        return (
            *(edge for edge in apart if edge.kind == "global"),
            *(edge for edge in apart if edge.kind == "digression" and edge.digression != here),
            *nearest,
            *(edge for edge in apart if edge.kind == "fallback"),
        )


def _is_final(node: Node) -> bool:
    return node.phase is not None and node.phase.final
