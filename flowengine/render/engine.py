"""Laying out DOT as SVG or PNG by a program: `graphviz-pure`, else Graphviz's own `dot`."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from typing import Literal

from flowengine.render.progress import RenderError

_PROGRAMS = ("graphviz-pure", "dot")
_CURE = (
    "install the extra (pip install 'flowengine[diagram]', which brings graphviz-pure) or Graphviz "
    "itself, whose `dot` must be on the PATH; Mermaid and DOT text need neither"
)


def engine() -> str | None:
    """The program that lays out pictures: beside this Python, else on the PATH."""
    scripts = sysconfig.get_path("scripts")
    pure, dot = _PROGRAMS
    return shutil.which(pure, path=scripts) or shutil.which(pure) or shutil.which(dot)


def lay_out(dot: str, format: Literal["svg", "png"], *, dpi: int | None = None) -> bytes:
    """Raises RenderError if no program is there or if it fails."""
    program = engine()
    if program is None:
        raise RenderError(f"nothing here can draw {format.upper()}: {_CURE}")
    resolution = [f"-Gdpi={dpi}"] if dpi is not None else []
    done = subprocess.run(
        [program, f"-T{format}", *resolution], input=dot.encode(), capture_output=True, check=False
    )
    if done.returncode != 0 or not done.stdout:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why = said[-1] if said else f"it ended with code {done.returncode} and said nothing"
        raise RenderError(f"{program} could not draw this flow: {why}")
    return done.stdout
