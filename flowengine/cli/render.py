"""`flowengine render`: a flow as Mermaid, DOT, SVG or PNG."""

from __future__ import annotations

from pathlib import Path

import typer

from flowengine.errors import FlowError, did_you_mean
from flowengine.flow.load import load
from flowengine.render import to_dot, to_mermaid, to_png, to_svg

FORMATS = ("mermaid", "dot", "svg", "png")
SUFFIXES = {".mmd": "mermaid", ".dot": "dot", ".gv": "dot", ".svg": "svg", ".png": "png"}


def render_flow(path: Path, output: Path | None, format: str, direction: str) -> int:
    """Write the drawing to a file, or its text to stdout."""
    format = format or SUFFIXES.get(output.suffix if output else "", "mermaid")
    if format not in FORMATS or direction not in ("TB", "LR"):
        hint = did_you_mean(format, FORMATS)
        raise FlowError(f"draw as {', '.join(FORMATS)}, direction TB or LR.{hint}")
    if format == "png" and output is None:
        raise FlowError("a PNG needs a file: give one with -o flow.png")
    flow = load(path)
    draw = {"mermaid": to_mermaid, "dot": to_dot, "svg": to_svg, "png": to_png}[format]
    drawing = draw(flow, direction=direction)
    if output is None:
        typer.echo(drawing)
    elif isinstance(drawing, bytes):
        output.write_bytes(drawing)
    else:
        output.write_text(drawing)
    return 0
