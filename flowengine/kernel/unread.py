"""The words of a turn in progress, read early because a tool call depends on them."""

from __future__ import annotations

from flowengine.kernel import fields
from flowengine.kernel.promote import land
from flowengine.kernel.questions import ask_for_call
from flowengine.kernel.reading import read_in_progress
from flowengine.kernel.runs import start_in_progress
from flowengine.kernel.settle import rest
from flowengine.kernel.work import Work


def read_for_call(work: Work, reads: frozenset[str]) -> bool:
    """Read the turn in progress for what the guards of a call read.

    Records land at once; extractors and decisions are asked for. True if something has landed.
    """
    ask_for_call(work, reads)
    if not work.transcript.current.user:
        return False
    staged = read_in_progress(work, reads)
    fields.start_in_progress(work, staged, reads)
    if staged:
        land(work, staged)
        rest(work)
    start_in_progress(work, reads)
    return bool(staged)
