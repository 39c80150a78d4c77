"""`flowengine schema`: the JSON Schema of flow files, for editors."""

from __future__ import annotations

from pathlib import Path

from flowengine.flow.schema import schema_text, write_schema


def print_schema(out: Path | None) -> int:
    """Write the schema to a file or to stdout."""
    if out is None:
        print(schema_text(), end="")
    else:
        write_schema(out)
    return 0
