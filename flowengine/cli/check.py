"""`flowengine check`: everything that is wrong with a flow, found without running it."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from flowengine.check import Diagnostic, FlowFileError, check_path


def check_paths(paths: list[Path], as_json: bool) -> int:
    """Print what is found; 1 if anything is."""
    found = [diagnostic for path in paths for diagnostic in _check(path)]
    if as_json:
        typer.echo(json.dumps([diagnostic.to_json() for diagnostic in found], ensure_ascii=False))
    else:
        for diagnostic in found:
            typer.echo(f"{diagnostic}\n")
        typer.echo(f"{len(found)} found", err=True)
    return int(bool(found))


def _check(path: Path) -> list[Diagnostic]:
    try:
        return list(check_path(path))
    except FlowFileError as error:
        return list(error.diagnostics)
