"""Outcomes: how each kind of run ends, in what is recorded and in what follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flowengine.effects import Tell
from flowengine.facts import FunctionEnded, InputIgnored, ResolverEnded, RunEnded
from flowengine.flow.text import shown, template
from flowengine.inputs import Outcome
from flowengine.kernel.calls import call_ended, call_recorded, compensation_ended, entry_closed
from flowengine.kernel.fields import field_recorded
from flowengine.kernel.gate import confirmed, deny_unconfirmed
from flowengine.kernel.landing import decision_ended, field_ended, run_ended, run_recorded
from flowengine.kernel.settle import settle
from flowengine.kernel.silence import begin_silence
from flowengine.kernel.snapshot import Run
from flowengine.kernel.work import NEWEST, Work
from flowengine.state.evidence import Evidence


def outcome_recorded(work: Work, outcome: Outcome) -> None:
    """The record part: the run has ended."""
    run = work.wait.runs.get(outcome.effect)
    if run is not None and run.kind in _RECORDS:
        _RECORDS[run.kind](work, outcome, run)


def outcome_follows(work: Work, outcome: Outcome) -> None:
    run = work.wait.runs.get(outcome.effect)
    if run is None:
        work.facts.append(InputIgnored(outcome.id, "no such effect is open"))
        return
    runs = {k: v for k, v in work.wait.runs.items() if k != outcome.effect}
    work.wait = work.wait._replace(runs=runs)
    if work.wait.quiet is not None and run.kind == "tool":
        begin_silence(work)
    _OUTCOMES[run.kind](work, outcome, run)


def drop_run(work: Work, outcome: Outcome) -> None:
    """The outcome's consequences have failed: the run is over, and its barrier does not wait."""
    wait, run = work.wait, work.wait.runs.get(outcome.effect)
    if run is None:
        return
    runs = {k: v for k, v in wait.runs.items() if k != outcome.effect}
    work.wait = wait._replace(runs=runs, queued=wait.queued - {run.name})
    if run.kind == "tool":
        entry_closed(work, outcome, run)
    elif run.kind == "confirmation":
        deny_unconfirmed(work, run.name)
    barrier = wait.barrier
    if barrier is not None and outcome.effect in barrier.runs:
        left = tuple(other for other in barrier.runs if other != outcome.effect)
        work.wait = work.wait._replace(barrier=barrier._replace(runs=left))


def _decision_recorded(work: Work, outcome: Outcome, run: Run) -> None:
    work.facts.append(RunEnded(outcome.effect, run.name, outcome.status, outcome.error))


def _function_recorded(work: Work, outcome: Outcome, run: Run) -> None:
    work.facts.append(FunctionEnded(run.name, outcome.status, outcome.error))


def _resolver_recorded(work: Work, outcome: Outcome, run: Run) -> None:
    work.facts.append(ResolverEnded(run.name, outcome.status, outcome.error))


def _resolver_ended(work: Work, outcome: Outcome, run: Run) -> None:
    if dict(run.args) != work.flow.bound(run.name, work.find):
        settle(work)  # the answer to an old question
        return
    _keep_result(work, outcome, run)
    spec = work.flow.flow.resolvers.get(run.name)
    if spec is not None and spec.mode == "background" and outcome.status == "ok":
        _announce(work, run.name, spec.announce, outcome)
    settle(work)


def _complete_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """What follows a record has returned its result."""
    _keep_result(work, outcome, run)
    spec = work.flow.flow.records[run.name].on_complete
    if spec is not None and spec.mode == "background" and outcome.status == "ok":
        _announce(work, run.name, "", outcome)
    settle(work)


def _keep_result(work: Work, outcome: Outcome, run: Run) -> None:
    ok = outcome.status == "ok"
    work.note(f"{run.name}:result", outcome.value if ok else None)
    work.note(f"{run.name}:error", None if ok else outcome.error or outcome.status)
    resolved = {**work.wait.resolved, run.name: (ok, dict(run.args))}
    work.wait = work.wait._replace(resolved=resolved)
    work.touched.add(f"@resolved:{run.name}")


def _announce(work: Work, name: str, words: str, outcome: Outcome) -> None:
    """The model is told what came in while it talked on."""

    def find(key: str) -> object:
        return outcome.value if key == "result" else work.find(key)

    text = template(words)(find) if words else f"{name}: {shown(outcome.value)}"  # pyright: ignore[reportArgumentType]
    work.effects.append(Tell(work.effect_id(), text, respond=False))


def _confirmation_ended(work: Work, outcome: Outcome, run: Run) -> None:
    confirmed(work, outcome, run)
    settle(work)


def _function_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """An async watcher returns keys to write."""
    written = outcome.value if outcome.status == "ok" else None
    for key, value in written.items() if isinstance(written, dict) else ():
        by = f"function:{run.name}"
        if value is None:
            work.drop(key, by)
        else:  # words that are newer than what it saw stand
            work.offer(key, value, Evidence(by, run.turn, NEWEST))
    settle(work)


_RECORDS: Mapping[str, Callable[[Work, Outcome, Run], None]] = {
    "extractor": run_recorded,
    "field": field_recorded,
    "decision": _decision_recorded,
    "resolver": _resolver_recorded,
    "function": _function_recorded,
    "complete": _function_recorded,
    "tool": call_recorded,
}
_OUTCOMES: Mapping[str, Callable[[Work, Outcome, Run], None]] = {
    "extractor": run_ended,
    "field": field_ended,
    "decision": decision_ended,
    "resolver": _resolver_ended,
    "function": _function_ended,
    "complete": _complete_ended,
    "confirmation": _confirmation_ended,
    "tool": call_ended,
    "compensation": compensation_ended,
}
