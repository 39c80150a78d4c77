"""The words of a turn in progress, read early because a tool call depends on them."""

from __future__ import annotations

from flowengine.kernel import fields
from flowengine.kernel.promote import land
from flowengine.kernel.questions import ask_for_call
from flowengine.kernel.reading import read_in_progress
from flowengine.kernel.runs import start_in_progress
from flowengine.kernel.settle import rest
from flowengine.kernel.snapshot import Staged
from flowengine.kernel.work import Work


def read_words(work: Work, reads: frozenset[str]) -> tuple[Staged, ...]:
    """Let the records that may fill these keys read the turn in progress; what they find lands."""
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
