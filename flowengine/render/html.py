"""Labels in the HTML that DOT knows: captions of nodes and groups, words on edges."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from flowengine.render.label import name_lines, visible
from flowengine.render.look import SLATE
from flowengine.render.shapes import Edge, Group, Item


def caption(item: Item, name: str, goal: str, *, size: int) -> str:
    """The name in bold, what it is for below it in small; a group's at its left."""
    align = ' ALIGN="LEFT"' if isinstance(item, Group) else ""
    big = [
        f'<FONT COLOR="{name}" POINT-SIZE="{size}"><B>{html_text(line or " ")}</B></FONT>'
        for line in name_lines(item.name)  # engines refuse what is empty
    ]
    small = [html_text(line) for line in (item.goal,) if line]
    small += [f"<I>{html_text(line)}</I>" for line in item.notes]
    lines = big + [f'<FONT COLOR="{goal}" POINT-SIZE="9">{line}</FONT>' for line in small]
    rows = "".join(f"<TR><TD{align}>{line}</TD></TR>" for line in lines)
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">{rows}</TABLE>'


def edge_label(edges: list[Edge]) -> str:
    """What edges say; spaces keep it off the line."""
    labels = ["<BR/>".join(_label_lines(edge)) for edge in edges]
    text = "<BR/>or<BR/>".join(label for label in labels if label)
    return f" label=<{text}>" if text else ""


def _label_lines(edge: Edge) -> Iterator[str]:
    for line in edge.description:
        yield f'<FONT COLOR="{SLATE}">  {html_text(line)} </FONT>'
    for line in edge.condition:
        yield f"  {html_text(line)} "


def html_text(text: str) -> str:
    r"""Text as HTML; backslashes are doubled: engines replace `\N` and the like even there."""
    safe = escape(visible(text)).replace("\\", "\\\\")
    coded = (c if c == "\n" or c.isprintable() else f"&#{ord(c)};" for c in safe)
    return "".join(coded).replace("\n", "<BR/>")
