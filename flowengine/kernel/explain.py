"""Why a session stands where it stands: for each edge, which atom is false or unknown, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from flowengine.chart import Edge
from flowengine.clock import duration_text
from flowengine.errors import FlowError, did_you_mean
from flowengine.guards import CompiledGuard, Truth, explain, names_of
from flowengine.kernel.parts import CompiledEdge
from flowengine.kernel.work import Work


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that an edge waits for."""

    text: str
    holds: bool | None
    """None where it cannot be told yet."""
    truth: Truth | None = None
    """The truth tree of a guard."""

    def __str__(self) -> str:
        return str(self.truth) if self.truth else f"{_SIGNS[self.holds]} {self.text}"


@dataclass(frozen=True, slots=True)
class EdgeReport:
    """An edge and everything that it waits for."""

    edge: str
    target: str | None
    conditions: tuple[Condition, ...]

    @property
    def open(self) -> bool:
        return all(condition.holds is True for condition in self.conditions)

    @property
    def missing(self) -> tuple[str, ...]:
        """Keys that hold nothing and keep the edge shut."""
        trees = (c.truth for c in self.conditions if c.truth is not None and c.holds is not True)
        return tuple(dict.fromkeys(key for truth in trees for key in _missing(truth)))

    def __str__(self) -> str:
        lines = [f"{self.edge} to {self.target or 'where it was'}:"]
        for condition in self.conditions:
            lines += [f"  {line}" for line in str(condition).splitlines()]
        return "\n".join(lines)


def _missing(truth: Truth) -> Iterator[str]:
    """Keys that are absent in what keeps the whole from being true."""
    for leaf in truth.blockers():
        keys = set(names_of(leaf.guard, "key"))
        yield from (name for name in leaf.missing if name in keys)


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why the conversation is not in a phase."""

    phase: str
    active: tuple[str, ...]
    edges: tuple[EdgeReport, ...]
    """The edges that lead there from where it stands; empty if none does."""

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key for edge in self.edges for key in edge.missing))

    def __str__(self) -> str:
        if self.phase in self.active:
            return f"{self.phase!r} is active."
        if not self.edges:
            return f"No edge leads from {self.active[-1]!r} to {self.phase!r}."
        return "\n".join(map(str, self.edges))


@dataclass(frozen=True, slots=True)
class Explanation:
    """A session at rest: its phases and what each way out of them waits for."""

    active: tuple[str, ...]
    edges: tuple[EdgeReport, ...]
    phases: tuple[str, ...]

    def why_not(self, phase: str) -> WhyNot:
        """Why the conversation has not gone to `phase`.

        Raises:
            FlowError: the flow has no such phase.
        """
        if phase not in self.phases:
            raise FlowError(f"the flow has no phase {phase!r}.{did_you_mean(phase, self.phases)}")
        edges = tuple(edge for edge in self.edges if edge.target == phase)
        return WhyNot(phase, self.active, edges)

    def __str__(self) -> str:
        return "\n".join([f"In {' > '.join(self.active)}", *map(str, self.edges)])


_SIGNS = {True: "✓", False: "✗", None: "?"}


def explanation_of(work: Work, mask: Collection[str]) -> Explanation:
    """Every way out of where the session stands."""
    offers = work.flow.plan(work.place.active).offers
    edges = dict.fromkeys(edge.name for _, candidates in offers for edge in candidates)
    reports = tuple(_report(work, work.flow.by_name[name], mask) for name in edges)
    return Explanation(work.place.active, reports, tuple(work.flow.phases))


def _report(work: Work, edge: CompiledEdge, mask: Collection[str]) -> EdgeReport:
    return EdgeReport(edge.name, _target(edge.edge), tuple(_conditions(work, edge, mask)))


def _target(edge: Edge) -> str | None:
    return edge.target


def _conditions(work: Work, edge: CompiledEdge, mask: Collection[str]) -> list[Condition]:
    found: list[Condition] = []
    if edge.event is not None:
        found.append(Condition(f"event {edge.event!r}", None))
    if edge.guard is not None:
        found.append(_guard(work, edge.guard, edge.owner, mask))
    if edge.waits:
        found.append(Condition("the caller has spoken", work.caller_spoke(edge.owner)))
    if edge.after is not None:
        elapsed = work.elapsed(edge.owner)
        text = f"{duration_text(edge.after)} in the phase (now {duration_text(elapsed)})"
        found.append(Condition(text, elapsed >= edge.after))
    if edge.wide and edge.name in work.place.disarmed:
        found.append(Condition("its guard was not true in between", False))
    for entry, phase in zip(edge.entries, edge.edge.entry_guarded, strict=True):
        found.append(_guard(work, entry, phase, mask))
    return found


def _guard(work: Work, guard: CompiledGuard, phase: str | None, mask: Collection[str]) -> Condition:
    truth = explain(
        guard.guard, work.keys, work, phase=phase,
        functions=work.flow.functions.of("guard"), mask=mask,
    )  # fmt: skip
    return Condition(guard.text, truth.value, truth)
