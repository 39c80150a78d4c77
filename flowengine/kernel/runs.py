"""Runs of model extractors: when one is due, which turns it covers, and what follows a late one."""

from __future__ import annotations

from collections.abc import Iterable

from flowengine.effects import RunExtractor
from flowengine.extract.compiled import CompiledExtract
from flowengine.extract.spec import Interval, Moment
from flowengine.inputs import Json
from flowengine.kernel.snapshot import Extent, Run
from flowengine.kernel.work import Work
from flowengine.transcript import Transcript, Turn


def start_at_turn_end(work: Work) -> tuple[str, ...]:
    """Ask for a run of every extractor that is due; the effect ids, in request order.

    A run that has read the same words for a call is not repeated: if it is open, it is awaited.
    """
    started: list[str] = []
    if not (work.turn_closed or _is_deaf(work)):
        return ()
    for extractor in work.flow.extractors.values():
        if not is_due(extractor.spec.trigger, work, extractor.name):
            continue
        if _has_seen(work, extractor.name, work.transcript.turns[-1]):
            started += _open_runs(work, extractor)
        elif _has_words(work, extractor):
            started += _start_or_queue(work, extractor)
    return tuple(started)


def start_in_progress(work: Work, reads: frozenset[str]) -> None:
    """A call waits for these keys: start the every-turn extractors that may write them, on the
    turn in progress."""
    now = work.transcript.current
    for extractor in _waiting_for(work, "every_turn"):
        unread = not _has_seen(work, extractor.name, now)
        if unread and not reads.isdisjoint(extractor.written) and not _open_runs(work, extractor):
            run_extractor(work, extractor, _turns(work.transcript))
            _mark_seen(work, extractor.name, now)


def start_on_generation(work: Work, words: str) -> None:
    """The model's words are complete, before the caller has heard them all: start the extractors
    that wait for them."""
    turns = _turns(work.transcript.said(words, work.at))
    for extractor in _waiting_for(work, "on_generation_complete"):
        name = extractor.name
        if not turns or len(turns[-1].user.split()) < extractor.spec.min_words:
            continue
        if _open_runs(work, extractor):
            # The follow-up may come before all has been heard: the turn's end is due as well.
            work.wait = work.wait._replace(queued=work.wait.queued | {name})
            _forget_seen(work, name)
        else:
            run_extractor(work, extractor, turns)
            _mark_seen(work, name, turns[-1])


def start_after_tool(work: Work) -> None:
    """A tool has answered: start the extractors that look at what was said around it."""
    if _newest(work):
        for extractor in _waiting_for(work, "after_tool_call"):
            _start_or_queue(work, extractor)


def start_in_phase(work: Work) -> None:
    """The main phase has changed and come to rest; an extractor that asks for it runs once a turn.

    Before anything has been said there is nothing to read.
    """
    newest = _newest(work)
    for extractor in _waiting_for(work, "on_phase_change"):
        if work.wait.ran.get(extractor.name, 0) < newest:
            _start_or_queue(work, extractor)


def run_extractor(work: Work, extractor: CompiledExtract, turns: tuple[Turn, ...]) -> str:
    """Ask for one run over those of the turns that its window and what it has missed cover."""
    effect, newest, name = work.effect_id(), turns[-1].number if turns else 0, extractor.name
    size = max(extractor.spec.window, newest - work.wait.ran.get(name, newest - 1))
    known = known_to(work, extractor)
    work.effects.append(RunExtractor(effect, name, newest, turns[-size:], known))
    runs = {**work.wait.runs, effect: Run("extractor", name, newest, extractor.order)}
    work.wait = work.wait._replace(runs=runs)
    return effect


def known_to(work: Work, extractor: CompiledExtract) -> dict[str, Json]:
    """What the keys that it may write hold already."""
    return {key: v for key in extractor.targets if (v := work.find(key)) is not None}


def follow_up(work: Work, extractor: CompiledExtract) -> None:
    """One more run for the turns that came while this one was open, unless a call has started it
    already."""
    if extractor.name in work.wait.queued:
        work.wait = work.wait._replace(queued=work.wait.queued - {extractor.name})
        if not _open_runs(work, extractor):
            run_extractor(work, extractor, _turns(work.transcript))


def extent(turn: Turn) -> Extent:
    """How much of a turn there is to read: words and hypotheses are only ever added."""
    return turn.number, len(turn.user), len(turn.alternatives)


def mark_read(work: Work, name: str, turn: int) -> None:
    work.wait = work.wait._replace(ran={**work.wait.ran, name: turn})


def mark_missed(work: Work, run: Run) -> None:
    """A run that failed: the next one must cover its turn."""
    _forget_seen(work, run.name)
    if run.name not in work.wait.ran:
        mark_read(work, run.name, run.turn - 1)


def is_due(trigger: object, work: Work, name: str) -> bool:
    """Whether a turn's end is the moment of this trigger."""
    if isinstance(trigger, Interval):
        last = work.wait.ran.get(name, 0)
        spoken = [t for t in work.transcript.turns if t.number > last and t.user]
        return len(spoken) >= trigger.interval
    return trigger in ("every_turn", "on_generation_complete")


def _waiting_for(work: Work, moment: Moment) -> Iterable[CompiledExtract]:
    return (one for one in work.flow.extractors.values() if one.spec.trigger == moment)


def _is_deaf(work: Work) -> bool:
    """No caller words have come in for two turns: the channel does not write them down."""
    turns = work.transcript.turns
    return len(turns) > 1 and turns[-1].number > 1 and not any(turn.user for turn in turns)


def _has_words(work: Work, extractor: CompiledExtract) -> bool:
    words = work.transcript.turns[-1].user.split()
    return len(words) >= extractor.spec.min_words or not work.turn_closed


def _start_or_queue(work: Work, extractor: CompiledExtract) -> tuple[str, ...]:
    """At most one run of an extractor is open, and at most one waits behind it."""
    open_runs = _open_runs(work, extractor)
    if not open_runs:
        return (run_extractor(work, extractor, _turns(work.transcript)),)
    covers = max(work.wait.runs[effect].turn for effect in open_runs) >= _newest(work)
    if not covers or extractor.name in work.wait.seen:
        work.wait = work.wait._replace(queued=work.wait.queued | {extractor.name})
    return open_runs if covers else ()


def _open_runs(work: Work, extractor: CompiledExtract) -> tuple[str, ...]:
    return tuple(
        effect for effect, run in work.wait.runs.items()
        if run.kind == "extractor" and run.name == extractor.name
    )  # fmt: skip


def _has_seen(work: Work, name: str, turn: Turn) -> bool:
    return work.wait.seen.get(name) == extent(turn)


def _mark_seen(work: Work, name: str, turn: Turn) -> None:
    work.wait = work.wait._replace(seen={**work.wait.seen, name: extent(turn)})


def _forget_seen(work: Work, name: str) -> None:
    if name in work.wait.seen:
        seen = {other: known for other, known in work.wait.seen.items() if other != name}
        work.wait = work.wait._replace(seen=seen)


def _turns(said: Transcript) -> tuple[Turn, ...]:
    """Closed turns, and the one in progress once the caller has spoken in it."""
    return (*said.turns, said.current) if said.current.user else said.turns


def _newest(work: Work) -> int:
    turns = _turns(work.transcript)
    return turns[-1].number if turns else 0
