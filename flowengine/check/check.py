"""Checks a flow: what loading objects to, then how its phases, keys and guards fit together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from flowengine.check import (
    arguments,
    commits,
    constraints,
    dead_ends,
    decisions,
    edges,
    extraction,
    ladders,
    loops,
    reads,
    regions,
    schemas,
    shadows,
    sources,
    unused,
)
from flowengine.check.graph import Graph
from flowengine.check.models import unpinned_extraction_model
from flowengine.flow.diagnostic import Diagnostic, Finding, FlowFileError, in_order, pointer
from flowengine.flow.functions import FILE, Declared, Functions
from flowengine.flow.index import Index
from flowengine.flow.load import read
from flowengine.flow.model import Flow
from flowengine.flow.problems import problems_in
from flowengine.flow.signatures import (
    Signatures,
    declared_signatures,
    has_registry,
    signatures_of,
)
from flowengine.flow.source import Source

_OF_GRAPH: tuple[Callable[[Graph], Iterator[Finding]], ...] = (
    dead_ends.unreachable,
    dead_ends.dead_ends,
    dead_ends.no_way_to_an_end,
    edges.exit_before_caller,
    edges.unguarded_global,
    edges.global_to_guarded,
    edges.history_from_inside,
    regions.across_regions,
    regions.diverging_regions,
    shadows.shadowed,
    loops.endless_self,
    loops.endless_cycles,
    constraints.order_cycles,
    constraints.unkept_orders,
)
_OF_PARTS: tuple[Callable[[Index], Iterator[Finding]], ...] = (
    reads.unknown_keys,
    reads.misspelt_keys,
    reads.unwritten_keys,
    unused.unused_records,
    unused.unused_tools,
    unused.unheard_events,
    arguments.unknown_arguments,
    arguments.misplaced_arguments,
    commits.unguarded_commits,
    commits.open_commits,
    commits.ungrounded_commits,
    commits.compensations,
    decisions.impossible_expectations,
    decisions.unused_questions,
    extraction.unknown_fields,
    extraction.never_grounded,
    schemas.broken_schemas,
    schemas.unfit_promotions,
    ladders.silent_steps,
    ladders.timed_turns,
    ladders.verbatim_without_words,
)


def check(
    flow: Flow, *, functions: Functions | Declared | None = None, source: Source | None = None
) -> list[Diagnostic]:
    """Everything that is wrong or odd with a flow, errors first; empty if nothing is.

    `functions` are what the flow may call (None: taken on trust); `source` gives positions.
    """
    if isinstance(functions, Functions):
        found = _found(Index(flow), functions.declared(), signatures_of(functions))
    else:
        found = _found(Index(flow), functions, {})
    return in_order(source.locate(f) if source else _unplaced(f) for f in found)


def _found(index: Index, declared: Declared | None, signatures: Signatures) -> list[Finding]:
    found = problems_in(index, declared)
    broken = {"unknown_phase", "duplicate_phase"} & {finding.code for finding in found}
    if not broken:
        graph = Graph(index)
        found += [finding for rule in _OF_GRAPH for finding in rule(graph)]
    found += [finding for rule in _OF_PARTS for finding in rule(index)]
    found += unpinned_extraction_model(index, declared)
    found += sources.unregistered_tools(index, declared)
    found += sources.unfit_functions(index, signatures)
    return found


def check_path(
    path: str | Path, *, functions: Functions | Declared | None = None
) -> list[Diagnostic]:
    """The same for a flow's folder or file; one that cannot be loaded gives its load errors.

    Without `functions` they are what functions.py beside the file declares: none if there is none.
    """
    try:
        loaded = read(path)
    except FlowFileError as error:
        return list(error.diagnostics)
    if functions is not None or loaded.functions is None:
        return check(
            loaded.flow, functions={} if functions is None else functions, source=loaded.source
        )
    code = Path(loaded.source.file).with_name(FILE)
    found = _found(Index(loaded.flow), loaded.functions, declared_signatures(code))
    if not has_registry(code):
        found.append(sources.without_registry())
    return in_order(map(loaded.source.locate, found))


def _unplaced(finding: Finding) -> Diagnostic:
    return Diagnostic(
        code=finding.code,
        message=finding.message,
        path=pointer(finding.path),
        severity=finding.severity,
        suggestion=finding.suggestion,
        fix=finding.fix,
    )
