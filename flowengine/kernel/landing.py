"""What the runs of a turn bring: staged for their barrier, or landed at once if none waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flowengine.extract.compiled import CompiledExtract
from flowengine.extract.record.compiled import Finding, findings
from flowengine.extract.spec import Raise
from flowengine.facts import MASK, PromotionDecided, RunEnded
from flowengine.inputs import Outcome
from flowengine.kernel.fields import field_found, field_key
from flowengine.kernel.gate import decide_waiting, is_awaited
from flowengine.kernel.promote import land
from flowengine.kernel.questions import decisions_landed
from flowengine.kernel.rest import rest
from flowengine.kernel.runs import follow_up, mark_missed, mark_read
from flowengine.kernel.settle import settle
from flowengine.kernel.snapshot import Barrier, Run, Staged
from flowengine.kernel.turn import settle_barrier
from flowengine.kernel.work import Work


def run_recorded(work: Work, outcome: Outcome, run: Run) -> None:
    """The record part: the run has ended, whatever follows from it."""
    status = outcome.status
    if status == "ok" and outcome.value is None:
        status = "skipped"
    elif status == "ok" and _is_late(work, outcome, run):
        status = "late"
    work.facts.append(RunEnded(outcome.effect, run.name, status, outcome.error))


def run_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """An extractor has answered."""
    extractor = work.flow.extractors[run.name]
    staged = _answer(work, extractor, run, outcome)
    awaited = staged is not None and is_awaited(work, extractor.written)
    _arrive(work, outcome.effect, staged, awaited=awaited)
    follow_up(work, extractor)


def field_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """The resolver of a record's field has answered."""
    staged = field_found(work, outcome, run)
    awaited = staged is not None and is_awaited(work, [field_key(work, run)])
    _arrive(work, outcome.effect, staged, awaited=awaited)


def decision_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """Questions were answered; a call that waits for one is decided at once."""
    decisions_landed(work, outcome, run)
    rest(work)
    decide_waiting(work)
    _arrive(work, outcome.effect, None, awaited=False)


def _arrive(work: Work, effect: str, staged: Staged | None, *, awaited: bool) -> None:
    barrier = work.wait.barrier
    waiting = barrier is not None and effect in barrier.runs
    if staged is not None and (awaited or not waiting):
        land(work, [staged], late=not awaited)
        staged = None
        if awaited:
            # A call waits for these values: decide it before any phase moves.
            rest(work)
            decide_waiting(work)
    if barrier is not None and waiting:
        _stage(work, barrier, effect, staged)
    else:
        settle(work)


def _stage(work: Work, barrier: Barrier, effect: str, staged: Staged | None) -> None:
    left = tuple(run for run in barrier.runs if run != effect)
    values = (*barrier.staged, staged) if staged is not None else barrier.staged
    work.wait = work.wait._replace(barrier=barrier._replace(runs=left, staged=values))
    if not left:
        settle_barrier(work, "all runs landed")
    else:
        settle(work)


def _is_late(work: Work, outcome: Outcome, run: Run) -> bool:
    """Its turn has been settled without it; a run that no turn waits for is never late."""
    barrier = work.wait.barrier
    if barrier is not None and outcome.effect in barrier.runs:
        return False
    in_progress = run.turn == work.transcript.current.number
    trigger = work.flow.extractors[run.name].spec.trigger
    return not in_progress and trigger not in ("after_tool_call", "on_phase_change")


def _answer(work: Work, extractor: CompiledExtract, run: Run, outcome: Outcome) -> Staged | None:
    status, error = outcome.status, outcome.error
    if status == "ok" and outcome.value is None:
        return None
    if status == "ok" and not isinstance(outcome.value, dict):
        status, error = "failed", "not_an_object"
    work.note(f"{run.name}:status", status)
    work.note(f"{run.name}:error", None if status == "ok" else error or status)
    if status != "ok" or not isinstance(outcome.value, dict):
        _missed(work, extractor, run)
        return None
    if work.wait.holding:
        _hold(work, work.wait.holding.difference(extractor.targets), extractor)
    mark_read(work, run.name, run.turn)
    fields = tuple(_declared(work, extractor, findings(outcome.value, run.turn)))
    return Staged(f"extractor:{run.name}", run.order, run.turn, fields)


def _declared(
    work: Work, extractor: CompiledExtract, found: Iterable[Finding]
) -> Iterator[Finding]:
    """Without what the schema does not have: whoever answers writes no key of their choosing."""
    for finding in found:
        if extractor.fields is None or finding.field in extractor.fields:
            yield finding
        else:
            # A name that is no name may be a caller's words.
            name = finding.field if finding.field.isidentifier() else MASK
            source = f"extractor:{extractor.name}"
            work.facts.append(PromotionDecided(source, name, "", False, "not in the schema"))


def _missed(work: Work, extractor: CompiledExtract, run: Run) -> None:
    """What the flow wants to happen when an extraction fails."""
    mark_missed(work, run)
    on_failure = extractor.spec.on_failure
    if on_failure == "hold":
        _hold(work, work.wait.holding.union(extractor.targets), extractor)
    elif isinstance(on_failure, Raise):
        work.events.append(on_failure.raise_)


def _hold(work: Work, holding: frozenset[str], extractor: CompiledExtract) -> None:
    if holding != work.wait.holding:
        work.wait = work.wait._replace(holding=holding)
        work.touched.update(extractor.targets)
