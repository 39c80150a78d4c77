"""What the strokes of a picture mean."""

from __future__ import annotations

from flowengine.render.look import PALE, QUIET, STROKES, Stroke


def legend_line() -> str:
    """A node of DOT with one sample of each stroke."""
    rows = "".join(_row(stroke) for stroke in STROKES.values())
    table = f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2">{rows}</TABLE>'
    return (
        f'legend [id="legend" class="legend" label=<{table}> style=rounded color="{PALE}" '
        f'fontcolor="{QUIET}" fontsize=9 margin="0.1,0.06"]'
    )


def _row(stroke: Stroke) -> str:
    line = f'SIDES="B" BORDER="1" COLOR="{stroke.color}" STYLE="{stroke.style}"'
    cell = f'<TD WIDTH="28" HEIGHT="4" FIXEDSIZE="TRUE" {line}></TD>'
    sample = f'<TABLE BORDER="0" CELLBORDER="0"><TR>{cell}</TR></TABLE>'
    return f'<TR><TD>{sample}</TD><TD ALIGN="LEFT">{stroke.says}</TD></TR>'
