"""Repair: a phase that gets nothing it needs is nudged, less and less often, then escalates.

A turn in which a need is met is progress and starts the count again. The signals are keys, so
edges, notes and watchers read them: `repair:{phase}:reprompt`, `repair:{phase}:escalate`, and the
list `repair:unfulfilled`. A phase may also have its own ladder of what is done at each such turn.
"""

from __future__ import annotations

from collections.abc import Callable

from flowengine.effects import Tell
from flowengine.facts import RepairSignalled
from flowengine.flow.trouble import Repair
from flowengine.kernel.actions import perform
from flowengine.kernel.snapshot import Repeats
from flowengine.kernel.work import Work

UNFULFILLED = "repair:unfulfilled"


def count_turn(work: Work) -> None:
    """A caller turn has landed: count it for each active phase that has needs and a repair."""
    for name in work.place.active:
        phase = work.flow.phases[name]
        repair, ladder = phase.phase.repair, phase.no_match
        if not (repair or ladder) or not phase.needs or work.turns_in_phase(name) < 1:
            continue
        unmet = _unmet(work, name)
        before = work.wait.repeats.get(name) or Repeats(0, _unmet_before(work, phase.needs))
        if not unmet or set(before.unmet) - set(unmet):
            _lower(work, name)
            _keep(work, name, Repeats(0, unmet))
            continue
        turns = before.turns + 1
        _keep(work, name, Repeats(turns, unmet))
        if repair:
            _signal(work, name, repair, turns, unmet)
        if turns <= len(ladder):
            perform(ladder[turns - 1], work)


def count_failure(work: Work, tool: str) -> None:
    """A tool has failed: the active phases that offer it count it."""
    _count_trouble(work, lambda repair: repair.escalate_after_failures, 0, tool)


def count_interruption(work: Work) -> None:
    """The caller has spoken over the model."""
    _count_trouble(work, lambda repair: repair.escalate_after_interruptions, 1, None)


def _count_trouble(
    work: Work, limit_of: Callable[[Repair], int | None], kind: int, tool: str | None
) -> None:
    for name in work.place.active:
        phase = work.flow.phases[name].phase
        limit = limit_of(phase.repair) if phase.repair else None
        allowed = phase.tools.allow if phase.tools else None
        if limit is None or (tool is not None and allowed is not None and tool not in allowed):
            continue
        counts = list(work.wait.troubles.get(name, (0, 0)))
        counts[kind] += 1
        kept = (counts[0], counts[1])
        work.wait = work.wait._replace(troubles={**work.wait.troubles, name: kept})
        if counts[kind] == limit:
            _escalate(work, name, _unmet(work, name))


def forget_left(work: Work) -> None:
    """Take back what is known of phases that were left; an interrupted phase keeps it."""
    away = {name for frame in work.place.stack for name in frame.entered}
    for name in [n for n in work.wait.repeats if n not in work.place.active and n not in away]:
        _lower(work, name)
        repeats = {k: v for k, v in work.wait.repeats.items() if k != name}
        work.wait = work.wait._replace(repeats=repeats)
    for name in [n for n in work.wait.troubles if n not in work.place.active and n not in away]:
        _lower(work, name)
        troubles = {k: v for k, v in work.wait.troubles.items() if k != name}
        work.wait = work.wait._replace(troubles=troubles)


def is_reprompt(repair: Repair, turns: int) -> bool:
    """At `reprompt_after`, then after twice as many turns each time, until it escalates."""
    times, rest = divmod(turns, repair.reprompt_after)
    return turns < repair.escalate_after and rest == 0 and times & (times - 1) == 0


def _signal(work: Work, name: str, repair: Repair, turns: int, unmet: tuple[str, ...]) -> None:
    if turns == repair.escalate_after:
        _escalate(work, name, unmet)
    elif is_reprompt(repair, turns):
        work.facts.append(RepairSignalled(name, "reprompt", unmet))
        work.note(f"repair:{name}:reprompt", True)
        work.effects.append(Tell(work.effect_id(), _nudge(unmet), respond=False))


def _escalate(work: Work, name: str, unmet: tuple[str, ...]) -> None:
    work.facts.append(RepairSignalled(name, "escalate", unmet))
    work.note(f"repair:{name}:escalate", True)
    work.note(UNFULFILLED, list(unmet))


def _unmet(work: Work, name: str) -> tuple[str, ...]:
    return tuple(key for key in work.flow.phases[name].needs if work.find(key) is None)


def _unmet_before(work: Work, needs: tuple[str, ...]) -> tuple[str, ...]:
    """What was missing until this turn: what was known on entry is no progress of the phase."""
    newest = work.transcript.newest
    return tuple(key for key in needs if work.find(key) is None or _said_in(work, key) >= newest)


def _said_in(work: Work, key: str) -> int:
    known = (work.evidence.get(name) for name in work.keys.names[key])
    return next((evidence.turn for evidence in known if evidence is not None), 0)


def _nudge(unmet: tuple[str, ...]) -> str:
    names = (key.rpartition(":")[2].rpartition(".")[2] for key in unmet)
    keys = ", ".join(name.replace("_", " ") for name in names)
    return f"Still missing: {keys}. Ask for it again, in other words."


def _keep(work: Work, name: str, repeats: Repeats) -> None:
    if work.wait.repeats.get(name) != repeats:
        work.wait = work.wait._replace(repeats={**work.wait.repeats, name: repeats})


def _lower(work: Work, name: str) -> None:
    if f"repair:{name}:escalate" in work.values:
        work.clear(UNFULFILLED)
    for signal in ("reprompt", "escalate"):
        work.clear(f"repair:{name}:{signal}")
