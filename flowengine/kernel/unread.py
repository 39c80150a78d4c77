"""What has been heard and has not landed yet, taken early because a tool call depends on it."""

from __future__ import annotations

from flowengine.kernel import fields
from flowengine.kernel.promote import land
from flowengine.kernel.questions import ask_for_call
from flowengine.kernel.reading import read_in_progress
from flowengine.kernel.runs import start_in_progress
from flowengine.kernel.settle import rest
from flowengine.kernel.snapshot import Staged
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


def read_words(work: Work, reads: frozenset[str]) -> tuple[Staged, ...]:
    """Let the records read the turn in progress, if one of them may fill one of these keys."""
    staged = read_in_progress(work, reads) if work.transcript.current.user else ()
    if staged:
        land(work, staged)
        rest(work)
    return staged


def ask_for_keys(work: Work, reads: frozenset[str], staged: tuple[Staged, ...]) -> None:
    """Ask for what takes time and may bring these keys: decisions, resolved fields, extractors."""
    ask_for_call(work, reads)
    if work.transcript.current.user:
        fields.start_in_progress(work, staged, reads)
        start_in_progress(work, reads)


def _keys(work: Work, staged: Staged) -> frozenset[str]:
    kind, _, name = staged.source.partition(":")
    if kind == "record":
        return next(record.keys for record in work.flow.records if record.name == name)
    return work.flow.extractors[name].written
