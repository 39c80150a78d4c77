"""The end of a turn: records read it, model extractors start, and the barrier lands their values.

The barrier waits for the runs it started, or until it is due; nothing else ever waits for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from flowengine.effects import RunExtractor, RunFunction
from flowengine.extract.record import CompiledRecord, Hearing, Words, findings
from flowengine.extract.spec import ExtractSpec, Interval, Raise
from flowengine.facts import BarrierOpened, BarrierSettled, RunEnded, TurnClosed
from flowengine.inputs import Outcome, TurnEnded
from flowengine.kernel.promote import land
from flowengine.kernel.settle import settle
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
        settle_barrier(work, "next turn")
    for key, value in ended.values.items():
        work.put(key, value, "channel")
    staged = _read(work)
    runs = _start(work) if work.flow.flow.extract else ()
    if not runs:
        _settle(work, staged)
        return
    turn = work.transcript.turns[-1].number
    work.facts.append(BarrierOpened(turn, runs))
    barrier = Barrier(turn, runs, staged, work.at + BARRIER)
    work.wait = work.wait._replace(barrier=barrier)
    if ended.values:
        settle(work)


def settle_barrier(work: Work, reason: str) -> None:
    """Land what has come; runs that are still open go on as late ones."""
    barrier = work.wait.barrier
    assert barrier is not None
    work.wait = work.wait._replace(barrier=None)
    work.facts.append(BarrierSettled(barrier.turn, reason))
    _settle(work, barrier.staged)


def _settle(work: Work, staged: tuple[Staged, ...]) -> None:
    if staged:
        land(work, sorted(staged, key=lambda each: each.order))
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
            _complete(work, record)
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


def mark_read(work: Work, name: str, turn: int) -> None:
    work.wait = work.wait._replace(ran={**work.wait.ran, name: turn})


def is_due(trigger: object, work: Work, name: str) -> bool:
    """Whether a turn's end is the moment of this trigger."""
    if isinstance(trigger, Interval):
        last = work.wait.ran.get(name, 0)
        spoken = [t for t in work.transcript.turns if t.number > last and t.user]
        return len(spoken) >= trigger.interval
    return trigger == "every_turn"


def _complete(work: Work, record: CompiledRecord) -> None:
    if record.spec.on_complete is None:
        return
    effect = work.effect_id()
    name = record.spec.on_complete.run
    work.effects.append(RunFunction(effect, name, dict(work.values)))
    run = Run("complete", record.name, work.transcript.turns[-1].number, record.order)
    work.wait = work.wait._replace(runs={**work.wait.runs, effect: run})


def _text(work: Work, key: str) -> str | None:
    value = work.values.get(key)
    return value if isinstance(value, str) else None


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


# -- model extractors -----------------------------------------------------------------------------


def _start(work: Work) -> tuple[str, ...]:
    """Ask for a run of every extractor that is due; the effect ids, in request order."""
    started: list[str] = []
    for order, spec in enumerate(work.flow.flow.extract, start=len(work.flow.records)):
        if not _should_run(work, spec):
            continue
        if any(r.kind == "extractor" and r.name == spec.name for r in work.wait.runs.values()):
            work.wait = work.wait._replace(queued=work.wait.queued | {spec.name})
            continue
        started.append(run_extractor(work, spec, order))
    return tuple(started)


def run_extractor(work: Work, spec: ExtractSpec, order: int) -> str:
    """Ask for one run over the turns that its window and what it has missed cover."""
    effect, newest = work.effect_id(), work.transcript.turns[-1].number
    size = max(spec.window, newest - work.wait.ran.get(spec.name, newest - 1))
    known = {key: v for key in targets(spec) if (v := work.find(key)) is not None}
    window = work.transcript.window(size)
    work.effects.append(RunExtractor(effect, spec.name, newest, window, known))
    runs = {**work.wait.runs, effect: Run("extractor", spec.name, newest, order)}
    work.wait = work.wait._replace(runs=runs)
    return effect


def targets(spec: ExtractSpec) -> Iterable[str]:
    """The keys that an extractor may write."""
    if spec.promote:
        return [rule.to or rule.field for rule in spec.promote]
    return list(spec.schema_.get("properties", {}))


def _should_run(work: Work, spec: ExtractSpec) -> bool:
    turns = work.transcript.turns
    if not turns or not work.turn_closed or not is_due(spec.trigger, work, spec.name):
        return False
    return len(turns[-1].user.split()) >= spec.min_words


def run_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """An extractor's answer: staged for its barrier, or landed at once if it is late."""
    barrier = work.wait.barrier
    waiting = barrier is not None and outcome.effect in barrier.runs
    status = outcome.status if waiting or outcome.status != "ok" else "late"
    work.facts.append(RunEnded(outcome.effect, run.name, status, outcome.error))
    spec = next(s for s in work.flow.flow.extract if s.name == run.name)
    staged = _answer(work, spec, run, outcome)
    if waiting and barrier is not None:
        _stage(work, barrier, outcome.effect, staged)
    elif staged is not None:
        land(work, [staged], late=True)
        settle(work)
    else:
        settle(work)
    _follow_up(work, spec, run)


def _answer(work: Work, spec: ExtractSpec, run: Run, outcome: Outcome) -> Staged | None:
    held = frozenset(targets(spec))
    work.note(f"{spec.name}:status", outcome.status)
    if outcome.status != "ok" or not isinstance(outcome.value, dict):
        work.note(f"{spec.name}:error", outcome.error or outcome.status)
        if spec.on_failure == "hold":
            _hold(work, work.wait.holding | held, held)
        elif isinstance(spec.on_failure, Raise):
            work.events.append(spec.on_failure.raise_)
        return None
    work.note(f"{spec.name}:error", None)
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


def _follow_up(work: Work, spec: ExtractSpec, run: Run) -> None:
    """One more run for the turns that came while this one was open."""
    if spec.name in work.wait.queued:
        work.wait = work.wait._replace(queued=work.wait.queued - {spec.name})
        run_extractor(work, spec, run.order)
