"""The gate: whether a tool call runs, decided when it is asked and, if it waits, once more.

A call refused only because a guard has not held waits for what may make it hold - open runs, and
runs on the words of the turn in progress - until its deadline; nothing else makes a call wait.
"""

from __future__ import annotations

from collections.abc import Iterable

from flowengine.effects import AskConfirmation, RunTool, ToolAnswer
from flowengine.errors import FlowEngineError
from flowengine.facts import ConstraintBroken, InputIgnored, ToolDecided
from flowengine.inputs import Json, Outcome, ToolCalled
from flowengine.kernel import ledger
from flowengine.kernel.admission import Refusal, denial, observed, reads_of, refusals
from flowengine.kernel.arguments import accepted
from flowengine.kernel.calls import answer_call, finish, hold, in_order, open_run, remember
from flowengine.kernel.fields import is_being_resolved
from flowengine.kernel.questions import is_being_asked
from flowengine.kernel.settle import rest, settle
from flowengine.kernel.snapshot import Call, Run
from flowengine.kernel.unread import ask_for_keys, land_waiting, read_words
from flowengine.kernel.work import Work
from flowengine.tools.spec import Tool

DEADLINE = 1_500
"""Milliseconds that a call may wait for the gate."""


def tool_called(work: Work, called: ToolCalled) -> None:
    """Admit the call, deny it, or let it wait; phases move only after it is decided."""
    rest(work)
    earlier = dict(work.wait.answered).get(called.call)
    if earlier is not None:
        work.facts.append(InputIgnored(called.id, "call id already used"))
        answer_call(work, called.call, called.tool, earlier)
    elif called.call in work.wait.calls:
        work.facts.append(InputIgnored(called.id, "call id already used"))
    else:
        _decide(work, called.call, _call(work, called))
    if work.touched:
        settle(work)


def decide_waiting(work: Work) -> None:
    """Ask the gate again for the calls that wait; those past their deadline are denied."""
    for id, call in in_order(work.wait.calls):
        if call.effect or call.joins:
            continue
        try:
            broken = list(refusals(work, call))
        except FlowEngineError as error:
            # Another input is being handled: it must not fail for a guard that is not its own.
            broken = [Refusal("error", f"{call.tool} cannot be decided ({error.code}).")]
        if not broken:
            _admit(work, id, call)
        elif not _may_wait(work, call, broken):
            _deny(work, id, call, broken[0])


def deny_failed(work: Work, called: ToolCalled) -> None:
    """The call's own input has failed, so it cannot run: it gets its one answer."""
    known = {*dict(work.wait.answered), *work.wait.calls}
    if called.call not in known:
        refusal = Refusal("error", f"{called.tool} cannot be decided.")
        _deny(work, called.call, _call(work, called), refusal)


def deny_unconfirmed(work: Work, id: str) -> None:
    """What followed from the confirmation has failed: the call gets its one answer."""
    call = work.wait.calls.get(id)
    if call is not None:
        _deny(work, id, call, Refusal("error", f"{call.tool} cannot be decided."))


def is_awaited(work: Work, keys: Iterable[str]) -> bool:
    """Some call waits for one of these keys."""
    waiting = (call for call in work.wait.calls.values() if not call.effect and not call.joins)
    written = frozenset(keys)
    return any(not reads_of(work, call.tool).isdisjoint(written) for call in waiting)


# -- deciding -------------------------------------------------------------------------------------


def _call(work: Work, called: ToolCalled) -> Call:
    spec = work.flow.flow.tools.get(called.tool)
    args = accepted(called.tool, spec, called.args) if spec is not None else dict(called.args)
    return Call(called.tool, args, work.place.active, work.at + DEADLINE, order=work.seq)


def _decide(work: Work, id: str, call: Call) -> None:
    if _is_repeated(work, id, call):
        return
    reads = reads_of(work, call.tool)
    land_waiting(work, reads)
    # What cannot be undone never runs past a word that the caller has already said.
    staged = read_words(work, reads) if _is_commit(work, call.tool) else ()
    broken = list(refusals(work, call))
    if broken and _is_soft(broken):
        staged = staged or read_words(work, reads)
        ask_for_keys(work, reads, staged)
        broken = list(refusals(work, call))
    if not broken:
        _admit(work, id, call)
    elif _may_wait(work, call, broken):
        hold(work, id, call)
    else:
        _deny(work, id, call, broken[0])


