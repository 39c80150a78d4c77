"""The end of a turn: records read it, model extractors start, and the barrier lands their values.

The barrier waits for the runs it started, or until it is due; nothing else ever waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping

from flowengine.facts import BarrierOpened, BarrierSettled, TurnClosed
from flowengine.inputs import Json, TurnEnded
from flowengine.kernel.fields import start_fields
from flowengine.kernel.gate import hear_waiting
from flowengine.kernel.promote import correct, land
from flowengine.kernel.questions import ask_at_turn_end
from flowengine.kernel.reading import read_after, read_turn
from flowengine.kernel.repair import count_turn
from flowengine.kernel.rest import rest
from flowengine.kernel.runs import start_at_turn_end
from flowengine.kernel.settle import settle
from flowengine.kernel.silence import begin_silence
from flowengine.kernel.snapshot import Barrier, Staged
from flowengine.kernel.work import Work

BARRIER = 5_000
"""Milliseconds that a turn's values wait for the slowest extractor."""


def close(work: Work) -> None:
    """The record part: the turn in progress becomes the newest closed one."""
    turn = work.transcript.current
    work.transcript = work.transcript.closed()
    if turn.user.strip():
        work.turns += 1
        work.turn_closed = True
        work.touched.add("@turn")
    if turn.user or turn.model:
        work.facts.append(TurnClosed(turn.number, bool(turn.user)))


def turn_ended(work: Work, ended: TurnEnded) -> None:
    """Settle an older barrier, read the turn, and settle it or wait for its runs."""
    if work.wait.barrier is not None:
        settle_older(work)
    if work.flow.ladders:
        begin_silence(work)
    if work.flow.needed.isdisjoint(ended.values):
        for key, value in ended.values.items():
            work.put(key, value, "channel")
    else:
        _captured(work, ended.values)
    staged = read_turn(work) if work.turn_closed else ()
    runs = _ask(work, staged) if work.flow.asks else ()
    if not runs:
        _settle(work, staged)
        return
    turn = work.transcript.turns[-1].number
    work.facts.append(BarrierOpened(turn, runs))
    barrier = Barrier(turn, runs, staged, work.at + BARRIER)
    work.wait = work.wait._replace(barrier=barrier)
    work.settled = False
    if work.wait.calls:
        hear_waiting(work)
    if work.dirty or work.cleared or work.wait.calls:
        # The turn counts once: when its values have landed.
        work.turn_closed = False
        work.touched.discard("@turn")
        settle(work)


def _captured(work: Work, values: Mapping[str, Json]) -> None:
    """Write what the channel captured; a change of what others rest on is a correction."""
    needed, changed = work.flow.needed, list[str]()
    for key, value in values.items():
        before = work.values.get(key) if key in needed else None
        work.put(key, value, "channel")
        if before is not None and work.values.get(key) != before:
            changed.append(key)
    if changed:
        correct(work, frozenset(changed))


def _ask(work: Work, staged: tuple[Staged, ...]) -> tuple[str, ...]:
    """Start all that reads the turn and takes time; the effect ids, in request order."""
    if not work.transcript.turns:
        return ()
    read = frozenset(
        record.name
        for record in work.flow.records
        if record.spec.trigger == "every_turn" or work.wait.ran.get(record.name) == _newest(work)
    )
    return (
        *(start_fields(work, staged, read) if work.turn_closed else ()),
        *start_at_turn_end(work),
        *(ask_at_turn_end(work) if work.turn_closed else ()),
    )


def read_records(work: Work, moment: str) -> None:
    """Records that read after a tool call, say, or a change of phase: their values land at once."""
    if not work.flow.records:
        return
    staged, read = read_after(work, moment)
    if staged:
        land(work, staged)
    asked = start_fields(work, staged, read)
    if staged or asked:
        settle(work)


def _newest(work: Work) -> int:
    return work.transcript.turns[-1].number


def settle_barrier(work: Work, reason: str) -> None:
    """Land what has come; runs that are still open go on as late ones."""
    barrier = work.wait.barrier
    assert barrier is not None
    work.wait = work.wait._replace(barrier=None)
    work.facts.append(BarrierSettled(barrier.turn, reason))
    if work.transcript.heard_in(barrier.turn):
        work.turn_closed = True
        work.touched.add("@turn")
    _settle(work, barrier.staged, barrier.turn)


def settle_older(work: Work) -> None:
    """A turn has closed while the one before it waited: that one settles first, and by itself."""
    spoke, work.turn_closed = work.turn_closed, False
    settle_barrier(work, "next turn")
    end_turn_keys(work)
    work.turn_closed, work.corrected_keys = spoke, frozenset()


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
            work.touched.add(key)
        work.passing = ()
    work.settled = False


def _settle(work: Work, staged: tuple[Staged, ...], turn: int | None = None) -> None:
    if staged:
        land(work, sorted(staged, key=lambda each: each.order), turn=turn)
    if work.turn_closed and work.flow.repairs:
        rest(work)
        count_turn(work)
    settle(work)
    work.settled = True
