"""What edges run between: the phases of a flow and all that holds them together, by id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from flowengine.errors import FlowError, did_you_mean
from flowengine.flow.model import Flow, Phase, Region
from flowengine.render.label import goal_line, guard_lines
from flowengine.render.shapes import Group, Item, Node, NodeKind


class Ground:
    """Items by id, in document order; marks join them as edges need them."""

    def __init__(self, flow: Flow) -> None:
        self.items: dict[str, Item] = {}
        self._ids: dict[str, str] = {}
        self._order: dict[str, int] = {}
        self.initial = self._phases(flow.phases, None)
        for index, (name, digression) in enumerate(flow.digressions.items()):
            goal = goal_line(digression.description)
            self._group(Group(f"d{index}", "digression", name, None, None, goal), digression.phases)
        for index, (name, monitor) in enumerate(flow.monitors.items()):
            self._group(Group(f"m{index}", "monitor", name, None, None), monitor.phases)

    def phase(self, name: str, wanted_by: str) -> Item:
        """What a phase is drawn as, or a FlowError that says who wanted it."""
        if name not in self._ids:
            hint = did_you_mean(name, self._ids)
            raise FlowError(f"{wanted_by} leads to {name!r}, which is no phase.{hint}")
        return self.items[self._ids[name]]

    def group(self, id: str) -> Group:
        group = self.items[id]
        assert isinstance(group, Group)
        return group

    def is_later(self, phase: Item, than: Item) -> bool:
        return self._order[phase.id] > self._order[than.id]

    def holds(self, outer: Item, inner: Item) -> bool:
        """Whether `inner` is `outer` or lies in it."""
        return any(around is outer for around in self._around(inner))

    def entered(self, item: Item) -> Item:
        """What comes to be active where an item is entered: a leaf, or a group with regions."""
        while isinstance(item, Group) and item.initial is not None:
            item = self.items[item.initial]
        return item

    def mark(self, id: str, kind: NodeKind, text: str, group: str | None) -> Node:
        """The one mark with this id, put on the ground when it is first wanted."""
        mark = self.items.setdefault(id, Node(id, kind, text, group))
        assert isinstance(mark, Node)
        return mark

    def _around(self, item: Item) -> Iterator[Item]:
        yield item
        while item.group is not None:
            item = self.items[item.group]
            yield item

    def _phases(self, phases: Mapping[str, Phase], group: str | None) -> str:
        """Put phases on the ground; the id of the one that is entered by default."""
        for name, phase in phases.items():
            self._phase(name, phase, group)
        marked = (name for name, phase in phases.items() if phase.initial)
        return self._ids[next(marked, next(iter(phases)))]

    def _phase(self, name: str, phase: Phase, group: str | None) -> None:
        if name in self._ids:
            raise FlowError(f"two phases are called {name!r}: rename one of them")
        order = len(self._ids)
        id = self._ids[name] = f"p{order}"
        self._order[id] = order
        title = "" if _letters(phase.title) == _letters(name) else phase.title
        goal = goal_line(title, phase.description, phase.instruction, phase.say)
        notes = guard_lines(f"entry: {phase.entry}") if phase.entry is not None else ()
        if phase.is_leaf():
            kind: NodeKind = "final" if phase.final else "phase"
            self.items[id] = Node(id, kind, name, group, goal, notes)
        elif phase.phases:
            self._group(Group(id, "phase", name, group, None, goal, notes), phase.phases)
        else:
            self.items[id] = Group(id, "parallel", name, group, None, goal, notes)
            self._regions(id, phase.regions)

    def _regions(self, parent: str, regions: Mapping[str, Region]) -> None:
        for index, (name, region) in enumerate(regions.items()):
            self._group(Group(f"{parent}r{index}", "region", name, parent, None), region.phases)

    def _group(self, group: Group, phases: Mapping[str, Phase]) -> None:
        self.items[group.id] = group
        self.items[group.id] = replace(group, initial=self._phases(phases, group.id))


def _letters(text: str) -> str:
    """What is left of a text where `verify_identity` and `Verify identity` are the same."""
    return "".join(filter(str.isalnum, text)).casefold()
