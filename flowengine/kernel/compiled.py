"""A flow made ready to run: guards as closures, actions as functions, tables by key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from flowengine.chart import Chart, Edge, chart_of
from flowengine.clock import duration_ms
from flowengine.errors import FlowError, did_you_mean
from flowengine.extract.compiled import CompiledExtract
from flowengine.extract.recognizers import warm_up
from flowengine.extract.record.compiled import CompiledRecord
from flowengine.extract.record.value_types import value_key
from flowengine.flow.functions import Functions
from flowengine.flow.model import Flow, Phase, Transition
from flowengine.guards import CompiledGuard, Guard, all_of, captured, compile_guard, in_phase
from flowengine.guards.regex import searcher
from flowengine.kernel.actions import Do, compile_actions, compile_text
from flowengine.kernel.context import compile_texts
from flowengine.kernel.derive import computed_keys, key_table, watch_table
from flowengine.kernel.order import constraint_text, in_order, watched_entries
from flowengine.kernel.origins import behind, followed, worked_out
from flowengine.kernel.parts import (
    CompiledConstraint,
    CompiledEdge,
    CompiledFlow,
    CompiledPattern,
    CompiledPhase,
    CompiledTool,
)
from flowengine.state import Pattern
from flowengine.state.keys import KeyTable, bare
from flowengine.tools.spec import Tool

VERSION = "1"
"""The kernel's own version: the same inputs give the same facts as long as it is the same."""


_NO_FUNCTIONS = Functions()
_compiled: dict[tuple[int, int], tuple[Flow, CompiledFlow]] = {}
"""By identity; an entry keeps its flow and functions alive, so that ids are not used again. What
was compiled may be of a rewritten copy of the flow."""
COMPILED = 64


def compile_flow(flow: Flow, functions: Functions | None = None) -> CompiledFlow:
    """The flow made ready to run; compiled once for a flow and its functions.

    Raises:
        FlowError: a function, a key or a recognizer that does not exist.
    """
    if not isinstance(flow, Flow):  # pyright: ignore[reportUnnecessaryIsInstance]
        given = type(flow).__name__
        raise FlowError(f"a call needs a Flow, not {given}: read one with `Flow.load(path)`")
    functions = functions if functions is not None else _NO_FUNCTIONS
    key = (id(flow), id(functions))
    known = _compiled.get(key)
    if known is None:
        if len(_compiled) >= COMPILED:
            del _compiled[next(iter(_compiled))]
        hash = flow_hash(flow, functions)
        known = _compiled[key] = flow, _Compiler(flow, functions, hash).compile()
    return known[1]


