"""A flow as a Mermaid state diagram, which Markdown pages draw by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from flowengine.flow.model import Flow
from flowengine.render.dot import Direction
from flowengine.render.label import name_lines, visible
from flowengine.render.look import BLUE, GREEN, LIGHT_GREEN, LINE, PAPER
from flowengine.render.picture import picture_of
from flowengine.render.progress import Progress, progress
from flowengine.render.shapes import Edge, Group, Item, Node, Picture


def to_mermaid(
    flow: Flow,
    *,
    active: Iterable[str] = (),
    visited: Iterable[str] = (),
    direction: Direction = "TB",
) -> str:
    """The same flow, the same text; see `to_dot` for the arguments and errors.

    State diagrams have one kind of arrow, so edges taken cannot stand out in them.
    """
    picture = picture_of(flow)
    so_far = progress(picture, active=active, visited=visited)
    lines = [f"direction {direction}", *_Mermaid(picture).lines(), *_classes(picture, so_far)]
    return "\n".join(["stateDiagram-v2", *("    " + line for line in lines)]) + "\n"


class _Mermaid:
    """Regions are composite states side by side, not parts divided by `--`.

    Mermaid draws no edge to or from a composite in a divided one (mermaid-js/mermaid#4052), nor
    one that leaves its second part; and parts have no names. Edges stand outside of all
    composites, since one that stands inside moves its ends there.
    """

    def __init__(self, picture: Picture) -> None:
        self.picture = picture

    def lines(self) -> Iterator[str]:
        yield from self.inside(None, self.picture.initial)
        for edge in self.picture.edges:
            yield self.edge(edge)

    def inside(self, group: str | None, initial: str | None) -> Iterator[str]:
        items = list(self.picture.inside(group))
        for item in items:
            yield from self.state(item)
        if initial is not None:
            yield f"[*] --> {initial}"
        yield from (f"{item.id} --> [*]" for item in items if item.kind == "final")

    def state(self, item: Item) -> Iterator[str]:
        if item.kind == "entry":
            yield f"state {item.id} <<fork>>"
        elif isinstance(item, Node) and item.kind != "stop":
            yield f'state "{_caption(item)}" as {item.id}'
        elif isinstance(item, Group):
            yield f'state "{_caption(item)}" as {item.id} {{'
            for line in self.inside(item.id, item.initial):
                yield f"    {line}"
            yield "}"

    def edge(self, edge: Edge) -> str:
        target = "[*]" if edge.target == "stop" else edge.target
        text = "<br/>".join(map(_escaped, (*edge.description, *edge.condition)))
        return f"{edge.source} --> {target}" + (f" : {text}" if text else "")


def _caption(item: Item) -> str:
    """A group has no goal here: its title has room for little."""
    goal = [item.goal] if item.goal and isinstance(item, Node) else []
    lines = [*name_lines(item.name), *goal, *item.notes]
    return "<br/>".join(map(_escaped, lines))


def _classes(picture: Picture, so_far: Progress) -> Iterator[str]:
    yield f"classDef visited fill:{LIGHT_GREEN},stroke:{GREEN}"
    yield f"classDef active fill:{BLUE},stroke:{BLUE},color:{PAPER}"
    yield f"classDef aside stroke:{LINE},stroke-dasharray:4"
    for item in picture.items:
        state = so_far.of(item)
        if state and isinstance(item, Node):
            yield f"class {item.id} {state}"
        elif item.kind in ("region", "monitor", "anywhere", "back"):
            yield f"class {item.id} aside"


_SIGN = re.compile(
    r"""^\s+ | ^\d+[.)]                                    # would begin a list
      | www\.                                             # would be a link
      | (?<![A-Za-z0-9])[_.-] | [_.-](?![A-Za-z0-9])      # plain only inside a word
      | [^A-Za-z0-9\ (),=!?'_.\x80-\U0010ffff-]
    """,
    re.VERBOSE,
)


def _escaped(text: str) -> str:
    """Text with entity codes for all that Mermaid, Markdown or HTML could read as a sign."""
    signs = (_SIGN.sub(_codes, line) for line in visible(text).split("\n"))
    return "<br/>".join(
        "".join(c if c.isprintable() else f"#{ord(c)};" for c in line) for line in signs
    )


def _codes(found: re.Match[str]) -> str:
    return "".join(f"#{ord(character)};" for character in found[0])
