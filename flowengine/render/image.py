"""A flow as SVG or PNG."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from flowengine.flow.model import Flow
from flowengine.render.dot import Direction, dot_text, to_dot
from flowengine.render.engine import lay_out
from flowengine.render.label import visible
from flowengine.render.picture import picture_of
from flowengine.render.progress import progress
from flowengine.render.shapes import Picture


def to_svg(
    flow: Flow,
    *,
    active: Iterable[str] = (),
    visited: Iterable[str] = (),
    edges_taken: Iterable[str] = (),
    direction: Direction = "TB",
    legend: bool = False,
) -> str:
    """An SVG with plain presentation attributes; see `to_dot` for the arguments.

    Nodes, groups and edges carry the picture's ids, and their kind and progress as classes
    (`node phase active`, `edge global taken`), so that a page can style them.

    Raises:
        RenderError: no engine is installed, or a name is not one of the flow's.
        FlowError: an edge leads to a phase that does not exist.
    """
    picture = picture_of(flow)
    so_far = progress(picture, active=active, visited=visited, edges_taken=edges_taken)
    dot = dot_text(picture, so_far, direction=direction, legend=legend)
    return _titled(lay_out(dot, "svg").decode(), picture)


def to_png(
    flow: Flow,
    *,
    active: Iterable[str] = (),
    visited: Iterable[str] = (),
    edges_taken: Iterable[str] = (),
    direction: Direction = "TB",
    legend: bool = False,
    dpi: int = 144,
) -> bytes:
    """Like `to_svg`, in dots; 96 dpi is the size of the SVG on a page."""
    dot = to_dot(
        flow,
        active=active,
        visited=visited,
        edges_taken=edges_taken,
        direction=direction,
        legend=legend,
    )
    return lay_out(dot, "png", dpi=dpi)


_TITLE = re.compile(r'(<g id="(\w+)" class="[\w ]*"[^>]*>\s*<title>)[^<]*(</title>)')


def _titled(svg: str, picture: Picture) -> str:
    """Give each part its name in the flow: the engine titles it with the generated id."""
    titles = {"flow": picture.name} | {item.id: item.name for item in picture.items}
    titles |= {edge.id: edge.names[0] if edge.names else edge.kind for edge in picture.edges}

    def named(match: re.Match[str]) -> str:
        title = escape(visible(titles.get(match[2], "")), quote=False)
        return f"{match[1]}{title}{match[3]}"

    return _TITLE.sub(named, svg)
