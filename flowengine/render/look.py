"""Colours and strokes: what each kind of node, group and edge looks like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from flowengine.render.shapes import EdgeKind, GroupKind, NodeKind

INK = "#0f172a"
SLATE = "#334155"
QUIET = "#64748b"
LINE = "#94a3b8"
PALE = "#cbd5e1"
PAPER = "#ffffff"
GROUND = "#f8fafc"
BLUE = "#2563eb"
GREEN = "#16a34a"
LIGHT_GREEN = "#dcfce7"
RED = "#dc2626"
FONT = "Helvetica"


class Paint(NamedTuple):
    """Fill, border and the two inks of a phase."""

    fill: str = PAPER
    border: str = LINE
    name: str = INK
    goal: str = QUIET


PAINTS: Mapping[str, Paint] = {
    "": Paint(),
    "visited": Paint(LIGHT_GREEN, GREEN),
    "active": Paint(BLUE, BLUE, PAPER, PAPER),
}
"""By progress."""


class Stroke(NamedTuple):
    """How an edge is drawn; `says` is its line in the legend."""

    color: str
    style: str
    width: float
    says: str


STROKES: Mapping[EdgeKind, Stroke] = {
    "own": Stroke(QUIET, "solid", 1.2, "transition"),
    "self": Stroke(QUIET, "solid", 1.2, "to itself"),
    "back": Stroke(QUIET, "dotted", 1.4, "back"),
    "exit": Stroke(RED, "dashed", 1.2, "exit"),
    "global": Stroke(RED, "dashed", 1.2, "from any phase"),
    "fallback": Stroke(GREEN, "dashed", 1.4, "when nothing else holds"),
    "digression": Stroke(GREEN, "dashed", 1.4, "digression"),
    "return": Stroke(GREEN, "dashed", 1.4, "end of a digression"),
}

GROUP_STYLES: Mapping[GroupKind, str] = {
    "phase": "rounded,filled",
    "parallel": "rounded,filled",
    "region": "rounded,dashed",
    "digression": "rounded,filled",
    "monitor": "rounded,dashed",
}

_PILL = 'height=0.25 margin="0.12,0.03" style="rounded,filled,dashed"'
MARKS: Mapping[NodeKind, str] = {
    "anywhere": _PILL,
    "back": _PILL,
    "history": "shape=circle width=0.3 fixedsize=true style=filled",
    "stop": "shape=doublecircle width=0.17 style=filled",
    "entry": "shape=circle width=0.17 style=filled",
}
"""Shapes, as DOT has them, of nodes that are no phases."""
