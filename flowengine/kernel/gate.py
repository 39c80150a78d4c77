"""The gate: whether a tool call may run, decided at once on committed State.

A call refused only because its guard has not held waits for the open runs that may write what the
guard reads, until its deadline; nothing else makes a call wait.
"""

from __future__ import annotations

from flowengine.effects import AnswerTool, Cancel, RunTool, ToolAnswer
from flowengine.errors import FlowEngineError
from flowengine.extract.spec import ExtractSpec
from flowengine.facts import CallEnded, InputIgnored, ToolDecided
from flowengine.guards import Guard, explain, names_of
from flowengine.inputs import NOTHING, Json, Outcome, ToolCalled
from flowengine.kernel.runs import start_after_tool, targets
from flowengine.kernel.settle import rest, settle
from flowengine.kernel.snapshot import Call, Run
from flowengine.kernel.work import Work
from flowengine.tools.spec import Tool

DEADLINE = 1_500
"""Milliseconds that a call may wait for the gate."""
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
        if call.effect:
            continue
        try:
            denial = _refusal(work, call)
        except FlowEngineError as error:
            # Another input is being handled: it must not fail for a guard that is not its own.
            denial = _denial(work, "error", f"{call.tool} cannot be decided ({error.code}).")
        if denial is None:
            _admit(work, id, call)
        elif denial.kind != "guard" or not _runs_worth_waiting_for(work, call):
            _deny(work, id, call, denial)


def deny_failed(work: Work, called: ToolCalled) -> None:
    """The call's own input has failed, so it cannot run: it gets its one answer."""
    known = {*dict(work.wait.answered), *work.wait.calls}
    if called.call not in known:
        denial = _denial(work, "error", f"{called.tool} cannot be decided.")
        _deny(work, called.call, _call(work, called), denial)


def is_awaited(work: Work, spec: ExtractSpec) -> bool:
    """Some call waits for keys that this extractor may write."""
    waiting = (call for call in work.wait.calls.values() if not call.effect)
    return any(not _guard_reads(work, call).isdisjoint(targets(spec)) for call in waiting)


def call_recorded(work: Work, outcome: Outcome, run: Run) -> None:
    """The record part: the tool has run, and the model gets its answer whatever follows."""
    id = run.name
    call = work.wait.calls.get(id)
    if call is None:
        return
    work.facts.append(CallEnded(id, call.tool, outcome.status, outcome.error))
    status = {"ok": "ran", "cancelled": "cancelled"}.get(outcome.status, "failed")
    _finish(work, id, call, ToolAnswer(status, outcome.value, kind=outcome.error))


def call_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """A tool has answered: its keys are written, and phases may move."""
    tool = str(run.args["tool"])
    if outcome.status == "ok":
        work.wait = work.wait._replace(succeeded=work.wait.succeeded | {tool})
        work.touched.add(f"@called:{tool}")
        _write_result(work, tool, outcome.value)
    settle(work)
    start_after_tool(work)


def cancel_calls(work: Work) -> None:
    """The caller spoke over the model: what it had asked for is no longer wanted.

    A call that runs ends when the shell says that it has been cancelled.
    """
    for id, call in work.wait.calls.items():
        if call.effect:
            work.effects.append(Cancel(work.effect_id(), call.effect))
        else:
            work.facts.append(CallEnded(id, call.tool, "cancelled", "interrupted"))
            _finish(work, id, call, ToolAnswer("cancelled", kind="interrupted"))


def tools_now(work: Work) -> tuple[str, ...]:
    """The tools that the active phases offer, whether or not their guards hold yet."""
    if work.place.ended:
        return ()
    return tuple(
        name for name in work.flow.flow.tools if _is_offered(work, name, work.place.active)
    )


def _is_offered(work: Work, tool: str, active: tuple[str, ...]) -> bool:
    rules = [r for name in active if (r := work.flow.phases[name].phase.tools)]
    if any(tool in rule.deny for rule in rules):
        return False
    allowing = [rule.allow for rule in rules if rule.allow is not None]
    return not allowing or any(tool in allow for allow in allowing)


