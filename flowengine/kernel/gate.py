"""The gate: the life of a tool call, from the model's asking to its one answer.

A call refused only because a guard has not held waits for what may make it hold - open runs, and
runs on the words of the turn in progress - until its deadline; nothing else makes a call wait.
"""

from __future__ import annotations

from flowengine.effects import AnswerTool, AskConfirmation, Cancel, Deliver, RunTool, ToolAnswer
from flowengine.errors import FlowEngineError
from flowengine.extract.spec import ExtractSpec
from flowengine.facts import (
    CallEnded,
    ConstraintBroken,
    InputIgnored,
    ToolDecided,
    canonical_json,
)
from flowengine.inputs import Json, Outcome, ToolCalled
from flowengine.kernel import ledger
from flowengine.kernel.admission import Refusal, denial, observed, reads_of, refusals
from flowengine.kernel.appending import insert
from flowengine.kernel.questions import is_being_asked
from flowengine.kernel.repair import count_failure
from flowengine.kernel.runs import start_after_tool, targets
from flowengine.kernel.settle import rest, settle
from flowengine.kernel.snapshot import Call, Run
from flowengine.kernel.turn import read_records
from flowengine.kernel.unread import read_for_call
from flowengine.kernel.work import Work
from flowengine.tools.spec import Tool
from flowengine.transcript import ToolCall

DEADLINE = 1_500
"""Milliseconds that a call may wait for the gate."""
SHOWN = 200
"""Characters of a call's arguments and of its result that the transcript keeps."""
REMEMBERED = 32
"""Ended calls whose answer is kept, so that asking twice gives the same."""


def tool_called(work: Work, called: ToolCalled) -> None:
    """Admit the call, deny it, or let it wait; phases move only after it is decided."""
    rest(work)
    earlier = dict(work.wait.answered).get(called.call)
    if earlier is not None:
        work.facts.append(InputIgnored(called.id, "call id already used"))
        _answer(work, called.call, called.tool, earlier)
    elif called.call in work.wait.calls:
        work.facts.append(InputIgnored(called.id, "call id already used"))
    else:
        _decide(work, called.call, _call(work, called))
    if work.touched:
        settle(work)


def decide_waiting(work: Work) -> None:
    """Ask the gate again for the calls that wait; those past their deadline are denied."""
    for id, call in list(work.wait.calls.items()):
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


def is_awaited(work: Work, spec: ExtractSpec) -> bool:
    """Some call waits for keys that this extractor may write."""
    waiting = (call for call in work.wait.calls.values() if not call.effect and not call.joins)
    return any(not reads_of(work, call.tool).isdisjoint(targets(spec)) for call in waiting)


# -- deciding -------------------------------------------------------------------------------------


def _call(work: Work, called: ToolCalled) -> Call:
    return Call(called.tool, dict(called.args), work.place.active, work.at + DEADLINE)


def _decide(work: Work, id: str, call: Call) -> None:
    broken = list(refusals(work, call))
    if broken and _is_soft(broken) and read_for_call(work, reads_of(work, call.tool)):
        broken = list(refusals(work, call))
    if not broken:
        _admit(work, id, call)
    elif _may_wait(work, call, broken):
        _hold(work, id, call)
    else:
        _deny(work, id, call, broken[0])


def _is_soft(broken: list[Refusal]) -> bool:
    return all(refusal.soft for refusal in broken)


def _may_wait(work: Work, call: Call, broken: list[Refusal]) -> bool:
    """Only guards are in its way, it has time left, and an open run may write what they read."""
    if work.at >= call.due_at or not _is_soft(broken):
        return False
    reads = reads_of(work, call.tool)
    open_runs = {run.name for run in work.wait.runs.values() if run.kind == "extractor"}
    if any(
        not reads.isdisjoint(targets(spec))
        for spec in work.flow.flow.extract
        if spec.name in open_runs
    ):
        return True
    return is_being_asked(work, reads)


