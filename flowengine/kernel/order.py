"""Constraints as part of a flow: a line of text for each, and `before` as a condition of entry."""

from __future__ import annotations

from flowengine.flow.model import Constraint, Flow, Phase
from flowengine.guards import CompiledGuard, Guard, called_ok, done


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
