"""Why a flow of the right form still cannot be used, and what in it looks like a mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flowengine.flow import keys, literals, names
from flowengine.flow.callables import function_names, resolver_names
from flowengine.flow.diagnostic import Finding
from flowengine.flow.functions import Declared
from flowengine.flow.index import Index
from flowengine.flow.model import Flow
from flowengine.flow.recognizing import recognizers

_RULES: tuple[Callable[[Index], Iterator[Finding]], ...] = (
    names.phase_names,
    names.initial_phases,
    names.record_names,
    names.tool_names,
    names.told_names,
    names.extraction_names,
    names.question_names,
    recognizers,
    keys.declared_once,
    keys.owned_keys,
    keys.reserved_keys,
    keys.computed_cycles,
    keys.unfollowed_cases,
    keys.misspelt_writers,
    literals.literals,
    literals.questions,
    literals.misread_responses,
    literals.compared_literals,
)


def problems(flow: Flow, functions: Declared | None = None) -> list[Finding]:
    """All that loading objects to; names of functions only where `functions` are known."""
    return problems_in(Index(flow), functions)


def problems_in(index: Index, functions: Declared | None = None) -> list[Finding]:
    """The same for a flow that has been taken apart already."""
    found = [finding for rule in _RULES for finding in rule(index)]
    found += function_names(index, functions)
    found += resolver_names(index, functions)
    return found
