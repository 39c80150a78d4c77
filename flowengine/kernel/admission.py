"""Why a tool call may not run: rules in a fixed order, each with its refusal.

The first refusal is the answer. A call whose refusals are all *soft* - some guard has not held
yet - may wait for what could make it hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from flowengine.effects import ToolAnswer
from flowengine.errors import FunctionError
from flowengine.guards import CompiledGuard, Guard, explain, names_of
from flowengine.inputs import NOTHING
from flowengine.kernel.arguments import MISSING, misfits
from flowengine.kernel.ledger import canonical, is_spent
from flowengine.kernel.order import has_come
from flowengine.kernel.parts import CompiledConstraint
from flowengine.kernel.snapshot import Call
from flowengine.kernel.work import Work
from flowengine.tools.names import told_name


class Refusal(NamedTuple):
    """One rule that a call breaks."""

    kind: str
    say: str
    missing: tuple[str, ...] = ()
    soft: bool = False
    """Only a guard is in the way, so more values may open it."""
    constraint: int | None = None
    """The constraint that it breaks, by its place in the flow."""


def refusals(work: Work, call: Call) -> Iterator[Refusal]:
    """Every rule that the call breaks and that is enforced, in the order of admission."""
    for refusal in _broken(work, call):
        if refusal.constraint is None or _is_enforced(work, refusal.constraint):
            yield refusal


def observed(work: Work, call: Call) -> Iterator[Refusal]:
    """The rules that the call breaks and that are only watched."""
    for refusal in _broken(work, call):
        if refusal.constraint is not None and not _is_enforced(work, refusal.constraint):
            yield refusal


def denial(work: Work, kind: str, say: str, missing: tuple[str, ...] = ()) -> ToolAnswer:
    """The refusal as the model gets it: why, what it may call instead, what it is to do now."""
    tools = tools_now(work)
    told = ", ".join(map(told_name, tools))
    lines = [say, f"Available now: {told}." if tools else "No tool is available now."]
    with suppress(FunctionError):  # a refusal must reach the model whatever its texts do
        lines.append(work.flow.texts.phases[work.main_leaf()].instruction(work.find))
    words = " ".join(line.strip() for line in lines if line)
    return ToolAnswer("denied", None, kind, missing, tools, words)


def tools_now(work: Work) -> tuple[str, ...]:
    """The tools that the active phases offer, whether or not their guards hold yet."""
    if work.place.ended:
        return ()
    active = work.place.active
    return tuple(
        name for name in work.flow.flow.tools
        if not _is_denied(work, name, active) and _is_allowed(work, name, active)
    )  # fmt: skip


def reads_of(work: Work, tool: str) -> frozenset[str]:
    """Everything that may open the guards over a tool."""
    compiled = work.flow.tools.get(tool)
    return compiled.reads if compiled is not None else frozenset()


def _is_enforced(work: Work, constraint: int) -> bool:
    return work.flow.flow.constraints[constraint].mode == "enforce"


def _broken(work: Work, call: Call) -> Iterator[Refusal]:
    tool = call.tool
    if tool not in work.flow.tools:
        yield Refusal("unknown_tool", f"There is no tool {tool!r}.")
        return
    if work.place.ended:
        yield Refusal("ended", "The conversation has ended.")
        return
    yield from _spent(work, call)
    yield from _never(work, call)
    if _is_denied(work, tool, call.active):
        yield Refusal("phase", f"{told_name(tool)} is not allowed at this point.")
    elif not _is_allowed(work, tool, call.active):
        yield Refusal("phase", f"{told_name(tool)} is not available at this point.")
    yield from _misfits(work, call)
    yield from _out_of_order(work, tool)
    yield from _guarded(work, call)


def _spent(work: Work, call: Call) -> Iterator[Refusal]:
    limit = work.flow.flow.tools[call.tool].limit
    if limit is not None and is_spent(
        work, call.tool, limit, canonical(call.args, work.flow.flow.tools[call.tool].args)
    ):
        yield Refusal("spent", f"{told_name(call.tool)} {_SPENT[limit]}.")
    for rule in work.flow.constraints:
        if rule.spec.once == call.tool and is_spent(work, call.tool, "once", ""):
            say = f"{told_name(call.tool)} {_SPENT['once']}."
            yield Refusal("spent", say, constraint=rule.position)


_SPENT = {
    "once": "has already run or is running; it runs once",
    "per_correction": "has already run or is running; it runs again only after a correction",
    "per_arguments": "has already run or is running with these arguments",
}


def _never(work: Work, call: Call) -> Iterator[Refusal]:
    for rule in _nevers(work, call.tool):
        assert rule.until is not None
        missing = _unmet(work, rule.until, call)
        if missing is not None:
            say = f"{told_name(call.tool)} cannot run before {rule.until.text}."
            yield Refusal("never_until", say, missing, soft=True, constraint=rule.position)


def _nevers(work: Work, tool: str) -> Iterator[CompiledConstraint]:
    return (rule for rule in work.flow.constraints if rule.spec.never == tool)


def _is_denied(work: Work, tool: str, active: tuple[str, ...]) -> bool:
    rules = (work.flow.phases[name].phase.tools for name in active)
    return any(rule is not None and tool in rule.deny for rule in rules)


def _is_allowed(work: Work, tool: str, active: tuple[str, ...]) -> bool:
    if tool in work.flow.ambient:
        return True
    rules = (work.flow.phases[name].phase.tools for name in active)
    allowing = [rule.allow for rule in rules if rule is not None and rule.allow is not None]
    return not allowing or any(tool in allow for allow in allowing)


def _misfits(work: Work, call: Call) -> Iterator[Refusal]:
    """Arguments are required unless their schema gives a default, and fit their schema."""
    problems = misfits(call.tool, work.flow.flow.tools[call.tool], call.args)
    if problems:
        absent = tuple(problem.argument for problem in problems if problem.text == MISSING)
        told = "; ".join(f"{problem.argument} {problem.text}".lstrip("* ") for problem in problems)
        yield Refusal("arguments", f"{told_name(call.tool)} cannot run: {told}.", absent)


def _out_of_order(work: Work, tool: str) -> Iterator[Refusal]:
    for rule in work.flow.constraints:
        if rule.spec.before is not None and rule.spec.before[1] == tool:
            first = rule.spec.before[0]
            if not has_come(work, first):
                known = told_name(first) if first in work.flow.tools else first
                say = f"{told_name(tool)} cannot run before {known}."
                yield Refusal("before", say, (first,), constraint=rule.position)


def _guarded(work: Work, call: Call) -> Iterator[Refusal]:
    guard = work.flow.tools[call.tool].guard
    missing = _unmet(work, guard, call) if guard is not None else None
    if guard is not None and missing is not None:
        say = f"{told_name(call.tool)} cannot run before {guard.text}."
        yield Refusal("guard", say, missing, soft=True)


def _unmet(work: Work, guard: CompiledGuard, call: Call) -> tuple[str, ...] | None:
    """What is missing for the guard to hold over the call, in the phase in which it was asked;
    None if it holds."""
    now = work.place
    work.args = call.args
    work.place = now._replace(active=call.active, entered=call.entered)
    try:
        return None if guard.test(work) else _missing(work, guard.guard)
    finally:
        work.args, work.place = NOTHING, now


def _missing(work: Work, guard: Guard) -> tuple[str, ...]:
    """The keys that hold nothing and keep the guard from holding."""
    custom = work.flow.functions.of("guard")
    keys = frozenset(names_of(guard, "key"))
    blockers = explain(guard, work.keys, work, functions=custom).blockers()
    missing = dict.fromkeys(name for blocker in blockers for name in blocker.missing)
    return tuple(name for name in missing if name in keys)
