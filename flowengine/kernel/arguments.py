"""A call's arguments as its tool gets them: completed, and coerced where they are only misspelt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flowengine.inputs import Json
from flowengine.tools.spec import Tool

if TYPE_CHECKING:
    from flowengine.sources.arguments import Problem

MISSING = "is missing"


def accepted(name: str, spec: Tool, args: Mapping[str, Json]) -> dict[str, Json]:
    """The arguments to judge the call by; as they were given if they do not fit."""
    return _accept(name, spec, args)[0]


def misfits(name: str, spec: Tool, args: Mapping[str, Json]) -> tuple[Problem, ...]:
    """What is wrong with each argument, without its value."""
    return _accept(name, spec, args)[1]


def _accept(
    name: str, spec: Tool, args: Mapping[str, Json]
) -> tuple[dict[str, Json], tuple[Problem, ...]]:
    if not spec.args:
        return dict(args), ()
    # Imported at the first call of a tool: a flow that is only drawn or checked needs it not.
    from flowengine.sources.arguments import ArgumentError
    from flowengine.tools.accept import accept

    try:
        return accept(name, spec, args), ()
    except ArgumentError as error:
        return dict(args), error.problems
