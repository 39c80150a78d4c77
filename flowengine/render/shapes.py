"""What is on a picture of a flow, before any format: nodes, groups and the edges between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

NodeKind: TypeAlias = Literal["phase", "final", "history", "anywhere", "back", "stop", "entry"]
GroupKind: TypeAlias = Literal["phase", "parallel", "region", "digression", "monitor"]
EdgeKind: TypeAlias = Literal[
    "own", "back", "exit", "self", "global", "fallback", "digression", "return"
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Node:
    """A phase without children, or a mark such as `H*` or `any phase`."""

    id: str
    """`p{n}` for a phase, n counting all phases of the flow in document order."""
    kind: NodeKind
    name: str
    """The phase's name as the flow has it; what a mark says."""
    group: str | None
    """The id of the group it lies in."""
    goal: str = ""
    notes: tuple[str, ...] = ()
    """Lines below the goal, such as the entry guard."""


@dataclass(frozen=True, slots=True)
class Group:
    """A phase with children, a region, a digression or a monitor."""

    id: str
    """`p{n}` for a phase, `p{n}r{m}` for its regions, `d{n}`, `m{n}`."""
    kind: GroupKind
    name: str
    group: str | None
    initial: str | None
    """The id of what is entered by default; None where all regions are."""
    goal: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge as the flow declares it; it never joins a group to something inside that group."""

    id: str
    kind: EdgeKind
    source: str
    target: str
    """Ids of nodes or groups."""
    description: tuple[str, ...] = ()
    condition: tuple[str, ...] = ()
    """Event, time and guard, in lines."""
    names: tuple[str, ...] = ()
    """What `TransitionTaken` facts call it; a return has one name for each place to go back to."""


Item: TypeAlias = Node | Group


@dataclass(frozen=True, slots=True)
class Picture:
    """A whole flow; every tuple is in document order."""

    name: str
    initial: str
    """The id of the phase where the conversation begins."""
    items: tuple[Item, ...]
    edges: tuple[Edge, ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(item for item in self.items if isinstance(item, Node))

    @property
    def groups(self) -> tuple[Group, ...]:
        return tuple(item for item in self.items if isinstance(item, Group))

    def inside(self, group: str | None) -> Iterator[Item]:
        """What lies directly in a group, or in none."""
        return (item for item in self.items if item.group == group)
