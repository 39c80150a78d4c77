"""The kernel: one input to a session gives its next snapshot, facts and effects.

Synchronous and deterministic: no clock, no randomness, no I/O. An input has a record part, which
always stands, and consequences, which stand together or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from typing import Any, NamedTuple

from flowengine.effects import Effect
from flowengine.errors import FlowEngineError, FlowError, FunctionError
from flowengine.extract.recognizers import locale_hash
from flowengine.facts import Fact, InputFailed, SessionStarted
from flowengine.flow.functions import Functions
from flowengine.flow.model import Flow
from flowengine.inputs import Heard, Input, Outcome, Said, Timer, ToolCalled, TurnEnded
from flowengine.kernel.admission import tools_now
from flowengine.kernel.compiled import VERSION, compile_flow
from flowengine.kernel.context import Context, context_of
from flowengine.kernel.explain import Explanation, explanation_of
from flowengine.kernel.gate import decide_waiting, deny_failed, deny_unheard
from flowengine.kernel.kinds import KINDS, by_own_name
from flowengine.kernel.move import start, straight_to
from flowengine.kernel.outcomes import drop_run
from flowengine.kernel.parts import CompiledFlow
from flowengine.kernel.privacy import hidden, veil
from flowengine.kernel.reading import read_ahead, unmet
from flowengine.kernel.reopen import open_effects
from flowengine.kernel.runs import start_in_phase
from flowengine.kernel.settle import greet, settle
from flowengine.kernel.silence import begin_silence, pass_rung
from flowengine.kernel.snapshot import IDLE, Place, Snapshot
from flowengine.kernel.timers import set_timer
from flowengine.kernel.turn import (
    close_empty,
    end_turn_keys,
    read_records,
    settle_barrier,
    settle_older,
)
from flowengine.kernel.work import Work
from flowengine.transcript import Transcript

_TZDATA = version("tzdata")


class Step(NamedTuple):
    """What one input led to; a fact's id is `{snapshot.seq}.{its place in facts}`."""

    snapshot: Snapshot
    facts: tuple[Fact, ...]
    effects: tuple[Effect, ...]
    error: FlowEngineError | None = None
    """Why the input failed, for the process that sent it; its fact is the last one."""


class Kernel:
    """Runs the sessions of one flow; holds no session."""

    __slots__ = ("compiled",)

    def __init__(self, flow: Flow, functions: Functions | None = None) -> None:
        self.compiled = compile_flow(flow, functions)

    def start(
        self, at: int, values: Mapping[str, Any] | None = None, phase: str | None = None
    ) -> Step:
        """Enter the initial phases; `values` are what State holds before anything is said.

        With `phase` the conversation starts there: nothing before it is entered, no hook of what
        would have come first is run.

        Raises:
            FlowError: `phase` is no phase of the conversation's body.
        """
        flow = self.compiled
        empty = Snapshot(flow.hash, -1, at, 0, {}, {}, Transcript(), Place(), IDLE, (), False)
        work = Work(flow, empty, at)
        work.facts.append(_first_fact(flow, at))
        for key, value in {**flow.defaults(), **(values or {})}.items():
            work.begin_with(key, value)
        work.dirty.clear()
        flow.computed.recompute(work)
        begin_silence(work)
        start(work, flow.chart.start() if phase is None else straight_to(flow, phase))
        settle(work)
        greet(work)
        return _finish(work)

    def step(self, before: Snapshot, input: Input) -> Step:
        """Take one input.

        Raises:
            FlowError: the snapshot was made by another flow.
        """
        flow = self.compiled
        if before.flow != flow.hash:
            raise FlowError(
                f"the snapshot was made by another version of flow {flow.flow.flow!r}; run it with "
                "the flow that made it, or start the call anew"
            )
        work = Work(flow, before, input.at)
        record, follow = KINDS[type(input)]
        if before.settled and type(input) is not Said:
            end_turn_keys(work)
        record(work, input)
        try:
            follow(work, input)
            if work.wait.calls:
                decide_waiting(work)
            if work.arrived:
                _came_to_rest(work, before)
        except FlowEngineError as error:
            return _failed(flow, before, input, error)
        return _finish(work)

    def read_ahead(self, snapshot: Snapshot) -> None:
        """Work out now what later inputs will ask of the caller's newest words; it changes
        nothing, and saves its time when somebody waits."""
        with suppress(FlowEngineError):  # the input that asks for it will tell
            read_ahead(Work(self.compiled, snapshot, snapshot.at))

    def reopen(self, snapshot: Snapshot) -> tuple[Effect, ...]:
        """What a resumed session still waits for; ask for it again."""
        return tuple(open_effects(Work(self.compiled, snapshot, snapshot.at)))

    def context(self, snapshot: Snapshot, *, moved: bool = False) -> Context:
        """What the model should be told now; `moved`: the last input changed the phase."""
        work = Work(self.compiled, snapshot, snapshot.at)
        return context_of(work, tools_now(work), tuple(unmet(work)), moved)

    def explain(self, snapshot: Snapshot) -> Explanation:
        """Why the session stands where it stands; values of pii keys, and what repeats them, are
        masked."""
        work = Work(self.compiled, snapshot, snapshot.at)
        return explanation_of(work, hidden(work))