def _is_commit(work: Work, tool: str) -> bool:
    return tool in work.flow.tools and work.flow.flow.tools[tool].commit


def _is_soft(broken: list[Refusal]) -> bool:
    return all(refusal.soft for refusal in broken)


def _may_wait(work: Work, call: Call, broken: list[Refusal]) -> bool:
    """Only guards are in its way, it has time left, and an open run may write what they read."""
    if work.at >= call.due_at or not _is_soft(broken):
        return False
    reads = reads_of(work, call.tool)
    open_runs = {run.name for run in work.wait.runs.values() if run.kind == "extractor"}
    if any(
        not reads.isdisjoint(extractor.written)
        for extractor in work.flow.extractors.values()
        if extractor.name in open_runs
    ):
        return True
    return is_being_asked(work, reads) or is_being_resolved(work, reads)


def _admit(work: Work, id: str, call: Call) -> None:
    """The gate is open: confirm, join an equal call under way, repeat its result, or run."""
    spec = work.flow.flow.tools[call.tool]
    key, missing = ledger.idempotency_key(work, spec, call.args)
    if missing:
        say = f"{call.tool} needs {', '.join(missing)}."
        _deny(work, id, call, Refusal("idempotency_key", say, tuple(missing)))
    elif _is_repeated(work, id, call):
        return
    elif spec.confirm and not call.confirmed:
        _ask_confirmation(work, id, call, spec)
    else:
        _run(work, id, call, key)


def _run(work: Work, id: str, call: Call, key: str) -> None:
    effect, spec = work.effect_id(), work.flow.flow.tools[call.tool]
    for refusal in observed(work, call):
        assert refusal.constraint is not None
        rule = work.flow.constraints[refusal.constraint]
        work.facts.append(ConstraintBroken(rule.text, id, call.tool))
    work.facts.append(ToolDecided(id, call.tool, True, "", ()))
    work.effects.append(RunTool(effect, id, call.tool, call.args, key))
    ledger.reserve(work, id, call, key)
    kept: dict[str, Json] = {"tool": call.tool}
    if spec.compensate_with:
        kept["args"] = dict(call.args)
    order = work.seq * 1000 + len(work.effects)
    open_run(work, effect, Run("tool", id, work.transcript.newest, order, kept))
    running = call._replace(effect=effect)
    if spec.background:
        remember(work, id, call, ToolAnswer("accepted"))
    hold(work, id, running)


def _is_repeated(work: Work, id: str, call: Call) -> bool:
    """The same thing again: wait for the run under way, or answer with what came of it."""
    spec = work.flow.flow.tools.get(call.tool)
    if spec is None or spec.idempotency_key is None:
        return False
    key, _ = ledger.idempotency_key(work, spec, call.args)
    earlier = ledger.same_key(work, call.tool, key)
    if earlier is None:
        return False
    if earlier.running:
        hold(work, id, call._replace(joins=earlier.call))
        return True
    work.facts.append(ToolDecided(id, call.tool, False, "repeated", ()))
    finish(work, id, call, ToolAnswer("ran", earlier.value, "repeated"))
    return True


def _ask_confirmation(work: Work, id: str, call: Call, spec: Tool) -> None:
    effect = work.effect_id()
    question = ledger.filled(work, spec.confirm, call.args)
    work.effects.append(AskConfirmation(effect, id, call.tool, call.args, question))
    open_run(work, effect, Run("confirmation", id, work.transcript.current.number, 0))
    hold(work, id, call._replace(effect=effect))


def confirmation_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """Someone agreed or declined; what they agreed to must still be allowed."""
    call = work.wait.calls.get(run.name)
    if call is not None:
        call = call._replace(effect="", confirmed=True)
        if outcome.status == "ok" and outcome.value is True:
            broken = list(refusals(work, call))
            if broken:
                _deny(work, run.name, call, broken[0])
            else:
                _admit(work, run.name, call)
        else:
            reason = f": {outcome.value}" if isinstance(outcome.value, str) else ""
            say = f"{call.tool} was not confirmed{reason}."
            _deny(work, run.name, call, Refusal("declined", say))
    settle(work)


def _deny(work: Work, id: str, call: Call, refusal: Refusal) -> None:
    work.facts.append(ToolDecided(id, call.tool, False, refusal.kind, refusal.missing))
    answer = denial(work, refusal.kind, refusal.say, refusal.missing)
    finish(work, id, call, answer)
