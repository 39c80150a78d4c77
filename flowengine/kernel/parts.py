"""What a compiled flow consists of, and what one configuration of it asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from flowengine.chart import Chart, Configuration, Edge
from flowengine.extract.compiled import CompiledExtract
from flowengine.extract.record.compiled import CompiledRecord
from flowengine.flow.functions import Functions
from flowengine.flow.model import Constraint, Flow, Phase
from flowengine.flow.text import Find
from flowengine.guards import CompiledGuard
from flowengine.guards.lookup import look_up
from flowengine.inputs import Json
from flowengine.kernel.actions import Do
from flowengine.kernel.context import Texts
from flowengine.kernel.origins import ANYTHING, Behind, followed
from flowengine.state import ComputedKeys, KeyTable, Pattern, Signals, WatchTable


@dataclass(slots=True)
class CompiledEdge:
    """A candidate with what it takes to be taken."""

    edge: Edge
    name: str
    guard: CompiledGuard | None
    after: int | None
    waits: bool
    """It has no condition of its own, so it waits until the caller has spoken."""
    wide: bool
    """Declared once for the whole flow: it fires on the rising edge of its guard."""
    owner: str | None
    actions: tuple[Do, ...]
    entries: tuple[CompiledGuard, ...]
    event: str | None


@dataclass(slots=True)
class CompiledPhase:
    """A phase with its guards and hooks."""

    name: str
    phase: Phase
    entry: CompiledGuard | None
    done: CompiledGuard | None
    on_enter: tuple[Do, ...]
    on_exit: tuple[Do, ...]
    needs: tuple[str, ...]
    """Keys that it asks for: its own needs, then the keys of the records it collects."""
    say: Callable[[Find], str]
    enter_prompt: Callable[[Find], str]
    parent: str | None
    no_input: tuple[tuple[int, tuple[Do, ...]], ...]
    """(Milliseconds of silence since the step before, what is then done)."""
    no_match: tuple[tuple[Do, ...], ...]


@dataclass(slots=True)
class CompiledPattern:
    pattern: Pattern
    guard: CompiledGuard
    actions: tuple[Do, ...]


@dataclass(slots=True)
class CompiledTool:
    guard: CompiledGuard | None
    reads: frozenset[str]
    """All that the guards over it read, and what that rests on."""
    timeout: int
    claims: tuple[Callable[[str], bool], ...]
    """Whether the model's words say that it was done."""
    rests_on: frozenset[str]
    """Keys whose correction makes an earlier run a run about something else."""


@dataclass(slots=True)
class CompiledConstraint:
    """A constraint at its place in the flow."""

    spec: Constraint
    position: int
    text: str
    until: CompiledGuard | None


@dataclass(slots=True)
class Plan:
    """What one configuration asks: its candidates, and which changes make them worth asking."""

    offers: tuple[tuple[str, tuple[CompiledEdge, ...]], ...]
    """Each active leaf with its eventless candidates, best first."""
    reads: frozenset[str]
    everything: bool
    """A guard with undeclared reads: ask whenever anything changed."""
    open_phases: tuple[CompiledPhase, ...]
    """Active phases with a done guard."""
    times: tuple[tuple[str, int], ...]
    """(phase, ms after it was entered) at which something can become true."""
    corrected: bool
    """Some candidate asks whether a key was corrected."""
    asks: frozenset[str]
    """What its guards and notes read, and what that rests on: questions behind it are asked."""