def flow_hash(flow: Flow, functions: Functions) -> str:
    """Equal for flows that behave the same: data and the source of registered functions."""
    data = flow.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    # In the order written: of phases, edges and options the first ones go first.
    text = json.dumps({"flow": data, "functions": functions.source_hash()}, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class _Compiler:
    def __init__(self, flow: Flow, functions: Functions, hash: str) -> None:
        self.flow, self.functions, self.hash = in_order(flow), functions, hash
        self.keys = key_table(flow)
        self.chart = chart_of(self.flow, key=hash)
        self.computed = computed_keys(self.flow, self.keys, functions)
        self.behind = behind(self.flow, self.computed)

    def compile(self) -> CompiledFlow:
        flow = self.flow
        if flow.records or flow.extract:
            # Else the first caller would wait for the tables of the flow's language.
            warm_up(flow.locale)
        phases = {name: self.phase(name, phase, parent) for name, phase, parent in flow.walk()}
        edges = tuple(self.edge(edge, phases) for edge in self.chart.edges)
        records, extractors = tuple(self.records()), tuple(self.extractors())
        patterns, dependents = tuple(self.patterns()), _dependents(flow)
        constraints = tuple(self.constraints())
        return CompiledFlow(
            flow=flow,
            functions=self.functions,
            hash=self.hash,
            chart=self.chart,
            keys=self.keys,
            computed=self.computed,
            watchers=watch_table(flow, self.functions),
            patterns=patterns,
            phases=phases,
            edges=edges,
            by_name={edge.name: edge for edge in edges},
            texts=compile_texts(flow, self.functions, self.guard),
            records=records,
            extractors={extractor.name: extractor for extractor in extractors},
            accepts=dict(self.accepts()),
            tools={name: self.tool(name, constraints) for name in flow.tools},
            constraints=constraints,
            watched_entries=watched_entries(constraints, flow),
            ambient=_ambient(flow),
            asks=_asks(flow),
            behind=self.behind,
            pattern_reads=frozenset(read for p in patterns for read in p.guard.reads),
            ladders=any(phase.phase.no_input for phase in phases.values()),
            needed=frozenset(key for phase in phases.values() for key in phase.needs)
            | dependents.keys(),
            dependents=dependents,
            repairs=any(phase.phase.repair or phase.no_match for phase in phases.values()),
        )

    def records(self) -> Iterable[CompiledRecord]:
        guards, validators = self.functions.of("guard"), self.functions.of("validator")
        for order, (name, spec) in enumerate(self.flow.records.items()):
            yield CompiledRecord(name, spec, order, guards, validators)

    def extractors(self) -> Iterable[CompiledExtract]:
        first = len(self.flow.records)  # records land before what models say
        for order, spec in enumerate(self.flow.extract, start=first):
            yield CompiledExtract(spec, order)

    def guard(self, guard: Guard, phase: str | None = None) -> CompiledGuard:
        custom = self.functions.of("guard")
        return compile_guard(guard, self.keys, phase=phase, functions=custom)

    def actions(self, actions: Iterable[Any], by: str) -> tuple[Do, ...]:
        return compile_actions(actions, by, self.functions)

    def phase(self, name: str, phase: Phase, parent: str | None) -> CompiledPhase:
        needs = self.needs(name, phase)
        done = phase.done if phase.done is not None else _default_done(phase, needs)
        return CompiledPhase(
            name=name,
            phase=phase,
            entry=self.guard(phase.entry, name) if phase.entry is not None else None,
            done=self.guard(done, name) if done is not None else None,
            on_enter=self.actions(phase.on_enter, f"phase:{name}"),
            on_exit=self.actions(phase.on_exit, f"phase:{name}"),
            needs=needs,
            say=compile_text(phase.say, self.functions),
            enter_prompt=compile_text(phase.enter_prompt, self.functions),
            parent=parent,
            no_input=tuple(
                (duration_ms(rung.after or "10s"), self.actions(rung.do, f"phase:{name}"))
                for rung in phase.no_input
            ),
            no_match=tuple(self.actions(rung.do, f"phase:{name}") for rung in phase.no_match),
        )

    def needs(self, name: str, phase: Phase) -> tuple[str, ...]:
        keys = list(phase.needs)
        for record in phase.collect:
            if record not in self.flow.records:
                hint = did_you_mean(record, self.flow.records)
                raise FlowError(f"phase {name!r} collects {record!r}, which is no record.{hint}")
            fields = self.flow.records[record].fields.items()
            keys += [spec.to or field_name for field_name, spec in fields]
        return tuple(dict.fromkeys(keys))

    def edge(self, edge: Edge, phases: Mapping[str, CompiledPhase]) -> CompiledEdge:
        data = edge.transition or Transition(to=edge.target or "")
        when = data.when
        if edge.kind == "digression":
            when = self.flow.digressions[edge.digression or ""].when
        unconditional = when is None and edge.event is None and data.after is None
        entries = (phases[name].entry for name in edge.entry_guarded)
        return CompiledEdge(
            edge=edge,
            name=_edge_name(edge, self.chart),
            guard=self.guard(when, edge.source) if when is not None else None,
            after=duration_ms(data.after) if data.after else None,
            waits=unconditional and not data.immediately,
            wide=edge.source is None and edge.event is None,
            owner=edge.source,
            actions=self.actions(data.do, f"edge:{edge.source or edge.kind}"),
            entries=tuple(guard for guard in entries if guard is not None),
            event=edge.event,
        )

    def patterns(self) -> Iterable[CompiledPattern]:
        for spec in self.flow.patterns:
            rate = (spec.rate.count, duration_ms(spec.rate.within)) if spec.rate else None
            sustained = duration_ms(spec.sustained) if spec.sustained else None
            cooldown = duration_ms(spec.cooldown) if spec.cooldown else 0
            pattern = Pattern(spec.name, sustained, spec.turns, rate, cooldown)
            actions = self.actions(spec.do, f"pattern:{spec.name}")
            yield CompiledPattern(pattern, self.guard(spec.when), actions)

    def accepts(self) -> Iterable[tuple[tuple[str, str], CompiledGuard]]:
        for name, record in self.flow.records.items():
            for field_name, spec in record.fields.items():
                if spec.accept_when is not None:
                    keys = KeyTable({**self.keys.declared(), **value_key(spec)})
                    custom = self.functions.of("guard")
                    guard = compile_guard(spec.accept_when, keys, functions=custom)
                    yield (f"record:{name}", field_name), guard
        for extract in self.flow.extract:
            for rule in extract.promote:
                if rule.accept_when is not None:
                    yield (f"extractor:{extract.name}", rule.field), self.guard(rule.accept_when)

    def tool(self, name: str, constraints: Iterable[CompiledConstraint]) -> CompiledTool:
        spec = self.flow.tools[name]
        guard = self.guard(spec.when) if spec.when is not None else None
        # A rule that is only observed refuses nothing, so there is nothing to wait for.
        enforced = (rule for rule in constraints if rule.spec.mode == "enforce")
        guards = (guard, *(rule.until for rule in enforced if rule.spec.never == name))
        reads = (read for each in guards if each is not None for read in each.reads)
        return CompiledTool(
            guard,
            followed(reads, self.behind),
            duration_ms(spec.timeout),
            claims=tuple(searcher(f"(?i){pattern}") for pattern in spec.claims),
            rests_on=self.rests_on(spec, guard),
        )

    def rests_on(self, spec: Tool, guard: CompiledGuard | None) -> frozenset[str]:
        """What its guard reads and its result depends on, and what those depend on in turn."""
        reads = followed(guard.reads, worked_out(self.computed)) if guard is not None else ()
        direct = {bare(read) for read in reads if not read.startswith("@")}
        direct |= {*spec.set, *((spec.save_as,) if spec.save_as else ())}
        own = {*spec.set, spec.save_as}
        declared = self.flow.state
        sources = {k for key in direct if key in declared for k in declared[key].depends_on}
        return frozenset((direct - own) | sources)

    def constraints(self) -> Iterable[CompiledConstraint]:
        for position, spec in enumerate(self.flow.constraints):
            until = self.guard(spec.until) if spec.until is not None else None
            yield CompiledConstraint(spec, position, constraint_text(spec, until), until)


def _default_done(phase: Phase, needs: tuple[str, ...]) -> Guard | None:
    """All that it needs is captured; a compound's final child is active."""
    finals = [name for name, child in phase.phases.items() if child.final]
    if finals:
        parts = [in_phase(name) for name in finals]
        guard = parts[0]
        for part in parts[1:]:
            guard = guard | part
        return guard
    return all_of(*[captured(key) for key in needs]) if needs else None


def _edge_name(edge: Edge, chart: Chart) -> str:
    """Stable across processes: it stands in facts and in snapshots."""
    owner = edge.source or edge.kind
    alike = [e for e in chart.edges if (e.source or e.kind) == owner]
    return f"{owner}.{alike.index(edge)}"


def _ambient(flow: Flow) -> frozenset[str]:
    listed = (name for rule in flow.constraints for name in rule.ambient)
    return frozenset(listed) | {name for name, tool in flow.tools.items() if tool.ambient}


def _asks(flow: Flow) -> bool:
    fields = (field for record in flow.records.values() for field in record.fields.values())
    return bool(flow.extract or flow.decisions) or any(field.resolve for field in fields)


def _dependents(flow: Flow) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key, spec in flow.state.items():
        for source in spec.depends_on:
            found[source] = (*found.get(source, ()), key)
    return found
