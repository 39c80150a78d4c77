"""The edges of a picture, in the order in which the chart lists them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from flowengine.flow.model import Digression, Flow, Transition
from flowengine.render.ground import Ground
from flowengine.render.label import condition_lines, description_lines
from flowengine.render.shapes import Edge, EdgeKind, Group, Item, Node


def edges_of(flow: Flow, ground: Ground) -> Iterator[Edge]:
    """Own edges in document order, then global, digressions, fallback and returns, each once."""
    return _Edges(flow, ground).all()


class _Edges:
    def __init__(self, flow: Flow, ground: Ground) -> None:
        self.flow = flow
        self.ground = ground
        self.own = [
            (name, edge, ground.phase(name, name), ground.phase(edge.to, f"phase {name!r}"))
            for name, phase, _ in flow.walk()
            for edge in phase.transitions
        ]
        self.count = 0
        self.named: Counter[str] = Counter()

    def all(self) -> Iterator[Edge]:
        for name, transition, source, target in self.own:
            kind = self.own_kind(source, target)
            source, target = self.ends(source, target, transition)
            yield self.edge(kind, source, target, transition, names=self.names(name))
        yield from self.flow_wide("global", self.flow.global_transitions)
        for index, digression in enumerate(self.flow.digressions.values()):
            yield self.trigger(self.ground.group(f"d{index}"), digression)
        yield from self.flow_wide("fallback", self.flow.fallback_transitions)
        for index, digression in enumerate(self.flow.digressions.values()):
            yield self.leaving(self.ground.group(f"d{index}"), digression)

    def own_kind(self, source: Item, target: Item) -> EdgeKind:
        """An exit ends what has another way on: a phase, or a group from anywhere in it."""
        if source is target:
            return "self"
        if self.ground.is_later(source, target) and not _is_final(target):
            return "back"
        ways_on = list(self.ways_on(source))
        if not _is_final(target):
            ways_on = [start for start in ways_on if start is not source]
        return "exit" if ways_on and not self.ground.holds(source, target) else "own"

    def ways_on(self, source: Item) -> Iterator[Item]:
        """Where edges start, in it, that lead out of it to a later phase that is not final."""
        holds, is_later = self.ground.holds, self.ground.is_later
        for _, _, start, end in self.own:
            leads_out = holds(source, start) and not holds(source, end)
            if leads_out and is_later(end, source) and not _is_final(end):
                yield start

    def ends(self, source: Item, target: Item, transition: Transition) -> tuple[Item, Item]:
        """Where an own edge is drawn: a group has no edge to what lies in it, a mark has."""
        end = target
        if source is not target and isinstance(target, Group) and transition.history:
            end = self.history(target, transition.history)
        elif source is not target and self.ground.holds(target, source):
            end = self.entry(target)
        if not isinstance(source, Group) or not self.ground.holds(source, end):
            return source, end
        start = self.ground.mark(f"{source.id}any", "anywhere", "any phase here", source.id)
        return start, start if source is target else end

    def history(self, group: Group, depth: Literal["shallow", "deep"]) -> Node:
        text = "H" if depth == "shallow" else "H*"
        return self.ground.mark(f"{group.id}{depth}", "history", text, group.id)

    def entry(self, group: Item) -> Item:
        """Inside a group, what stands for entering it; for regions that is a mark."""
        entered = self.ground.entered(group)
        if isinstance(entered, Group):
            return self.ground.mark(f"{entered.id}entry", "entry", "", entered.id)
        return entered

    def flow_wide(
        self, kind: Literal["global", "fallback"], transitions: tuple[Transition, ...]
    ) -> Iterator[Edge]:
        """Each starts at a mark beside its target, so that it crosses nothing."""
        for transition in transitions:
            target = self.ground.phase(transition.to, f"a {kind} transition")
            text = "any phase" if kind == "global" else "otherwise"
            source = self.ground.mark(f"{kind}_{target.id}", "anywhere", text, None)
            end: Item = target
            if isinstance(target, Group) and transition.history:
                end = self.history(target, transition.history)
            yield self.edge(kind, source, end, transition, names=self.names(kind))

    def trigger(self, group: Group, digression: Digression) -> Edge:
        source = self.ground.mark(f"{group.id}any", "anywhere", "any phase", None)
        condition = condition_lines(on=digression.on, when=digression.when)
        names = self.names("digression")
        return self.edge("digression", source, group, condition=condition, names=names)

    def leaving(self, group: Group, digression: Digression) -> Edge:
        if digression.resume == "terminate":
            stop = self.ground.mark("stop", "stop", "", None)
            return self.edge("return", group, stop)
        if digression.resume == "restart":
            back = self.ground.mark(f"{group.id}back", "back", "the beginning", None)
            names = self.names("restart")
        else:
            back = self.ground.mark(f"{group.id}back", "back", "where it left", None)
            names = self.names("resume", len(self.flow.digressions))
        return self.edge("return", group, back, names=names)

    def names(self, owner: str, count: int = 1) -> tuple[str, ...]:
        """What facts call the next edges of an owner; a resume has one for each place to resume."""
        first = self.named[owner]
        self.named[owner] += count
        return tuple(f"{owner}.{n}" for n in range(first, first + count))

    def edge(
        self,
        kind: EdgeKind,
        source: Item,
        target: Item,
        transition: Transition | None = None,
        *,
        condition: tuple[str, ...] = (),
        names: tuple[str, ...] = (),
    ) -> Edge:
        description: tuple[str, ...] = ()
        if transition is not None:
            description = description_lines(transition.description)
            on, after, when = transition.on, transition.after, transition.when
            condition = condition_lines(on=on, after=after, when=when)
            condition += ("external",) if kind == "self" and transition.external else ()
        self.count += 1
        ends = (source.id, target.id)
        return Edge(f"e{self.count - 1}", kind, *ends, description, condition, names)


def _is_final(item: Item) -> bool:
    return isinstance(item, Node) and item.kind == "final"
