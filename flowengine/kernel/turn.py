"""The end of a turn: records read it, model extractors start, and the barrier lands their values.

The barrier waits for the runs it started, or until it is due; nothing else ever waits for it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from flowengine.effects import RunFunction
from flowengine.errors import FlowError
from flowengine.extract.record import Hearing, Words, findings
from flowengine.extract.spec import ExtractSpec, Raise
from flowengine.facts import BarrierOpened, BarrierSettled, RunEnded, TurnClosed
from flowengine.inputs import Outcome, TurnEnded
from flowengine.kernel.gate import decide_waiting, is_awaited
from flowengine.kernel.promote import land
from flowengine.kernel.repair import count_turn
from flowengine.kernel.runs import (
    follow_up,
    is_due,
    mark_missed,
    mark_read,
    start_at_turn_end,
    targets,
)
from flowengine.kernel.settle import rest, settle
from flowengine.kernel.snapshot import Barrier, Run, Staged
from flowengine.kernel.work import Work
from flowengine.transcript import Turn

BARRIER = 5_000
"""Milliseconds that a turn's values wait for the slowest extractor."""


def close(work: Work) -> None:
    """The record part: the turn in progress becomes the newest closed one."""
    turn = work.transcript.current
    work.transcript = work.transcript.closed()
    if turn.user:
        work.turns += 1
        work.turn_closed = True
        work.touched.add("@turn")
    if turn.user or turn.model:
        work.facts.append(TurnClosed(turn.number, bool(turn.user)))


def turn_ended(work: Work, ended: TurnEnded) -> None:
    """Settle an older barrier, read the turn, and settle it or wait for its runs."""
    if work.wait.barrier is not None:
        spoke, work.turn_closed = work.turn_closed, False
        settle_barrier(work, "next turn")
        end_turn_keys(work)
        work.turn_closed, work.corrected_keys = spoke, frozenset()
    for key, value in ended.values.items():
        work.put(key, value, "channel")
    staged = _read(work)
    runs = start_at_turn_end(work) if work.flow.flow.extract else ()
    if not runs:
        _settle(work, staged)
        return
    turn = work.transcript.turns[-1].number
    work.facts.append(BarrierOpened(turn, runs))
    barrier = Barrier(turn, runs, staged, work.at + BARRIER)
    work.wait = work.wait._replace(barrier=barrier)
    work.settled = False
    if work.dirty or work.cleared:
        # The turn counts once: when its values have landed.
        work.turn_closed = False
        work.touched.discard("@turn")
        settle(work)


def settle_barrier(work: Work, reason: str) -> None:
    """Land what has come; runs that are still open go on as late ones."""
    barrier = work.wait.barrier
    assert barrier is not None
    work.wait = work.wait._replace(barrier=None)
    work.facts.append(BarrierSettled(barrier.turn, reason))
    if any(turn.number == barrier.turn and turn.user for turn in work.transcript.turns):
        work.turn_closed = True
        work.touched.add("@turn")
    _settle(work, barrier.staged)


def close_empty(work: Work) -> None:
    """Settle a turn without its values: what should have settled it has failed."""
    barrier = work.wait.barrier
    if barrier is not None:
        work.wait = work.wait._replace(barrier=None)
        work.facts.append(BarrierSettled(barrier.turn, "failed"))
    work.settled = True


def end_turn_keys(work: Work) -> None:
    """A settled turn is over: its keys end with it."""
    if work.passing:
        for key in work.passing:
            if key in work.values:
                work.forget(key)
        work.passing = ()
    work.settled = False


def _settle(work: Work, staged: tuple[Staged, ...]) -> None:
    if staged:
        land(work, sorted(staged, key=lambda each: each.order))
        _complete(work, staged)
    if work.turn_closed and work.flow.repairs:
        rest(work)
        count_turn(work)
    settle(work)
    work.settled = True


# -- records --------------------------------------------------------------------------------------


def _read(work: Work) -> tuple[Staged, ...]:
    """What the records find in the turns that they have not read."""
    records = work.flow.records
    if not records or not work.turn_closed:
        return ()
    newest = work.transcript.turns[-1]
    words = Words((newest,), _text(work, "session:locale") or work.flow.flow.locale)
    hearing: Hearing | None = None
    staged: list[Staged] = []
    for record in records:
        if not is_due(record.spec.trigger, work, record.name):
            continue
        hearing = hearing or hear(work)
        words.turns = _unread(work, record.name, record.spec.window)
        found = record.read(words, hearing)
        mark_read(work, record.name, newest.number)
        if found:
            staged.append(Staged(f"record:{record.name}", record.order, newest.number, found))
    return tuple(staged)


