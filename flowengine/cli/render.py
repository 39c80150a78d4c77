"""`flowengine render`: a flow as Mermaid, DOT, SVG or PNG; its functions are never run."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias, cast

from flowengine.cli.misuse import Misuse
from flowengine.errors import did_you_mean
from flowengine.flow.load import load
from flowengine.render import Direction, to_dot, to_mermaid, to_png, to_svg

Format: TypeAlias = Literal["mermaid", "dot", "svg", "png"]

SUFFIXES: dict[str, Format] = {
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
    ".dot": "dot",
    ".gv": "dot",
    ".svg": "svg",
    ".png": "png",
}
_DRAW = {"mermaid": to_mermaid, "dot": to_dot, "svg": to_svg, "png": to_png}


def render_flow(
    path: Path,
    output: Path | None,
    format: Format | None = None,
    direction: str = "TB",
    highlight: tuple[str, ...] = (),
) -> int:
    """Write the drawing to a file, or its text to stdout."""
    format = format or _format_of(output)
    if format == "png" and output is None:
        raise Misuse("a PNG needs a file: give one with -o flow.png")
    drawing = _DRAW[format](load(path), active=highlight, direction=cast("Direction", direction))
    if output is None:
        print(drawing, end="")
    elif isinstance(drawing, bytes):
        output.write_bytes(drawing)
    else:
        output.write_text(drawing, encoding="utf-8")
    return 0


def _format_of(output: Path | None) -> Format:
    if output is None:
        return "mermaid"
    suffix = output.suffix.lower()
    if suffix not in SUFFIXES:
        guess = did_you_mean(suffix, SUFFIXES)
        raise Misuse(f"{output}: its suffix is none of {', '.join(SUFFIXES)}; say --format.{guess}")
    return SUFFIXES[suffix]
