"""Where a conversation can go: phases joined by every edge that may be taken in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from flowengine.flow.index import Edge, Index, PhasePlace
from flowengine.flow.model import Phase


class Graph:
    """The phases of a flow as a designer sees them; guards are taken to be able to hold."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.places = index.by_name
        self.own: dict[str, list[Edge]] = {name: [] for name in self.places}
        for edge in index.edges:
            if edge.source is not None:
                self.own[edge.source].append(edge)
        self.wide = [edge for edge in index.edges if edge.source is None]

    @cached_property
    def around(self) -> dict[str, list[PhasePlace]]:
        """For each phase the phases around it, nearest first."""
        return {name: self.index.ancestors(name) for name in self.places}

    def is_main(self, name: str) -> bool:
        """Whether it is in the main region, so that flow-wide edges apply to it."""
        return self.places[name].regions[0] == ("phases",)

    def in_digression(self, name: str) -> bool:
        return self.places[name].path[0] == "digressions"

    def within(self, name: str, outer: str) -> bool:
        """Whether `name` is `outer` or lies in it."""
        return name == outer or any(place.name == outer for place in self.around[name])

    def ways_out(self, name: str) -> Iterator[Edge]:
        """Edges that lead a conversation resting in this phase to another one."""
        for holder in (name, *(place.name for place in self.around[name])):
            for edge in self.own[holder]:
                if not self.within(name, edge.transition.to) or edge.transition.to != name:
                    yield edge
        if self.is_main(name):
            yield from (e for e in self.wide if not self.within(name, e.transition.to))

    def entered(self, name: str) -> Iterator[str]:
        """What is active once a phase was entered: it, those around it, and its first children."""
        yield from (place.name for place in self.around[name])
        yield from self._down(name)

    def leaves(self, name: str) -> list[str]:
        """Where a conversation that enters this phase comes to rest."""
        return [inner for inner in self._down(name) if self.places[inner].phase.is_leaf()]

    def _down(self, name: str) -> Iterator[str]:
        yield name
        phase = self.places[name].phase
        if phase.phases:
            yield from self._down(initial_of(phase.phases))
        for region in phase.regions.values():
            yield from self._down(initial_of(region.phases))

    @cached_property
    def starts(self) -> list[str]:
        """Phases that are entered by no edge: the initial ones, and those of detours."""
        flow = self.index.flow
        sets = [
            flow.phases,
            *(digression.phases for digression in flow.digressions.values()),
            *(monitor.phases for monitor in flow.monitors.values()),
        ]
        return [initial_of(phases) for phases in sets]

    @cached_property
    def reachable(self) -> set[str]:
        """Every phase that can become active."""
        return self.reachable_without(None)

    def reachable_without(self, shut: str | None) -> set[str]:
        """Every phase that can become active while one of them never does."""
        found: set[str] = set()
        waiting = [*self.starts, *(e.transition.to for e in self.wide)]
        while waiting:
            entered = list(self.entered(waiting.pop()))
            if shut in entered:
                continue
            for name in entered:
                if name not in found:
                    found.add(name)
                    waiting += [edge.transition.to for edge in self.own[name]]
        return found

    def reaching(self, goals: Iterable[str]) -> set[str]:
        """Every leaf from which one of the leaves `goals` can be reached, themselves included."""
        before: dict[str, set[str]] = {}
        for name, place in self.places.items():
            if place.phase.is_leaf():
                for edge in self.ways_out(name):
                    for leaf in self._rests(edge):
                        before.setdefault(leaf, set()).add(name)
        found, waiting = set[str](), list(goals)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += before.get(name, ())
        return found

    def _rests(self, edge: Edge) -> list[str]:
        to = edge.transition.to
        if edge.transition.history is None:
            return self.leaves(to)
        return [n for n, p in self.places.items() if p.phase.is_leaf() and self.within(n, to)]


def initial_of(phases: dict[str, Phase]) -> str:
    """The phase marked initial, else the first."""
    return next((n for n, phase in phases.items() if phase.initial), next(iter(phases)))
