"""Records read the caller's words: at the end of a turn, or for a call that cannot wait for it.

What has been read is not read again, so an old "yes" never answers a new question.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from flowengine.errors import FlowError
from flowengine.extract import grounding
from flowengine.extract.grounding.meaning import Setting
from flowengine.extract.recognizers.text import heard
from flowengine.extract.record.compiled import CompiledRecord, Finding, Hearing
from flowengine.kernel.runs import extent, is_due, mark_read
from flowengine.kernel.snapshot import Staged
from flowengine.kernel.work import Work
from flowengine.transcript import Turn


def read_turn(work: Work) -> tuple[Staged, ...]:
    """What the records find in the turns that they have not read."""
    due = [r for r in work.flow.records if is_due(r.spec.trigger, work, r.name)]
    return _read(work, due, work.transcript.turns[-1], _asked_before(work, closed=True))


def read_after(work: Work, moment: str) -> tuple[tuple[Staged, ...], frozenset[str]]:
    """What the records find that read at this moment, such as after a tool call, and their names.

    Once the model's words are complete, the caller's words of that turn are: it need not end.
    """
    due = [r for r in work.flow.records if r.spec.trigger == moment]
    turns, now = work.transcript.turns, work.transcript.current
    closed = moment != "on_generation_complete" or not now.user
    if not due or (closed and not turns):
        return (), frozenset()
    staged = _read(work, due, turns[-1] if closed else now, _asked_before(work, closed=closed))
    return staged, frozenset(record.name for record in due)


def read_in_progress(work: Work, reads: frozenset[str]) -> tuple[Staged, ...]:
    """What the records find in the turn in progress, if one of them may fill one of these keys.

    All of them read it: the call may move the phase, and words are meant for the phase in which
    they were said.
    """
    due = [record for record in work.flow.records if record.spec.trigger == "every_turn"]
    if all(reads.isdisjoint(record.keys) for record in due):
        return ()
    return _read(work, due, work.transcript.current, _asked_before(work, closed=False))


def read_ahead(work: Work) -> None:
    """Work out what is going to be asked of the caller's newest words; nothing changes by it."""
    said = work.transcript
    turn = said.current if said.current.user or not said.turns else said.turns[-1]
    if not turn.user.strip():
        return
    hearing = hear(work, _asked_before(work, closed=turn is not said.current))
    for record in work.flow.records:
        record.read_ahead(turn, hearing)
    if work.flow.extractors:
        grounding.read_ahead(heard(turn.user, hearing.setting.locale, turn.at))


def setting_of(work: Work) -> Setting:
    """The language, the time and the place in which words are understood."""
    zone = _text(work, "session:timezone") or work.flow.flow.timezone
    try:
        now = datetime.fromtimestamp(work.at / 1000, _zone(zone))
    except (ValueError, OverflowError, OSError):
        raise FlowError(
            f"an input came at {work.at}, which is no time: `at` counts milliseconds since 1970"
        ) from None
    return Setting(_text(work, "session:locale") or work.flow.flow.locale, now, zone)


def hear(work: Work, question: str) -> Hearing:
    """What the recognizers should know about the words they read."""
    setting = setting_of(work)
    return Hearing(
        setting=setting,
        find=work.find,
        question=question,
        needed=next((key for key in unmet(work) if ":" not in key), None),
    )


def unmet(work: Work) -> list[str]:
    """The needs of the active phases that hold nothing yet, in document order."""
    phases = (work.flow.phases[name] for name in work.place.active)
    keys = dict.fromkeys(key for phase in phases for key in phase.needs)
    return [key for key in keys if work.find(key) is None]


def _read(
    work: Work, records: Iterable[CompiledRecord], newest: Turn, question: str
) -> tuple[Staged, ...]:
    hearing: Hearing | None = None
    asked: CompiledRecord | None = None
    staged: list[Staged] = []
    for record in records:
        if hearing is None:
            hearing = hear(work, question)
            asked = next((r for r in work.flow.records if r.named(hearing)), None)
        turns, offset = _unread(work, record, newest)
        # A question in words is about that record's field, whatever the phase needs next.
        about = hearing if asked in (None, record) else hearing._replace(needed=None)
        found = record.read(turns, about) if turns else ()
        if offset:
            found = _joined(record, newest, turns, about, found, offset)
        _mark(work, record.name, newest)
        if found:
            staged.append(Staged(f"record:{record.name}", record.order, newest.number, found))
    return tuple(staged)


def _joined(
    record: CompiledRecord,
    newest: Turn,
    turns: tuple[Turn, ...],
    hearing: Hearing,
    tail: tuple[Finding, ...],
    offset: int,
) -> tuple[Finding, ...]:
    """What was said since the early reading, heard together with the words before it: "two" and
    "hundred dollars" are one amount. What lies before it altogether has been read."""
    rest = turns[0].alternatives if turns and turns[0].number == newest.number else ()
    whole = (
        newest._replace(alternatives=rest),
        *(turn for turn in turns if turn.number < newest.number),
    )
    found = {f.field: _shifted(f, newest.number, offset) for f in tail}
    for finding in record.read(whole, hearing):
        if finding.turn == newest.number and finding.span and finding.span[1] > offset:
            found[finding.field] = finding
    return tuple(found[name] for name in record.fields if name in found)


def _asked_before(work: Work, *, closed: bool) -> str:
    """The model's words just before the caller spoke, in lower case."""
    turns = work.transcript.turns[:-1] if closed else work.transcript.turns
    return turns[-1].model.lower() if turns else ""


def _unread(work: Work, record: CompiledRecord, newest: Turn) -> tuple[tuple[Turn, ...], int]:
    """Newest first: the turns of the window that the record has not covered, of the newest only
    the words that it has not seen, and how far into it they begin."""
    last = work.wait.ran.get(record.name, 0)
    seen = work.wait.seen.get(record.name)
    _, offset, heard_as = seen if seen and seen[0] == newest.number else (0, 0, 0)
    tail = newest
    if offset:
        others = newest.alternatives[heard_as:]
        tail = newest._replace(user=newest.user[offset:], alternatives=others)
    before = (t for t in reversed(work.transcript.turns) if last < t.number < newest.number)
    turns = [*([tail] if tail.user and last < newest.number else []), *before]
    return tuple(turns[: record.spec.window]), offset


def _mark(work: Work, name: str, newest: Turn) -> None:
    if newest.number == work.transcript.current.number:
        seen = {**work.wait.seen, name: extent(newest)}
        work.wait = work.wait._replace(seen=seen)
        if newest.number > 1:
            mark_read(work, name, newest.number - 1)
    else:
        mark_read(work, name, newest.number)


def _shifted(finding: Finding, turn: int, offset: int) -> Finding:
    if not offset or finding.turn != turn or finding.span is None:
        return finding
    start, end = finding.span
    return finding._replace(span=(start + offset, end + offset))


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