@dataclass(slots=True)
class CompiledFlow:
    """Shared by every session of a flow; never changes."""

    flow: Flow
    functions: Functions
    hash: str
    chart: Chart
    keys: KeyTable
    computed: ComputedKeys
    watchers: WatchTable
    patterns: tuple[CompiledPattern, ...]
    phases: Mapping[str, CompiledPhase]
    edges: tuple[CompiledEdge, ...]
    records: tuple[CompiledRecord, ...]
    extractors: Mapping[str, CompiledExtract]
    """By name, as declared; their order comes after the records'."""
    accepts: Mapping[tuple[str, str], CompiledGuard]
    """(Writer, field) -> the condition under which the field's value is taken."""
    tools: Mapping[str, CompiledTool]
    constraints: tuple[CompiledConstraint, ...]
    watched_entries: Mapping[str, tuple[CompiledConstraint, ...]]
    """Phase -> rules of what must come before it that are only observed."""
    ambient: frozenset[str]
    """Tools that no phase needs to allow."""
    asks: bool
    """Something that takes time reads a turn: an extractor, a decision, a resolved field."""
    behind: Behind
    """Read -> the reads on which it rests."""
    pattern_reads: frozenset[str]
    ladders: bool
    """Some phase has something to do when nobody speaks."""
    needed: frozenset[str]
    """Keys whose change is a correction: some phase needs or collects them, or others depend on
    them."""
    dependents: Mapping[str, tuple[str, ...]]
    """Key -> the keys that its correction clears."""
    repairs: bool
    """Some phase has a repair or a ladder, so turns without progress are counted."""
    by_name: Mapping[str, CompiledEdge]
    texts: Texts
    signals: Signals = field(default_factory=Signals)
    """Where its sessions publish keys and facts."""
    _plans: dict[Configuration, Plan] = field(default_factory=dict)

    def plan(self, active: Configuration) -> Plan:
        plan = self._plans.get(active)
        if plan is None:
            plan = self._plans[active] = _plan(self, active)
        return plan

    def bound(self, resolver: str, find: Find) -> dict[str, Json]:
        """The present arguments of a resolver; absent ones are left out."""
        spec = self.flow.resolvers.get(resolver)
        if spec is None:
            return {}
        # A request or a prompt is about all that it reads, a function about its arguments.
        names = spec.reads if spec.http or spec.mcp or spec.prompt else spec.args
        found = ((name, look_up(name, find)) for name in names)
        return {name: value for name, value in found if value is not None}

    def defaults(self) -> dict[str, Json]:
        """What State holds before anything is said."""
        declared = self.flow.state.items()
        return {key: spec.default for key, spec in declared if spec.default is not None}


def _plan(flow: CompiledFlow, active: Configuration) -> Plan:
    offers = tuple(
        (leaf, tuple(flow.edges[edge.index] for edge in edges))
        for leaf, edges in flow.chart.offers(active)
    )
    edges = {edge.name: edge for _, candidates in offers for edge in candidates}.values()
    open_phases = tuple(flow.phases[name] for name in active if flow.phases[name].done)
    guards = [guard for edge in edges for guard in (edge.guard, *edge.entries) if guard]
    guards += [phase.done for phase in open_phases if phase.done]
    reads = frozenset(read for guard in guards for read in guard.reads)
    if any(edge.waits for edge in edges):
        reads |= {"@turn"}
    return Plan(
        offers=offers,
        reads=reads,
        everything="@any" in reads,
        open_phases=open_phases,
        times=tuple(_times(flow, active, edges)),
        corrected=any(read.startswith("@corrected") for read in reads),
        asks=_asks(flow, active, reads),
    )


def _asks(flow: CompiledFlow, active: Configuration, reads: frozenset[str]) -> frozenset[str]:
    """A guard that may read anything asks nothing: else it would ask every question each turn."""
    if not flow.flow.decisions:
        return frozenset()
    noted = {
        r for name in active for guard, _ in flow.texts.phases[name].notes for r in guard.reads
    }
    known = {read: rests for read, rests in flow.behind.items() if read != ANYTHING}
    return followed(reads | flow.pattern_reads | noted, known)


def _times(
    flow: CompiledFlow, active: Configuration, edges: Iterable[CompiledEdge]
) -> Iterable[tuple[str, int]]:
    leaf = flow.chart.main_leaf(active)
    for edge in edges:
        owner = edge.owner or leaf
        if edge.after is not None:
            yield owner, edge.after
        for guard in (edge.guard, *edge.entries):
            for threshold in guard.thresholds if guard else ():
                yield owner, threshold
                yield owner, threshold + 1
    for name in active:
        done = flow.phases[name].done
        for threshold in done.thresholds if done else ():
            yield name, threshold
            yield name, threshold + 1
