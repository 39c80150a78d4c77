"""Parts of a flow that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.flow.diagnostic import Finding, warning
from flowengine.flow.index import Index
from flowengine.flow.uses import reads
from flowengine.state.keys import bare


def unused_records(index: Index) -> Iterator[Finding]:
    """A record is collected by a phase, or something reads what it fills."""
    collected = {name for place in index.phases for name in place.phase.collect}
    read = {bare(use.key) for use in reads(index)}
    roots = read | {key.partition(".")[0] for key in read}
    for name, record in index.flow.records.items():
        filled = {spec.to or field for field, spec in record.fields.items()}
        if name not in collected | roots and not filled & roots and record.on_complete is None:
            message = f"no phase collects record {name!r}, and nothing reads its fields"
            yield warning("unused_record", message, ("records", name), on_key=True)


def unused_tools(index: Index) -> Iterator[Finding]:
    """A tool is allowed in some phase; a phase without `tools` allows them all."""
    rules = [place.phase.tools for place in index.phases if place.phase.is_leaf()]
    for name in index.flow.tools:
        allowed = any(
            rule is None or (name not in rule.deny and (rule.allow is None or name in rule.allow))
            for rule in rules
        )
        if not allowed:
            message = f"no phase allows tool {name!r}"
            yield warning("unused_tool", message, ("tools", name), on_key=True)