def _refusal(work: Work, call: Call) -> ToolAnswer | None:
    """Why the call may not run; None if it may."""
    if call.tool not in work.flow.tools:
        return _denial(work, "unknown_tool", f"There is no tool {call.tool!r}.")
    if work.place.ended:
        return _denial(work, "ended", "The conversation has ended.")
    if not _is_offered(work, call.tool, call.active):
        return _denial(work, "phase", f"{call.tool} is not available at this point.")
    absent = [name for name in _required(work.flow.flow.tools[call.tool]) if name not in call.args]
    if absent:
        return _denial(work, "arguments", f"{call.tool} needs {', '.join(absent)}.", absent)
    guard = work.flow.tools[call.tool].guard
    if guard is None:
        return None
    work.args = call.args
    missing = None if guard.test(work) else _missing(work, guard.guard)
    work.args = NOTHING
    if missing is None:
        return None
    return _denial(work, "guard", f"{call.tool} cannot run before {guard.text}.", missing)


def _missing(work: Work, guard: Guard) -> list[str]:
    """The keys that hold nothing and keep the guard from holding."""
    custom = work.flow.functions.of("guard")
    keys = frozenset(names_of(guard, "key"))
    blockers = explain(guard, work.keys, work, functions=custom).blockers()
    missing = dict.fromkeys(name for blocker in blockers for name in blocker.missing)
    return [name for name in missing if name in keys]


def _required(tool: Tool) -> list[str]:
    """Arguments are required unless their schema gives a default."""
    return [name for name, schema in tool.args.items() if "default" not in schema]


def _denial(work: Work, kind: str, say: str, missing: list[str] | None = None) -> ToolAnswer:
    return ToolAnswer("denied", None, kind, tuple(missing or ()), tools_now(work), say)


def _runs_worth_waiting_for(work: Work, call: Call) -> bool:
    if work.at >= call.due_at:
        return False
    open_runs = {run.name for run in work.wait.runs.values() if run.kind == "extractor"}
    writers = (spec for spec in work.flow.flow.extract if spec.name in open_runs)
    reads = _guard_reads(work, call)
    return any(not reads.isdisjoint(targets(spec)) for spec in writers)


def _guard_reads(work: Work, call: Call) -> frozenset[str]:
    guard = work.flow.tools[call.tool].guard
    return guard.reads if guard else frozenset()


def _call(work: Work, called: ToolCalled) -> Call:
    return Call(called.tool, dict(called.args), work.place.active, work.at + DEADLINE)


def _decide(work: Work, id: str, call: Call) -> None:
    denial = _refusal(work, call)
    if denial is None:
        _admit(work, id, call)
    elif denial.kind == "guard" and _runs_worth_waiting_for(work, call):
        work.wait = work.wait._replace(calls={**work.wait.calls, id: call})
    else:
        _deny(work, id, call, denial)


def _admit(work: Work, id: str, call: Call) -> None:
    effect = work.effect_id()
    work.facts.append(ToolDecided(id, call.tool, True, "", ()))
    work.effects.append(RunTool(effect, id, call.tool, call.args))
    run = Run("tool", id, work.transcript.current.number, 0, {"tool": call.tool})
    admitted = call._replace(effect=effect)
    work.wait = work.wait._replace(
        calls={**work.wait.calls, id: admitted}, runs={**work.wait.runs, effect: run}
    )


def _deny(work: Work, id: str, call: Call, denial: ToolAnswer) -> None:
    work.facts.append(ToolDecided(id, call.tool, False, denial.kind, denial.missing))
    _finish(work, id, call, denial)


def _finish(work: Work, id: str, call: Call, answer: ToolAnswer) -> None:
    """The one terminal answer of a call id."""
    calls = {k: v for k, v in work.wait.calls.items() if k != id}
    answered = (*work.wait.answered, (id, answer))[-REMEMBERED:]
    work.wait = work.wait._replace(calls=calls, answered=answered)
    _answer(work, id, call.tool, answer)


def _answer(work: Work, id: str, tool: str, answer: ToolAnswer) -> None:
    work.effects.append(AnswerTool(work.effect_id(), id, tool, answer))


def _write_result(work: Work, tool: str, value: Json) -> None:
    spec, by = work.flow.flow.tools[tool], f"tool:{tool}"
    if spec.save_as:
        work.put(spec.save_as, value, by)
    for key, template in spec.set.items():
        work.put(key, _promoted(template, value), by)


def _promoted(template: Json, result: Json) -> Json:
    """`result` and `result.a.b` read the response; anything else is itself."""
    if not isinstance(template, str) or template.partition(".")[0] != "result":
        return template
    for part in template.split(".")[1:]:
        result = result.get(part) if isinstance(result, dict) else None
    return result
