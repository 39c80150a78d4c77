"""How far a conversation has come, laid over its picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from flowengine.errors import FlowEngineError, did_you_mean
from flowengine.render.shapes import Item, Picture


class RenderError(FlowEngineError):
    """A picture cannot be made; the message says what to do."""

    code = "render"


@dataclass(frozen=True, slots=True)
class Progress:
    """Which items and edges stand out, by id."""

    active: frozenset[str]
    visited: frozenset[str]
    taken: frozenset[str]

    def of(self, item: Item) -> Literal["active", "visited", ""]:
        if item.id in self.active:
            return "active"
        return "visited" if item.id in self.visited else ""


def progress(
    picture: Picture,
    *,
    active: Iterable[str] = (),
    visited: Iterable[str] = (),
    edges_taken: Iterable[str] = (),
) -> Progress:
    """Find names of phases and of edges, as facts have them, on a picture.

    Raises:
        RenderError: one of them is not there.
    """
    phases = {item.name: item.id for item in picture.items if is_phase(item)}
    edges = {name: edge.id for edge in picture.edges for name in edge.names}
    return Progress(
        active=_ids(active, phases, "a phase"),
        visited=_ids(visited, phases, "a phase"),
        taken=_ids(edges_taken, edges, "an edge"),
    )


def is_phase(item: Item) -> bool:
    return item.kind in ("phase", "final", "parallel")


def _ids(names: Iterable[str], known: dict[str, str], what: str) -> frozenset[str]:
    wanted = tuple(names)
    for name in wanted:
        if name not in known:
            hint = did_you_mean(name, known)
            raise RenderError(f"{name!r} is not the name of {what} of this flow.{hint}")
    return frozenset(known[name] for name in wanted)
