"""Constraints as part of a flow: a line of text for each, and `before` over phases.

Enforced it is a condition of entry; observed, an entry that it would have refused is a fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from flowengine.chart import Move
from flowengine.facts import ConstraintBroken
from flowengine.flow.model import Constraint, Flow, Phase
from flowengine.guards import CompiledGuard, Guard, called_ok, done
from flowengine.kernel.work import Work

if TYPE_CHECKING:
    from flowengine.kernel.parts import CompiledConstraint


def constraint_text(spec: Constraint, until: CompiledGuard | None) -> str:
    """A constraint in one line, as facts name it."""
    if spec.once:
        return f"once {spec.once}"
    if spec.before:
        return f"before {spec.before[0]}, {spec.before[1]}"
    if spec.never and until:
        return f"never {spec.never} until {until.text}"
    return f"require {', '.join(spec.require)}" if spec.require else "ambient"


def in_order(flow: Flow) -> Flow:
    """The flow in which `before: [a, b]` is written out: no edge enters phase b until a is done."""
    rules: dict[str, Guard] = {}
    for spec in flow.constraints:
        if spec.before is None or spec.mode != "enforce" or spec.before[1] in flow.tools:
            continue
        first, then = spec.before
        guard = called_ok(first) if first in flow.tools else done(first)
        rules[then] = rules[then] & guard if then in rules else guard
    if not rules:
        return flow
    return flow.model_copy(update={"phases": _guarded(flow.phases, rules)})


def watched_entries(
    constraints: Iterable[CompiledConstraint], flow: Flow
) -> Mapping[str, tuple[CompiledConstraint, ...]]:
    """Phase -> the rules, only observed, of what must come before it."""
    found: dict[str, tuple[CompiledConstraint, ...]] = {}
    for rule in constraints:
        spec = rule.spec
        if spec.before is None or spec.mode != "observe" or spec.before[1] in flow.tools:
            continue
        then = spec.before[1]
        found[then] = (*found.get(then, ()), rule)
    return found


def note_disorder(work: Work, move: Move) -> None:
    """Record what is about to be entered before its time; coming back from a digression is not."""
    returns = any(edge.kind == "resume" for edge in move.taken)
    for phase in (str(what) for kind, what in move.steps if kind == "enter"):
        if returns and phase in work.place.visited:
            continue
        for rule in work.flow.watched_entries.get(phase, ()):
            if rule.spec.before and not has_come(work, rule.spec.before[0]):
                work.facts.append(ConstraintBroken(rule.text, "", "", phase))


def has_come(work: Work, name: str) -> bool:
    """The tool has run well, or the phase is done."""
    return work.called_ok(name) if name in work.flow.tools else work.done(name)


def _guarded(phases: dict[str, Phase], rules: dict[str, Guard]) -> dict[str, Phase]:
    return {name: _entry(phase, rules.get(name), rules) for name, phase in phases.items()}


def _entry(phase: Phase, rule: Guard | None, rules: dict[str, Guard]) -> Phase:
    changed: dict[str, object] = {}
    if rule is not None:
        changed["entry"] = rule if phase.entry is None else phase.entry & rule
    if phase.phases:
        changed["phases"] = _guarded(phase.phases, rules)
    if phase.regions:
        changed["regions"] = {
            name: region.model_copy(update={"phases": _guarded(region.phases, rules)})
            for name, region in phase.regions.items()
        }
    return phase.model_copy(update=changed) if changed else phase
