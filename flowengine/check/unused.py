"""Parts of a flow that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.errors import near_miss
from flowengine.extract.spec import Raise
from flowengine.flow.diagnostic import Finding, Path, pointer, warning
from flowengine.flow.index import Index
from flowengine.flow.uses import events_of, reads
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
    """A tool is open in some phase, or everywhere, or makes up for another that failed."""
    compensating = {tool.compensate_with for tool in index.flow.tools.values()}
    for name in index.flow.tools:
        if name not in compensating and not offering(index, name):
            message = f"no phase allows tool {name!r}"
            yield warning("unused_tool", message, ("tools", name), on_key=True)


def unheard_events(index: Index) -> Iterator[Finding]:
    """An event that the flow raises is waited for by something in it."""
    heard = events_of(index)
    for path, event in _raised(index):
        if event not in heard:
            guess = near_miss(event, heard)
            yield warning(
                "unheard_event",
                f"event {event!r} is raised, and nothing waits for it",
                path,
                suggestion=f"did you mean {guess!r}?" if guess else "give a transition `on` it",
                fix=({"op": "replace", "path": pointer(path), "value": guess},) if guess else (),
                word=event,
            )


def _raised(index: Index) -> Iterator[tuple[Path, str]]:
    for path, action in index.actions:
        if action.raise_:
            yield (*path, "raise"), action.raise_
    for at, extract in enumerate(index.flow.extract):
        if isinstance(extract.on_failure, Raise):
            yield ("extract", at, "on_failure", "raise"), extract.on_failure.raise_


def offering(index: Index, tool: str) -> list[str]:
    """The phases without phases in them in which a tool may be called.

    A phase's rule holds inside it, too; one of the conversation without `tools` allows them all.
    """
    listed = {name for rule in index.flow.constraints for name in rule.ambient}
    spec = index.flow.tools.get(tool)
    ambient = tool in listed or (spec is not None and spec.ambient)
    found: list[str] = []
    for place in index.phases:
        if not place.phase.is_leaf():
            continue
        rules = [p.phase.tools for p in (place, *index.ancestors(place.name)) if p.phase.tools]
        allowing = [rule.allow for rule in rules if rule.allow is not None]
        by_default = not allowing and place.regions[0] == ("phases",)
        denied = any(tool in rule.deny for rule in rules)
        if not denied and (ambient or by_default or any(tool in allow for allow in allowing)):
            found.append(place.name)
    return found
