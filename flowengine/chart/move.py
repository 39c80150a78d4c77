"""What goes into the chart and comes out of it: edges, configurations, history, moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from flowengine.flow.model import Transition

Configuration: TypeAlias = tuple[str, ...]
"""The names of all active phases, compounds included, in document order."""

History: TypeAlias = Mapping[str, tuple[str, ...]]
"""Where a compound was left: `phase:{name}`, `digression:{name}` or `body` -> its active leaves.

Plain names, so it goes into a snapshot as it is; never changed in place."""

EdgeKind: TypeAlias = Literal[
    "own", "global", "fallback", "digression", "resume", "restart", "correction"
]  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """One edge of the chart; a flow-wide edge is one edge, whatever phase is active."""

    index: int
    kind: EdgeKind
    source: str | None
    """The phase that declares it; None for flow-wide edges."""
    target: str | None
    """The phase it leads to; None for a resume edge, which leads to where it was left."""
    transition: Transition | None = None
    event: str | None = None
    internal: bool = False
    """A self transition that leaves and enters nothing."""
    history: Literal["shallow", "deep"] | None = None
    recalls: str | None = None
    """The key of `History` that decides what it enters."""
    digression: str | None = None
    """The digression that it starts (`digression`) or ends (`resume`, `restart`)."""
    into: str | None = None
    """What a resume edge goes back to: a digression, or None for the body."""
    entry_guarded: tuple[str, ...] = ()
    """The target and the ancestors it enters, nearest first, that have an entry guard."""


Step: TypeAlias = (
    tuple[Literal["exit"], str] | tuple[Literal["edge"], Edge] | tuple[Literal["enter"], str]
)


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """What one microstep does; shared between sessions."""

    active: Configuration
    taken: tuple[Edge, ...]
    """The edges that survived: a conflict between regions is won by the innermost source,
    then by the first leaf in document order."""
    steps: tuple[Step, ...]
    """Exits, the actions of edges, entries: in the order in which they happen."""
    recorded: History
    """What it writes into the history; mostly empty."""

    def history(self, before: History) -> History:
        """The history after it; the same object when nothing in it changed."""
        if all(before.get(key) == leaves for key, leaves in self.recorded.items()):
            return before
        return {**before, **self.recorded}


def frame(digression: str | None) -> str:
    """The key of `History` under which a digression, or the body (None), is interrupted."""
    return "body" if digression is None else f"digression:{digression}"


def phase_key(phase: str) -> str:
    return f"phase:{phase}"