def _admit(work: Work, id: str, call: Call) -> None:
    """The gate is open: confirm, join an equal call under way, repeat its result, or run."""
    spec = work.flow.flow.tools[call.tool]
    key, missing = ledger.idempotency_key(work, spec, call.args)
    earlier = ledger.same_key(work, call.tool, key)
    if missing:
        say = f"{call.tool} needs {', '.join(missing)}."
        _deny(work, id, call, Refusal("idempotency_key", say, tuple(missing)))
    elif earlier is not None:
        _repeat(work, id, call, earlier)
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
    _open(work, effect, Run("tool", id, work.transcript.current.number, order, kept))
    running = call._replace(effect=effect)
    if spec.background:
        _remember(work, id, call, ToolAnswer("accepted"))
    _hold(work, id, running)


def _repeat(work: Work, id: str, call: Call, earlier: ledger.Entry) -> None:
    """The same thing again: wait for the run under way, or answer with what came of it."""
    if earlier.running:
        _hold(work, id, call._replace(joins=earlier.call))
        return
    work.facts.append(ToolDecided(id, call.tool, False, "repeated", ()))
    _remember(work, id, call, ToolAnswer("ran", earlier.value, "repeated"))


def _ask_confirmation(work: Work, id: str, call: Call, spec: Tool) -> None:
    effect = work.effect_id()
    question = spec.confirm if isinstance(spec.confirm, str) else ""
    work.effects.append(AskConfirmation(effect, id, call.tool, call.args, question))
    _open(work, effect, Run("confirmation", id, work.transcript.current.number, 0))
    _hold(work, id, call._replace(effect=effect))


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
    _finish(work, id, call, answer)


# -- ending ---------------------------------------------------------------------------------------


def call_recorded(work: Work, outcome: Outcome, run: Run) -> None:
    """The record part: the tool has run, and the model gets its answer whatever follows."""
    id = run.name
    call = work.wait.calls.get(id)
    if call is None:
        return
    work.facts.append(CallEnded(id, call.tool, outcome.status, outcome.error))
    result = canonical_json(outcome.value)[:SHOWN] if outcome.status == "ok" else outcome.error
    shown = ToolCall(call.tool, canonical_json(dict(call.args))[:SHOWN], outcome.status, result)
    work.transcript = work.transcript.called(shown)
    status = {"ok": "ran", "cancelled": "cancelled"}.get(outcome.status, "failed")
    answer = ToolAnswer(status, outcome.value, kind=outcome.error)
    manner = work.flow.flow.tools[call.tool].background
    if manner is None:
        _finish(work, id, call, answer)
    else:
        _forget(work, id)
        work.effects.append(Deliver(work.effect_id(), id, call.tool, answer, manner))
    _answer_joined(work, id, answer)


def call_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """A tool has answered: its keys are written, and phases may move."""
    tool, id = str(run.args["tool"]), run.name
    if outcome.status == "ok":
        entry = ledger.entry_of(work, tool, id)
        ledger.keep(work, tool, id, outcome.value)
        work.wait = work.wait._replace(succeeded=work.wait.succeeded | {tool})
        work.touched.add(f"@called:{tool}")
        _note_failed(work, tool, False)
        corrected = entry.corrected if entry else ()
        _write_result(work, tool, outcome.value, corrected, run.order)
    else:
        ledger.release(work, tool, id)
        if outcome.status != "cancelled":
            _note_failed(work, tool, True)
            count_failure(work, tool)
            _compensate(work, id, tool, run)
    settle(work)
    start_after_tool(work)
    read_records(work, "after_tool_call")


def compensation_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """What failed was undone, or not."""
    failed = str(run.args["for"])
    work.facts.append(CallEnded(run.name, str(run.args["tool"]), outcome.status, outcome.error))
    if outcome.status == "ok":
        work.note(f"compensated:{failed}", True)
    settle(work)


