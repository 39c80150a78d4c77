"""What has been heard and has not landed yet, taken early because a tool call depends on it."""

from __future__ import annotations

from collections.abc import Iterable

from flowengine.kernel import fields
from flowengine.kernel.origins import answers_of, results_of
from flowengine.kernel.promote import land
from flowengine.kernel.questions import ask_for_call
from flowengine.kernel.reading import read_in_progress
from flowengine.kernel.rest import rest
from flowengine.kernel.runs import start_in_progress
from flowengine.kernel.snapshot import Run, Staged
from flowengine.kernel.work import Work


def land_waiting(work: Work, reads: frozenset[str]) -> None:
    """Take out of the barrier what may fill one of these keys: it has been heard already."""
    barrier = work.wait.barrier
    needed = tuple(
        each for each in (barrier.staged if barrier is not None else ())
        if not reads.isdisjoint(_keys(work, each))
    )  # fmt: skip
    if barrier is not None and needed:
        left = tuple(each for each in barrier.staged if each not in needed)
        work.wait = work.wait._replace(barrier=barrier._replace(staged=left))
        land(work, sorted(needed, key=lambda each: each.order))
        rest(work)


def read_words(work: Work, reads: frozenset[str]) -> None:
    """Let the records read the turn in progress, if one of them may fill one of these keys."""
    staged = read_in_progress(work, reads) if work.transcript.current.user else ()
    if staged:
        land(work, staged)
        rest(work)


def ask_for_keys(work: Work, reads: frozenset[str]) -> None:
    """Ask for what takes time and may bring these keys: decisions, resolved fields, extractors."""
    ask_for_call(work, reads)
    if work.transcript.current.user:
        fields.start_in_progress(work, reads)
        start_in_progress(work, reads)


def is_coming(work: Work, reads: frozenset[str]) -> bool:
    """An open run may write one of these keys."""
    return any(not reads.isdisjoint(_brought(work, run)) for run in work.wait.runs.values())


def _keys(work: Work, staged: Staged) -> frozenset[str]:
    kind, _, name = staged.source.partition(":")
    if kind == "record":
        return next(record.keys for record in work.flow.records if record.name == name)
    return work.flow.extractors[name].written


def _brought(work: Work, run: Run) -> Iterable[str]:
    """What the run may write."""
    flow = work.flow.flow
    match run.kind:
        case "extractor":
            return work.flow.extractors[run.name].written
        case "field":
            return (fields.field_key(work, run),)
        case "decision":
            return (key for id in run.args for key in answers_of(id, flow.decisions[id].writes))
        case "resolver" if dict(run.args) != work.flow.bound(run.name, work.find):
            return ()  # its answer will be to an old question
        case "resolver" | "complete":
            return results_of(run.name)
        case _:
            return ()
