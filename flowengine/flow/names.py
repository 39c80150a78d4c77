"""Names that must exist, and names that must not exist twice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from flowengine.flow.diagnostic import Finding, Path, unknown, warning
from flowengine.flow.index import Index, misnamed
from flowengine.flow.model import Constraint, Phase, ToolRule
from flowengine.flow.uses import Use, writes
from flowengine.state.keys import bare
from flowengine.tools.names import LONGEST, is_too_long, told_name


def phase_names(index: Index) -> Iterator[Finding]:
    """Transitions, `reset` and guards name phases that exist; no two phases share a name."""
    known = [place.name for place in index.phases]
    for edge in index.edges:
        if edge.transition.to not in index.by_name:
            path = (*edge.path, "to")
            yield unknown("unknown_phase", "phase", edge.transition.to, known, path)
    for path, action in index.actions:
        for at, name in enumerate(action.reset or ()):
            if name not in index.by_name:
                yield unknown("unknown_phase", "phase", name, known, (*path, "reset", at))
    for path, rule in index.all_of(Constraint):
        for at, name in enumerate(rule.require):
            if name not in index.by_name:
                yield unknown("unknown_phase", "phase", name, known, (*path, "require", at))
        for at, name in enumerate(rule.before or ()):
            if name not in index.by_name and name not in index.flow.tools:
                either = [*known, *index.flow.tools]
                where = (*path, "before", at)
                yield unknown("unknown_phase", "phase or tool", name, either, where)
    yield from _asked(index, "phase", "unknown_phase", known)
    yield from _twice(index)


def _twice(index: Index) -> Iterator[Finding]:
    seen: dict[str, Path] = {}
    for place in index.phases:
        if place.name in seen:
            yield Finding(
                "duplicate_phase",
                f"another phase is called {place.name!r}; names are unique in the whole flow",
                place.path,
                suggestion=f"the other one is at {'.'.join(map(str, seen[place.name]))}",
                on_key=True,
                word=place.name,
            )
        seen.setdefault(place.name, place.path)


def initial_phases(index: Index) -> Iterator[Finding]:
    """One phase of the flow is marked initial; in a smaller set the first is, unless marked."""
    for path, phases in _phase_sets(index):
        marked = [name for name, phase in phases.items() if phase.initial]
        for name in marked[1:]:
            message = f"{marked[0]!r} is initial too; a conversation begins in one place"
            yield Finding("many_initial", message, (*path, name, "initial"))
        if not marked and path == ("phases",) and len(phases) > 1:
            first = next(iter(phases))
            yield Finding(
                "no_initial",
                "no phase is marked `initial: true`",
                path,
                suggestion=f"mark the one where the conversation begins, such as {first!r}",
                on_key=True,
            )


def _phase_sets(index: Index) -> Iterator[tuple[Path, dict[str, Phase]]]:
    yield ("phases",), index.flow.phases
    for name, digression in index.flow.digressions.items():
        yield ("digressions", name, "phases"), digression.phases
    for name, monitor in index.flow.monitors.items():
        yield ("monitors", name, "phases"), monitor.phases
    for place in index.phases:
        if place.phase.phases:
            yield (*place.path, "phases"), place.phase.phases
        for name, region in place.phase.regions.items():
            yield (*place.path, "regions", name, "phases"), region.phases


def record_names(index: Index) -> Iterator[Finding]:
    """`collect` lists records."""
    records = index.flow.records
    for path, phase in index.all_of(Phase):
        for at, name in enumerate(phase.collect):
            if name not in records:
                yield unknown("unknown_record", "record", name, records, (*path, "collect", at))


def tool_names(index: Index) -> Iterator[Finding]:
    """`tools`, `called_ok`, constraints and compensations name tools, once there are any."""
    tools = index.flow.tools
    if not tools:
        return
    for path, rule in index.all_of(ToolRule):
        yield from _unknown_tools(rule.deny, (*path, "deny"), tools)
        yield from _unknown_tools(rule.allow or (), (*path, "allow"), tools)
    for path, rule in index.all_of(Constraint):
        yield from _unknown_tools(rule.ambient, (*path, "ambient"), tools)
        yield from _unknown_tool(rule.once, (*path, "once"), tools)
        yield from _unknown_tool(rule.never, (*path, "never"), tools)
    for name, tool in tools.items():
        yield from _unknown_tool(tool.compensate_with, ("tools", name, "compensate_with"), tools)
    yield from _asked(index, "tool", "unknown_tool", list(tools))


def told_names(index: Index) -> Iterator[Finding]:
    """A model knows each tool by a name of its own, and not by half a name."""
    known: dict[str, str] = {}
    for name in index.flow.tools:
        told = told_name(name)
        first = known.setdefault(told, name)
        if first != name:
            yield Finding(
                "alike_tools",
                f"a model is told {first!r} and {name!r} under one name: {told!r}",
                ("tools", name),
                suggestion="rename one of them",
                on_key=True,
                word=name,
            )
        elif is_too_long(name):
            yield warning(
                "long_tool_name",
                f"the name of tool {name!r} is too long for a model, which is told {told!r}",
                ("tools", name),
                suggestion=f"{LONGEST} characters are allowed; a dot is told as two",
                on_key=True,
            )


def _unknown_tools(names: Iterable[str], path: Path, tools: Collection[str]) -> Iterator[Finding]:
    for at, name in enumerate(names):
        yield from _unknown_tool(name, (*path, at), tools)


def _unknown_tool(name: str | None, path: Path, tools: Collection[str]) -> Iterator[Finding]:
    if name is not None and name not in tools:
        yield unknown("unknown_tool", "tool", name, tools, path)


def extraction_names(index: Index) -> Iterator[Finding]:
    """What an extraction has found stands under its name, so nothing else may have that name."""
    for at, extract in enumerate(index.flow.extract):
        taken, path = _named_like(index, extract.name, at), ("extract", at, "name")
        fields: Any = extract.schema_.get("properties")
        if taken:
            yield Finding(
                "name_taken",
                f"extraction {extract.name!r} keeps what it finds under its own name, and {taken} "
                "is called so too",
                path,
                suggestion="give the extraction another name",
                word=extract.name,
            )
        elif not extract.promote and isinstance(fields, dict) and extract.name in fields:
            yield warning(
                "name_taken",
                f"extraction {extract.name!r} has a field of its own name: {extract.name!r} reads "
                f"all that was found, and 'derived:{extract.name}' the field",
                path,
                suggestion="give the extraction another name",
                word=extract.name,
            )


def _named_like(index: Index, name: str, at: int) -> str:
    """What else has the name of the extraction at this position; of two, the second has it."""
    flow = index.flow
    if name in (other.name for other in flow.extract[:at]):
        return "another extraction"
    if name in flow.records:
        return "a record"
    if name in map(bare, flow.state):
        return "a key"
    taken = (use for use in _written(index, at) if bare(use.key) == name)
    return next((f"a key that {_owner(index, use)} writes" for use in taken), "")


def _written(index: Index, own: int) -> Iterator[Use]:
    """All writes but those of extractions under their names, of fields that have rules, and of
    this one's fields that have none."""
    extract = index.flow.extract
    for use in writes(index):
        if use.path[:1] != ("extract",):
            yield use
        elif len(use.path) > 2:
            at, section = use.path[1:3]
            if section == "promote" or not (extract[int(at)].promote or at == own):
                yield use


def _owner(index: Index, use: Use) -> str:
    if use.path[:1] == ("extract",):
        return f"extraction {index.flow.extract[int(use.path[1])].name!r}"
    return " ".join(map(str, use.path[:2])) or use.by


def question_names(index: Index) -> Iterator[Finding]:
    """`decided(...)` names questions that the flow asks."""
    yield from _asked(index, "decision", "unknown_question", list(index.flow.decisions))


def _asked(index: Index, kind: str, code: str, known: Collection[str]) -> Iterator[Finding]:
    for question in index.questions:
        if question.kind == kind and question.name not in known:
            yield misnamed(question, code, known)