def _first_fact(flow: CompiledFlow, at: int) -> SessionStarted:
    return SessionStarted(
        flow.flow.flow, flow.flow.version, flow.hash, VERSION, locale_hash(), _TZDATA, at
    )


def _came_to_rest(work: Work, before: Snapshot) -> None:
    """Phases were entered: say what is said there, and read what was said for them."""
    greet(work)
    was = work.flow.chart.main_leaf(before.place.active)
    if was != work.main_leaf():
        if work.wait.quiet is not None:
            work.wait = work.wait._replace(quiet=(work.at, 0))
        start_in_phase(work)
        read_records(work, "on_phase_change")


def _finish(work: Work) -> Step:
    set_timer(work)
    if work.keys.private:
        veil(work)
    return Step(work.frozen(), tuple(work.facts), tuple(work.effects))


def _failed(flow: CompiledFlow, before: Snapshot, input: Input, error: FlowEngineError) -> Step:
    """What was said and done is kept, what followed from it is not; no other input's values are
    lost by it."""
    work = _recorded(flow, before, input)
    try:
        _settle_waiting(work, before, input)
    except FlowEngineError:
        work = _recorded(flow, before, input)
        if _closes_barrier(work, input):
            close_empty(work)
        decide_waiting(work)
    work.facts.append(InputFailed(input.id, error.code, _place(error)))
    return _finish(work)._replace(error=error)


def _recorded(flow: CompiledFlow, before: Snapshot, input: Input) -> Work:
    """The record part of an input, with the ends that it means whatever follows."""
    work = Work(flow, before, input.at)
    if before.settled and not isinstance(input, Said):
        end_turn_keys(work)
    KINDS[type(input)][0](work, input)
    with suppress(FlowEngineError):
        flow.computed.recompute(work, work.cleared)
    if isinstance(input, Outcome):
        drop_run(work, input)
    elif isinstance(input, ToolCalled):
        deny_failed(work, by_own_name(work, input))
    elif isinstance(input, Heard):
        deny_unheard(work)
    elif isinstance(input, TurnEnded):
        begin_silence(work)
    elif isinstance(input, Timer):
        pass_rung(work)
    return work


def _settle_waiting(work: Work, before: Snapshot, input: Input) -> None:
    """What the barrier holds came with other inputs: it lands without what this one brought."""
    barrier = work.wait.barrier
    if barrier is not None and _closes_barrier(work, input):
        if isinstance(input, TurnEnded):
            settle_older(work)
        elif barrier.staged:
            settle_barrier(work, "timed out" if barrier.runs else "all runs landed")
        else:
            close_empty(work)
    if isinstance(input, TurnEnded):
        work.settled = True
    decide_waiting(work)
    if work.arrived:
        _came_to_rest(work, before)


def _place(error: FlowEngineError) -> str:
    """Where it failed, in names of the flow."""
    if isinstance(error, FunctionError):
        return f"{error.kind} {error.name}"
    return type(error).__name__


def _closes_barrier(work: Work, input: Input) -> bool:
    """The input settles the turn, whether or not what it brought can be kept."""
    barrier = work.wait.barrier
    if isinstance(input, TurnEnded):
        return True
    is_due = isinstance(input, Timer) and barrier is not None and barrier.due_at <= work.at
    return barrier is not None and (not barrier.runs or is_due)
