"""What must not happen at any time of a scenario, found among the facts of a step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from flowengine.facts import Fact, PhaseEntered, ToolDecided
from flowengine.testing.expect import Never


class Breach(NamedTuple):
    """One thing that happened although it must not; the path leads into `never`."""

    message: str
    path: tuple[str, int]


def breaches(never: Never, facts: Iterable[Fact]) -> Iterator[Breach]:
    """Every such fact, in order; a call that only shares another's result was not decided."""
    for fact in facts:
        match fact:
            case ToolDecided(_, tool, True, _, _) if tool in never.admitted:
                at = never.admitted.index(tool)
                yield Breach(f"a call of {tool!r} was admitted", ("admitted", at))
            case ToolDecided(_, tool, False, kind, missing) if tool in never.denied:
                if kind != "repeated":
                    lacks = f", missing {', '.join(missing)}" if missing else ""
                    message = f"a call of {tool!r} was denied ({kind}{lacks})"
                    yield Breach(message, ("denied", never.denied.index(tool)))
            case PhaseEntered(phase) if phase in never.phases:
                yield Breach(f"{phase!r} was entered", ("phases", never.phases.index(phase)))
            case _:
                pass
