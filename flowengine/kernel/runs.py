"""Runs of model extractors: when one is due, which turns it covers, and what follows a late one."""

from __future__ import annotations

from collections.abc import Iterable

from flowengine.effects import RunExtractor
from flowengine.extract.spec import ExtractSpec, Interval
from flowengine.kernel.snapshot import Run
from flowengine.kernel.work import Work
from flowengine.state.keys import bare
from flowengine.transcript import Turn


def start_at_turn_end(work: Work) -> tuple[str, ...]:
    """Ask for a run of every extractor that is due; the effect ids, in request order.

    A run that has read the same words for a call is not repeated: if it is open, it is awaited.
    """
    started: list[str] = []
    if not (work.turn_closed or _is_deaf(work)):
        return ()
    for order, spec in _specs(work):
        if not is_due(spec.trigger, work, spec.name):
            continue
        if work.wait.seen.get(spec.name) == _extent(work.transcript.turns[-1]):
            started += _open_runs(work, spec)
        elif _has_words(work, spec):
            started += _start_or_queue(work, spec, order)
    return tuple(started)


def start_in_progress(work: Work, reads: frozenset[str]) -> None:
    """A call waits for these keys: start the every-turn extractors that may write them, on the
    turn in progress."""
    now = work.transcript.current
    for order, spec in _specs(work):
        writes = spec.trigger == "every_turn" and not reads.isdisjoint(written_by(spec))
        if writes and work.wait.seen.get(spec.name) != _extent(now) and not _open_runs(work, spec):
            run_extractor(work, spec, order)
            seen = {**work.wait.seen, spec.name: _extent(now)}
            work.wait = work.wait._replace(seen=seen)


def start_after_tool(work: Work) -> None:
    """A tool has answered: start the extractors that look at what was said around it."""
    for order, spec in _specs(work):
        if spec.trigger == "after_tool_call" and _newest(work):
            _start_or_queue(work, spec, order)


def start_in_phase(work: Work) -> None:
    """The main phase has changed and come to rest; an extractor that asks for it runs once a turn.

    Before anything has been said there is nothing to read.
    """
    newest = _newest(work)
    for order, spec in _specs(work):
        if spec.trigger == "on_phase_change" and work.wait.ran.get(spec.name, 0) < newest:
            _start_or_queue(work, spec, order)


def run_extractor(work: Work, spec: ExtractSpec, order: int) -> str:
    """Ask for one run over the turns that its window and what it has missed cover."""
    effect, newest = work.effect_id(), _newest(work)
    size = max(spec.window, newest - work.wait.ran.get(spec.name, newest - 1))
    known = {key: v for key in targets(spec) if (v := work.find(key)) is not None}
    work.effects.append(RunExtractor(effect, spec.name, newest, _turns(work)[-size:], known))
    runs = {**work.wait.runs, effect: Run("extractor", spec.name, newest, order)}
    work.wait = work.wait._replace(runs=runs)
    return effect


def follow_up(work: Work, spec: ExtractSpec, run: Run) -> None:
    """One more run for the turns that came while this one was open."""
    if spec.name in work.wait.queued:
        work.wait = work.wait._replace(queued=work.wait.queued - {spec.name})
        run_extractor(work, spec, run.order)


def targets(spec: ExtractSpec) -> Iterable[str]:
    """The keys that an extractor may write."""
    if spec.promote:
        return [rule.to or rule.field for rule in spec.promote]
    return list(spec.schema_.get("properties", {}))


def written_by(spec: ExtractSpec) -> frozenset[str]:
    """What a run may change: the extractor's keys, its object, and what is known of the run."""
    own = (spec.name, f"{spec.name}:status", f"{spec.name}:error")
    return frozenset((*map(bare, targets(spec)), *own))


def mark_read(work: Work, name: str, turn: int) -> None:
    work.wait = work.wait._replace(ran={**work.wait.ran, name: turn})


def mark_missed(work: Work, run: Run) -> None:
    """A run that failed: the next one must cover its turn."""
    if run.name in work.wait.seen:
        seen = {name: extent for name, extent in work.wait.seen.items() if name != run.name}
        work.wait = work.wait._replace(seen=seen)
    if run.name not in work.wait.ran:
        mark_read(work, run.name, run.turn - 1)


def is_due(trigger: object, work: Work, name: str) -> bool:
    """Whether a turn's end is the moment of this trigger."""
    if isinstance(trigger, Interval):
        last = work.wait.ran.get(name, 0)
        spoken = [t for t in work.transcript.turns if t.number > last and t.user]
        return len(spoken) >= trigger.interval
    return trigger in ("every_turn", "on_generation_complete")


def _specs(work: Work) -> Iterable[tuple[int, ExtractSpec]]:
    """Extractors with their declared order, which comes after the records'."""
    return enumerate(work.flow.flow.extract, start=len(work.flow.records))


def _is_deaf(work: Work) -> bool:
    """No caller words have come in for two turns: the channel does not write them down."""
    turns = work.transcript.turns
    return len(turns) > 1 and turns[-1].number > 1 and not any(turn.user for turn in turns)


def _has_words(work: Work, spec: ExtractSpec) -> bool:
    words = work.transcript.turns[-1].user.split()
    return len(words) >= spec.min_words or not work.turn_closed


def _start_or_queue(work: Work, spec: ExtractSpec, order: int) -> tuple[str, ...]:
    """At most one run of an extractor is open, and at most one waits behind it."""
    open_runs = _open_runs(work, spec)
    if not open_runs:
        return (run_extractor(work, spec, order),)
    covers = max(work.wait.runs[effect].turn for effect in open_runs) >= _newest(work)
    if not covers or spec.name in work.wait.seen:
        work.wait = work.wait._replace(queued=work.wait.queued | {spec.name})
    return open_runs if covers else ()


def _open_runs(work: Work, spec: ExtractSpec) -> tuple[str, ...]:
    return tuple(
        effect for effect, run in work.wait.runs.items()
        if run.kind == "extractor" and run.name == spec.name
    )  # fmt: skip


def _extent(turn: Turn) -> tuple[int, int]:
    """How much of a turn there is to read: words are only ever added."""
    return turn.number, len(turn.user)


def _turns(work: Work) -> tuple[Turn, ...]:
    """Closed turns, and the one in progress once the caller has spoken in it."""
    said = work.transcript
    return (*said.turns, said.current) if said.current.user else said.turns


def _newest(work: Work) -> int:
    turns = _turns(work)
    return turns[-1].number if turns else 0
