"""The gate: whether a tool call may run, decided at once on committed State.

A call refused only because its guard has not held waits for the open runs that may write what the
guard reads, until its deadline; nothing else makes a call wait.
"""

from __future__ import annotations

from flowengine.effects import AnswerTool, Cancel, RunTool, ToolAnswer
from flowengine.facts import CallEnded, InputIgnored, ToolDecided
from flowengine.flow.model import Tool
from flowengine.guards import names_of
from flowengine.inputs import Json, Outcome, ToolCalled
from flowengine.kernel.settle import settle
from flowengine.kernel.snapshot import Call, Run
from flowengine.kernel.turn import targets
from flowengine.kernel.work import Work

DEADLINE = 1_500
"""Milliseconds that a call may wait for the gate."""
REMEMBERED = 32
"""Ended calls whose answer is kept, so that asking twice gives the same."""


def tool_called(work: Work, called: ToolCalled) -> None:
    """Admit the call, deny it, or let it wait."""
    earlier = dict(work.wait.answered).get(called.call)
    if earlier is not None or called.call in work.wait.calls:
        work.facts.append(InputIgnored(called.id, "call id already used"))
        if earlier is not None:
            _answer(work, called.call, called.tool, earlier)
        return
    call = Call(called.tool, dict(called.args), work.place.active, work.at + DEADLINE)
    denial = _refusal(work, call)
    if denial is None:
        _admit(work, called.call, call)
    elif denial.kind == "guard" and _runs_worth_waiting_for(work, call):
        work.wait = work.wait._replace(calls={**work.wait.calls, called.call: call})
    else:
        _deny(work, called.call, call, denial)


def decide_waiting(work: Work, *, expired: bool = False) -> None:
    """Ask the gate again for the calls that wait; those past their deadline are denied."""
    for id, call in list(work.wait.calls.items()):
        if call.effect:
            continue
        denial = _refusal(work, call)
        if denial is None:
            _admit(work, id, call)
        elif not _runs_worth_waiting_for(work, call) or (expired and work.at >= call.due_at):
            _deny(work, id, call, denial)


def call_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """A tool has answered: its keys are written, the model gets its answer, phases may move."""
    id = run.name
    call = work.wait.calls[id]
    work.facts.append(CallEnded(id, call.tool, outcome.status, outcome.error))
    status = {"ok": "ran", "cancelled": "cancelled"}.get(outcome.status, "failed")
    _finish(work, id, call, ToolAnswer(status, outcome.value, kind=outcome.error))
    if outcome.status == "ok":
        succeeded = work.wait.succeeded | {call.tool}
        work.wait = work.wait._replace(succeeded=succeeded)
        work.touched.add(f"@called:{call.tool}")
        _write_result(work, call.tool, outcome.value)
    settle(work)


def cancel_calls(work: Work) -> None:
    """The caller spoke over the model: what it had asked for is no longer wanted."""
    for call in work.wait.calls.values():
        if call.effect:
            work.effects.append(Cancel(work.effect_id(), call.effect))


def tools_now(work: Work) -> tuple[str, ...]:
    """The tools that the active phases offer, whether or not their guards hold yet."""
    if work.place.ended:
        return ()
    return tuple(name for name in work.flow.flow.tools if _is_offered(work, name))


def _is_offered(work: Work, tool: str) -> bool:
    rules = [r for name in work.place.active if (r := work.flow.phases[name].phase.tools)]
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
    if not _is_offered(work, call.tool):
        return _denial(work, "phase", f"{call.tool} is not available at this point.")
    absent = [name for name in _required(work.flow.flow.tools[call.tool]) if name not in call.args]
    if absent:
        return _denial(work, "arguments", f"{call.tool} needs {', '.join(absent)}.", absent)
    guard = work.flow.tools[call.tool].guard
    if guard is None:
        return None
    work.args = call.args
    if guard.test(work):
        return None
    missing = [key for key in names_of(guard.guard, "key") if work.find(key) is None]
    return _denial(work, "guard", f"{call.tool} cannot run before {guard.text}.", missing)


def _required(tool: Tool) -> list[str]:
    """Arguments are required unless their schema gives a default."""
    return [name for name, schema in tool.args.items() if "default" not in schema]


def _denial(work: Work, kind: str, say: str, missing: list[str] | None = None) -> ToolAnswer:
    return ToolAnswer("denied", None, kind, tuple(missing or ()), tools_now(work), say)


def _runs_worth_waiting_for(work: Work, call: Call) -> bool:
    if work.at >= call.due_at:
        return False
    guard = work.flow.tools[call.tool].guard
    reads = guard.reads if guard else frozenset[str]()
    open_runs = {run.name for run in work.wait.runs.values() if run.kind == "extractor"}
    writers = (spec for spec in work.flow.flow.extract if spec.name in open_runs)
    return any(not reads.isdisjoint(targets(spec)) for spec in writers)


def _admit(work: Work, id: str, call: Call) -> None:
    effect = work.effect_id()
    work.facts.append(ToolDecided(id, call.tool, True, "", ()))
    work.effects.append(RunTool(effect, id, call.tool, call.args))
    run = Run("tool", id, work.transcript.current.number, 0)
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
