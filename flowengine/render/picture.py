"""A flow as a picture: each phase is a node or a group, each edge is there once."""

from __future__ import annotations

from flowengine.flow.model import Flow
from flowengine.render.edges import edges_of
from flowengine.render.ground import Ground
from flowengine.render.shapes import Picture


def picture_of(flow: Flow) -> Picture:
    """All that can be drawn of a flow, in a stable order.

    Raises:
        FlowError: an edge leads to a phase that does not exist, or two phases share a name.
    """
    ground = Ground(flow)
    edges = tuple(edges_of(flow, ground))
    return Picture(flow.flow, ground.initial, tuple(ground.items.values()), edges)