def cancel_calls(work: Work) -> None:
    """The caller spoke over the model: what it had asked for is no longer wanted.

    A call that runs ends when the shell says that it has been cancelled; a commit is not stopped
    half-way.
    """
    for id, call in work.wait.calls.items():
        run = work.wait.runs.get(call.effect)
        if run is not None and run.kind == "tool":
            if not work.flow.flow.tools[call.tool].finishes:
                work.effects.append(Cancel(work.effect_id(), call.effect))
            continue
        if run is not None:
            work.effects.append(Cancel(work.effect_id(), call.effect))
            runs = {k: v for k, v in work.wait.runs.items() if k != call.effect}
            work.wait = work.wait._replace(runs=runs)
        work.facts.append(CallEnded(id, call.tool, "cancelled", "interrupted"))
        _finish(work, id, call, ToolAnswer("cancelled", kind="interrupted"))


def _compensate(work: Work, id: str, tool: str, run: Run) -> None:
    """Undo what may have been half done, with the arguments of the call that failed."""
    other = work.flow.flow.tools[tool].compensate_with
    if other is None:
        return
    effect, args = work.effect_id(), run.args.get("args")
    given = dict(args) if isinstance(args, dict) else {}
    work.effects.append(RunTool(effect, f"{id}:compensation", other, given))
    kept: dict[str, Json] = {"tool": other, "for": tool, "args": given}
    _open(work, effect, Run("compensation", f"{id}:compensation", run.turn, 0, kept))


def _answer_joined(work: Work, id: str, answer: ToolAnswer) -> None:
    for other, call in list(work.wait.calls.items()):
        if call.joins == id:
            work.facts.append(ToolDecided(other, call.tool, False, "repeated", ()))
            _finish(work, other, call, answer._replace(kind=answer.kind or "repeated"))


def _note_failed(work: Work, tool: str, failed: bool) -> None:
    """Whether the last run of the tool failed, as `failed(tool)` asks."""
    now = work.wait.failed | {tool} if failed else work.wait.failed - {tool}
    if now != work.wait.failed:
        work.wait = work.wait._replace(failed=now)
        work.touched.add(f"@resolved:{tool}")


def _finish(work: Work, id: str, call: Call, answer: ToolAnswer) -> None:
    """The one terminal answer of a call id."""
    _forget(work, id)
    _remember(work, id, call, answer)


def _remember(work: Work, id: str, call: Call, answer: ToolAnswer) -> None:
    answered = (*work.wait.answered, (id, answer))[-REMEMBERED:]
    work.wait = work.wait._replace(answered=answered)
    _answer(work, id, call.tool, answer)


def _hold(work: Work, id: str, call: Call) -> None:
    work.wait = work.wait._replace(calls={**work.wait.calls, id: call})


def _forget(work: Work, id: str) -> None:
    calls = {k: v for k, v in work.wait.calls.items() if k != id}
    work.wait = work.wait._replace(calls=calls)


def _open(work: Work, effect: str, run: Run) -> None:
    work.wait = work.wait._replace(runs={**work.wait.runs, effect: run})


def _answer(work: Work, id: str, tool: str, answer: ToolAnswer) -> None:
    work.effects.append(AnswerTool(work.effect_id(), id, tool, answer))


def _write_result(
    work: Work, tool: str, value: Json, corrected: tuple[str, ...], order: int
) -> None:
    """Promote the response; what rests on a key corrected meanwhile is out of date."""
    spec, by = work.flow.flow.tools[tool], f"tool:{tool}"
    stale = {name for key in corrected for name in work.flow.dependents.get(key, ())}
    if spec.save_as and spec.save_as not in stale:
        _write(work, spec.save_as, value, by, order)
    for key, template in spec.set.items():
        if key not in stale:
            _write(work, key, _promoted(template, value), by, order)


def _write(work: Work, key: str, value: Json, by: str, order: int) -> None:
    """Lists that are appended to keep the order in which the calls were made, not answered."""
    if value is not None and work.keys.spec(key).merge == "append":
        insert(work, key, value, by, order)
    else:
        work.put(key, value, by)


def _promoted(template: Json, result: Json) -> Json:
    """`result` and `result.a.b` read the response; anything else is itself."""
    if not isinstance(template, str) or template.partition(".")[0] != "result":
        return template
    for part in template.split(".")[1:]:
        result = result.get(part) if isinstance(result, dict) else None
    return result
