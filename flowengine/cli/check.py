"""`flowengine check`: what is wrong or odd with flows, found without running them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from flowengine.check import Diagnostic, FlowFileError, apply_fixes, check_path
from flowengine.cli.output import complain
from flowengine.flow.files import FLOW_FILES, flow_file

Format: TypeAlias = Literal["text", "json", "github"]
ROUNDS = 8
"""A cure may bring another mistake to light; so many are looked at."""


def check_paths(
    paths: Sequence[Path], format: Format = "text", *, strict: bool = False, fix: bool = False
) -> int:
    """Print what is found; 1 if there is an error, or, with `strict`, a warning."""
    flows = [flow for path in paths for flow in _flows(path)]
    if fix:
        for flow in flows:
            _fix(flow)
    found = [diagnostic for flow in flows for diagnostic in check_path(flow)]
    errors = sum(diagnostic.severity == "error" for diagnostic in found)
    if format == "json":
        counts = {"flows": len(flows), "errors": errors, "warnings": len(found) - errors}
        diagnostics = [diagnostic.to_json() for diagnostic in found]
        print(json.dumps({"diagnostics": diagnostics, **counts}, ensure_ascii=False))
    else:
        for diagnostic in found:
            print(_annotation(diagnostic) if format == "github" else f"{diagnostic}\n")
        complain(f"{len(found)} found")
    return int(bool(errors or (strict and found)))


def _flows(path: Path) -> Iterator[Path]:
    """The flow at a path; all flows below it, if it is a folder of folders."""
    below = (
        sorted({file.parent for name in FLOW_FILES for file in path.rglob(name)})
        if path.is_dir()
        else []
    )
    yield from below or [path]


def _fix(path: Path) -> None:
    """Rewrite the file as far as cures are certain; its line ends and comments stay."""
    for _ in range(ROUNDS):
        found = [diagnostic for diagnostic in check_path(path) if diagnostic.fix]
        if not found:
            return
        try:
            file = flow_file(path)
            text = file.read_bytes().decode("utf-8-sig")
        except (FlowFileError, OSError, UnicodeDecodeError):
            return  # the check that follows says what is wrong with it
        mended = apply_fixes(text, found, format="json" if file.suffix == ".json" else "yaml")
        if mended == text:
            return
        file.write_bytes(mended.encode())
        complain(f"{file}: {len(found)} mended")


def _annotation(diagnostic: Diagnostic) -> str:
    """A line that GitHub shows beside the flow's own line."""
    place = {"file": diagnostic.file, "line": diagnostic.line, "col": diagnostic.column}
    given = {name: value for name, value in place.items() if value}
    given["title"] = diagnostic.code
    where = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in given.items())
    says = "\n".join(part for part in (diagnostic.message, diagnostic.suggestion) if part)
    return f"::{diagnostic.severity} {where}::{_escaped(says)}"


def _escaped(text: str, more: str = "") -> str:
    for sign in "%\r\n" + more:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
