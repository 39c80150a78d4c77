"""Everything in a flow by what it is, each with its path: what all checks look things up in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, cast, get_args

from pydantic import BaseModel

from flowengine.errors import near_miss
from flowengine.flow.action import Action
from flowengine.flow.diagnostic import Finding, Patch, Path, pointer, unknown
from flowengine.flow.model import Flow, Phase, Region, Transition
from flowengine.guards import Guard, names_of, rename
from flowengine.guards.words import NameKind

T = TypeVar("T")


class PhasePlace(NamedTuple):
    """A phase where it stands."""

    name: str
    phase: Phase
    path: Path
    parent: str | None
    regions: tuple[Path, ...]
    """The regions it is in, outermost first: the main one or a monitor, then parallel ones."""


class Edge(NamedTuple):
    """A transition where it stands; `source` is None for a flow-wide one."""

    transition: Transition
    path: Path
    source: str | None
    kind: str
    """`own`, `global` or `fallback`."""


class Question(NamedTuple):
    """A name that a guard asks about."""

    kind: NameKind
    name: str
    path: Path
    guard: Guard


class Index:
    """A flow taken apart once."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow

    @cached_property
    def parts(self) -> list[tuple[Path, Any]]:
        """Every model and every guard, in document order."""
        return list(_parts(self.flow, ()))

    def all_of(self, kind: type[T]) -> Iterator[tuple[Path, T]]:
        """Every part that is a `kind`."""
        return ((path, part) for path, part in self.parts if isinstance(part, kind))

    @cached_property
    def phases(self) -> list[PhasePlace]:
        """Main phases, then those of digressions, then those of monitors."""
        main: Path = ("phases",)
        places = [*_phases(self.flow.phases, main, None, (main,))]
        for name, digression in self.flow.digressions.items():
            path: Path = ("digressions", name, "phases")
            places += _phases(digression.phases, path, None, (main,))
        for name, monitor in self.flow.monitors.items():
            path = ("monitors", name, "phases")
            places += _phases(monitor.phases, path, None, (path,))
        return places

    @cached_property
    def by_name(self) -> dict[str, PhasePlace]:
        """The first phase of each name, in document order."""
        named: dict[str, PhasePlace] = {}
        for place in self.phases:
            named.setdefault(place.name, place)
        return named

    @cached_property
    def edges(self) -> list[Edge]:
        """Flow-wide edges first, then each phase's own."""
        return [*_flow_wide(self.flow), *(e for place in self.phases for e in _own(place))]

    @cached_property
    def guards(self) -> list[tuple[Path, Guard]]:
        return list(self.all_of(Guard))

    @cached_property
    def questions(self) -> list[Question]:
        """What all guards ask about; arguments of calls are not among it."""
        kinds: tuple[NameKind, ...] = get_args(NameKind)
        return [
            Question(kind, name, path, guard)
            for path, guard in self.guards
            for kind in kinds
            for name in names_of(guard, kind)
        ]

    @cached_property
    def actions(self) -> list[tuple[Path, Action]]:
        return list(self.all_of(Action))

    def ancestors(self, name: str) -> list[PhasePlace]:
        """The phases around this one, nearest first."""
        found: list[PhasePlace] = []
        parent = self.by_name[name].parent
        while parent is not None:
            found.append(self.by_name[parent])
            parent = found[-1].parent
        return found


def misnamed(question: Question, code: str, known: Iterable[str]) -> Finding:
    """A guard asks about what does not exist; the cure is the guard with the near miss."""
    known = list(known)
    finding = unknown(code, question.kind, question.name, known, question.path)
    guess = near_miss(question.name, known)
    if guess is None:
        return finding
    cured = str(rename(question.guard, {question.name: guess}, question.kind))
    fix: Patch = ({"op": "replace", "path": pointer(question.path), "value": cured},)
    return finding._replace(fix=fix)


def _parts(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    match value:
        case BaseModel():
            yield path, value
            for name, field in type(value).model_fields.items():
                yield from _parts(getattr(value, name), (*path, field.alias or name))
        case Guard():
            yield path, value
        case dict():
            for key, item in cast("dict[str, Any]", value).items():
                yield from _parts(item, (*path, key))
        case tuple():
            for index, item in enumerate(cast("tuple[Any, ...]", value)):
                yield from _parts(item, (*path, index))
        case _:
            pass


def _phases(
    phases: dict[str, Phase], path: Path, parent: str | None, regions: tuple[Path, ...]
) -> Iterator[PhasePlace]:
    for name, phase in phases.items():
        here = (*path, name)
        yield PhasePlace(name, phase, here, parent, regions)
        yield from _phases(phase.phases, (*here, "phases"), name, regions)
        for region, inner in phase.regions.items():
            yield from _region(inner, (*here, "regions", region), name, regions)


def _region(
    region: Region, path: Path, parent: str, regions: tuple[Path, ...]
) -> Iterator[PhasePlace]:
    yield from _phases(region.phases, (*path, "phases"), parent, (*regions, path))


def _flow_wide(flow: Flow) -> Iterator[Edge]:
    for index, transition in enumerate(flow.global_transitions):
        yield Edge(transition, ("global_transitions", index), None, "global")
    for index, transition in enumerate(flow.fallback_transitions):
        yield Edge(transition, ("fallback_transitions", index), None, "fallback")


def _own(place: PhasePlace) -> Iterator[Edge]:
    for index, transition in enumerate(place.phase.transitions):
        yield Edge(transition, (*place.path, "transitions", index), place.name, "own")