def hear(work: Work) -> Hearing:
    """What the recognizers should know about the newest turn."""
    zone = _text(work, "session:timezone") or work.flow.flow.timezone
    turns = work.transcript.turns
    question = turns[-2].model.lower() if len(turns) > 1 else ""
    return Hearing(
        ref=datetime.fromtimestamp(work.at / 1000, UTC).astimezone(_zone(zone)),
        timezone=zone,
        locale=_text(work, "session:locale") or work.flow.flow.locale,
        find=work.find,
        question=question,
        needed=next((key for key in unmet(work) if ":" not in key), None),
    )


def unmet(work: Work) -> list[str]:
    """The needs of the active phases that hold nothing yet, in document order."""
    phases = (work.flow.phases[name] for name in work.place.active)
    keys = dict.fromkeys(key for phase in phases for key in phase.needs)
    return [key for key in keys if work.find(key) is None]


def _unread(work: Work, name: str, window: int) -> tuple[Turn, ...]:
    """Newest first: the turns of the window that this reader has not covered."""
    last = work.wait.ran.get(name, 0)
    return tuple(t for t in reversed(work.transcript.window(window)) if t.number > last)


def _complete(work: Work, staged: tuple[Staged, ...]) -> None:
    """Run what follows each record that has landed fields, on what State holds now."""
    landed = {each.source for each in staged}
    for record in work.flow.records:
        complete = record.spec.on_complete
        if complete is None or f"record:{record.name}" not in landed:
            continue
        rest(work)
        effect = work.effect_id()
        work.effects.append(RunFunction(effect, complete.run, dict(work.values)))
        run = Run("complete", record.name, work.transcript.turns[-1].number, record.order)
        work.wait = work.wait._replace(runs={**work.wait.runs, effect: run})


def _text(work: Work, key: str) -> str | None:
    value = work.values.get(key)
    return value if isinstance(value, str) else None


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise FlowError(
            f"there is no time zone {name!r}; write one such as America/New_York or UTC"
        ) from error


# -- model extractors -----------------------------------------------------------------------------


def run_recorded(work: Work, outcome: Outcome, run: Run) -> None:
    """The record part: the run has ended, whatever follows from it."""
    barrier = work.wait.barrier
    waiting = barrier is not None and outcome.effect in barrier.runs
    status = outcome.status if waiting or outcome.status != "ok" else "late"
    if _is_in_time(work, run):
        status = outcome.status
    work.facts.append(RunEnded(outcome.effect, run.name, status, outcome.error))


def _is_in_time(work: Work, run: Run) -> bool:
    """A run that no barrier waits for is only late if it was started for a turn's end."""
    spec = _spec(work, run)
    return spec.trigger in ("after_tool_call", "on_phase_change")


def run_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """An extractor's answer: staged for its barrier, or landed at once if none waits for it."""
    barrier = work.wait.barrier
    spec = _spec(work, run)
    staged = _answer(work, spec, run, outcome)
    if barrier is not None and outcome.effect in barrier.runs:
        if staged is not None and is_awaited(work, spec):
            _decide_with(work, staged)
            staged = None
        _stage(work, barrier, outcome.effect, staged)
    else:
        if staged is not None:
            land(work, [staged], late=True)
        settle(work)
    follow_up(work, spec, run)


def _decide_with(work: Work, staged: Staged) -> None:
    """A call waits for these values: commit them and decide it, before any phase moves."""
    land(work, [staged])
    rest(work)
    decide_waiting(work)


def _spec(work: Work, run: Run) -> ExtractSpec:
    return next(spec for spec in work.flow.flow.extract if spec.name == run.name)


def _answer(work: Work, spec: ExtractSpec, run: Run, outcome: Outcome) -> Staged | None:
    held = frozenset(targets(spec))
    status, error = outcome.status, outcome.error
    if status == "ok" and not isinstance(outcome.value, dict):
        status, error = "failed", "not_an_object"
    work.note(f"{spec.name}:status", status)
    work.note(f"{spec.name}:error", None if status == "ok" else error or status)
    if status != "ok" or not isinstance(outcome.value, dict):
        mark_missed(work, run)
        if spec.on_failure == "hold":
            _hold(work, work.wait.holding | held, held)
        elif isinstance(spec.on_failure, Raise):
            work.events.append(spec.on_failure.raise_)
        return None
    if work.wait.holding & held:
        _hold(work, work.wait.holding - held, held)
    mark_read(work, spec.name, run.turn)
    fields = tuple(findings(outcome.value, run.turn))
    return Staged(f"extractor:{spec.name}", run.order, run.turn, fields)


def _hold(work: Work, holding: frozenset[str], touched: frozenset[str]) -> None:
    work.wait = work.wait._replace(holding=holding)
    work.touched |= touched


def _stage(work: Work, barrier: Barrier, effect: str, staged: Staged | None) -> None:
    left = tuple(run for run in barrier.runs if run != effect)
    values = (*barrier.staged, staged) if staged is not None else barrier.staged
    work.wait = work.wait._replace(barrier=barrier._replace(runs=left, staged=values))
    if not left:
        settle_barrier(work, "all runs landed")
    else:
        settle(work)
