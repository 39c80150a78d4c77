"""A flow as DOT text, the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from flowengine.flow.model import Flow
from flowengine.render.html import caption, edge_label, html_text
from flowengine.render.legend import legend_line
from flowengine.render.look import (
    FONT,
    GROUND,
    GROUP_STYLES,
    INK,
    LINE,
    MARKS,
    PAINTS,
    PALE,
    PAPER,
    QUIET,
    STROKES,
)
from flowengine.render.picture import picture_of
from flowengine.render.progress import Progress, progress
from flowengine.render.shapes import Edge, Group, Item, Node, Picture

Direction: TypeAlias = Literal["TB", "LR"]


def to_dot(
    flow: Flow,
    *,
    active: Iterable[str] = (),
    visited: Iterable[str] = (),
    edges_taken: Iterable[str] = (),
    direction: Direction = "TB",
    legend: bool = False,
) -> str:
    """The same flow, the same text.

    Args:
        active: phases where the conversation is, drawn blue.
        visited: phases where it was, drawn green.
        edges_taken: names of edges as `TransitionTaken` facts have them.

    Raises:
        RenderError: a name is not one of the flow's.
        FlowError: an edge leads to a phase that does not exist.
    """
    picture = picture_of(flow)
    so_far = progress(picture, active=active, visited=visited, edges_taken=edges_taken)
    return dot_text(picture, so_far, direction=direction, legend=legend)


def dot_text(picture: Picture, so_far: Progress, *, direction: Direction, legend: bool) -> str:
    lines = [*_Dot(picture, so_far).lines(direction), *([legend_line()] if legend else ())]
    return "\n".join(["digraph flow {", *("  " + line for line in lines), "}"]) + "\n"


class _Dot:
    def __init__(self, picture: Picture, so_far: Progress) -> None:
        self.picture = picture
        self.so_far = so_far
        self.items = {item.id: item for item in picture.items}
        self.depths = self.measure()

    def lines(self, direction: Direction) -> Iterator[str]:
        yield (
            f'graph [id="flow" rankdir={direction} compound=true nodesep=0.5 '
            f'ranksep=0.55 pad=0.3 bgcolor="{PAPER}" fontname="{FONT}" fontsize=13]'
        )
        yield f'node [fontname="{FONT}" fontsize=12 shape=box style="rounded,filled" penwidth=1.2]'
        yield f'edge [fontname="{FONT}" fontsize=10 arrowsize=0.8]'
        yield from self.start("start", self.picture.initial)
        for item in self.picture.inside(None):
            yield from self.item(item)
        for edges in self.strokes():
            yield self.edge(edges)

    def item(self, item: Item) -> Iterator[str]:
        if isinstance(item, Node):
            yield self.phase(item) if item.kind in ("phase", "final") else _mark(item)
            return
        yield f"subgraph cluster_{item.id} {{"
        yield f"  graph [{self.border(item)}]"
        if item.kind in _DOTTED and item.initial is not None:
            yield from ("  " + line for line in self.start(_start(item), item.initial))
        for inside in self.picture.inside(item.id):
            yield from ("  " + line for line in self.item(inside))
            if inside.kind == "history":
                yield f"  {self.lowest(item)} -> {inside.id} [style=invis]"
        yield "}"

    def phase(self, node: Node) -> str:
        state = self.so_far.of(node)
        paint = PAINTS[state]
        classes = f"{node.kind} {state}".strip()
        final = " peripheries=2" if node.kind == "final" else ""
        text = caption(node, paint.name, paint.goal, size=12)
        return (
            f'{node.id} [id="{node.id}" class="{classes}" label=<{text}> margin="0.17,0.06" '
            f'color="{paint.border}" fillcolor="{paint.fill}"{final}]'
        )

    def border(self, group: Group) -> str:
        state = self.so_far.of(group)
        color = PAINTS[state].border if state else LINE if "dashed" in _style(group) else PALE
        classes = f"{group.kind} {state}".strip()
        text = caption(group, INK, QUIET, size=13)
        return (
            f'id="{group.id}" class="{classes}" label=<{text}> labeljust=l margin=18 '
            f'style="{_style(group)}" color="{color}" fillcolor="{GROUND}" penwidth=1.1'
        )

    def start(self, id: str, initial: str) -> Iterator[str]:
        yield (
            f'{id} [id="{id}" class="initial" label="" shape=circle width=0.17 '
            f'style=filled color="{INK}" fillcolor="{INK}"]'
        )
        head, clip = self.head(self.items[initial])
        yield f'{id} -> {head} [class="initial" color="{QUIET}" penwidth=1.2{clip}]'

    def strokes(self) -> Iterator[list[Edge]]:
        """Each edge alone, but for the loops of a node: engines draw those over each other."""
        loops: dict[str, list[Edge]] = {}
        for edge in self.picture.edges:
            source, target = self.items[edge.source], self.items[edge.target]
            if self.head(target) == self.tail(source):
                loops.setdefault(edge.source, []).append(edge)
            else:
                yield [edge]
        yield from loops.values()

    def edge(self, edges: list[Edge]) -> str:
        first = edges[0]
        stroke = STROKES[first.kind]
        taken = any(edge.id in self.so_far.taken for edge in edges)
        tail, tail_clip = self.tail(self.items[first.source])
        head, head_clip = self.head(self.items[first.target])
        classes = [first.kind, *(edge.id for edge in edges[1:]), *(["taken"] if taken else [])]
        look = (
            f'id="{first.id}" class="{" ".join(classes)}" '
            f'color="{stroke.color}" fontcolor="{stroke.color}" style={stroke.style} '
            f"penwidth={stroke.width + taken}{edge_label(edges)}"
        )
        if first.kind == "back":
            clips = tail_clip.replace("ltail", "lhead") + head_clip.replace("lhead", "ltail")
            return f"{head} -> {tail} [{look} dir=back{clips}]"
        return f"{tail} -> {head} [{look}{tail_clip}{head_clip}]"

    def head(self, item: Item) -> tuple[str, str]:
        """The node that an edge enters: a group's initial phase, or a dot behind its border."""
        while isinstance(item, Group) and item.kind == "phase" and item.initial is not None:
            item = self.items[item.initial]
        if isinstance(item, Node):
            return item.id, ""
        dotted = next(self.picture.inside(item.id)) if item.kind == "parallel" else item
        return _start(dotted), f" lhead=cluster_{item.id}"

    def tail(self, item: Item) -> tuple[str, str]:
        """The node that an edge leaves; a group is left at its border, where it reaches lowest."""
        if isinstance(item, Node):
            return item.id, ""
        below = [inside.id for inside in self.picture.inside(item.id) if inside.kind == "history"]
        lowest = below[0] if below else self.lowest(item)
        return lowest, f" ltail=cluster_{item.id}"

    def lowest(self, group: Group) -> str:
        return max(self.leaves(group), key=lambda id: self.depths.get(id, 0))

    def measure(self) -> dict[str, int]:
        """How many edges lie before a node, at most; those that lead back do not count."""
        depths: dict[str, int] = {}
        forward = [edge for edge in self.picture.edges if edge.kind in ("own", "exit")]
        order = {item.id: place for place, item in enumerate(self.picture.items)}
        for edge in sorted(forward, key=lambda edge: order[edge.source]):
            target, _ = self.head(self.items[edge.target])
            depths[target] = max(depths.get(target, 0), depths.get(edge.source, 0) + 1)
        return depths

    def leaves(self, group: Group) -> Iterator[str]:
        for item in self.picture.inside(group.id):
            if isinstance(item, Group):
                yield from self.leaves(item)
            elif item.kind in ("phase", "final"):
                yield item.id


_DOTTED = ("region", "monitor", "digression")
"""Groups that show where they begin; elsewhere edges lead straight to the initial phase."""


def _start(group: Item) -> str:
    """The black dot in a group."""
    return f"{group.id}start"


def _style(group: Group) -> str:
    return GROUP_STYLES[group.kind]


def _mark(node: Node) -> str:
    dot = node.kind in ("stop", "entry")
    label = '""' if dot else f"<<I>{html_text(node.name)}</I>>"
    return (
        f'{node.id} [id="{node.id}" class="{node.kind}" label={label} {MARKS[node.kind]} '
        f'color="{INK if dot else LINE}" fillcolor="{INK if dot else PAPER}" '
        f'fontcolor="{QUIET}" fontsize=10]'
    )
