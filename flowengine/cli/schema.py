"""`flowengine schema`: what a flow file may contain, for editors and for people."""

from __future__ import annotations

from pathlib import Path

from flowengine.flow.reference import flow_reference
from flowengine.flow.schema import schema_text


def print_schema(out: Path | None, markdown: bool = False) -> int:
    """Write the schema, or the reference, to a file or to stdout."""
    text = flow_reference() if markdown else schema_text()
    if out is None:
        print(text, end="")
    else:
        out.write_text(text, encoding="utf-8")
    return 0
