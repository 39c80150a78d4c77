"""The ends of tool calls: what the model gets, and what follows from a result."""

from __future__ import annotations

from flowengine.effects import Cancel, Deliver, RunTool, ToolAnswer
from flowengine.facts import CallEnded, ToolDecided, canonical_json
from flowengine.inputs import Json, Outcome
from flowengine.kernel import ledger
from flowengine.kernel.answers import finish, hold, in_order, let_go, open_run
from flowengine.kernel.appending import insert
from flowengine.kernel.repair import count_failure
from flowengine.kernel.runs import start_after_tool
from flowengine.kernel.settle import settle
from flowengine.kernel.snapshot import Call, Run
from flowengine.kernel.turn import read_records
from flowengine.kernel.work import NEWEST, Work
from flowengine.state.evidence import Evidence
from flowengine.transcript import ToolCall

SHOWN = 200
"""Characters of a call's arguments and of its result that the transcript keeps."""
NEVER_BEGAN = ("invalid_arguments", "not_allowed", "missing_value", "unknown_server")
"""Codes of failures that come before a tool has been asked."""


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
    _answer(work, id, call, answer)
    _answer_joined(work, id, answer)


def call_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """A tool has answered: its keys are written, and phases may move."""
    tool, id = str(run.args["tool"]), run.name
    corrected = entry_closed(work, outcome, run)
    if outcome.status == "ok":
        _write_result(work, tool, outcome.value, corrected, run)
    else:
        if outcome.status != "cancelled":
            count_failure(work, tool)
        if _may_have_run(work, tool, outcome):
            _compensate(work, id, tool, run)
    settle(work)
    start_after_tool(work)
    read_records(work, "after_tool_call")


def entry_closed(work: Work, outcome: Outcome, run: Run) -> tuple[str, ...]:
    """What limits and guards know of the run, whatever follows; the keys corrected meanwhile."""
    tool, id = str(run.args["tool"]), run.name
    entry = ledger.entry_of(work, tool, id)
    if outcome.status != "ok":
        ledger.release(work, tool, id)
        if outcome.status != "cancelled":
            _note_failed(work, tool, True)
        return ()
    ledger.keep(work, tool, id, outcome.value)
    limit = work.flow.flow.tools[tool].limit
    if entry is None or not (entry.void and limit == "per_correction"):
        work.wait = work.wait._replace(succeeded=work.wait.succeeded | {tool})
        work.touched.add(f"@called:{tool}")
    _note_failed(work, tool, False)
    if f"compensated:{tool}" in work.values:
        work.note(f"compensated:{tool}", None)
    return entry.corrected if entry else ()


def _may_have_run(work: Work, tool: str, outcome: Outcome) -> bool:
    """Something may have been done: it did not fail before it began, nor was it called off."""
    if outcome.status == "cancelled":
        return work.flow.flow.tools[tool].commit
    return outcome.error not in NEVER_BEGAN


def compensation_ended(work: Work, outcome: Outcome, run: Run) -> None:
    """What failed was undone, or not."""
    failed = str(run.args["for"])
    work.facts.append(CallEnded(run.name, str(run.args["tool"]), outcome.status, outcome.error))
    if outcome.status == "ok":
        work.note(f"compensated:{failed}", True)
    settle(work)


def cancel_calls(work: Work) -> None:
    """The caller spoke over the model: what it had asked for is no longer wanted.

    A call that runs ends when the shell says that it has been cancelled, and with it those that
    share its run; a commit is not stopped half-way.
    """
    for id, call in in_order(work.wait.calls):
        if call.joins:
            continue
        run = work.wait.runs.get(call.effect)
        if run is not None and run.kind == "tool":
            if not work.flow.flow.tools[call.tool].finishes:
                work.effects.append(Cancel(work.effect_id(), call.effect))
                hold(work, id, call._replace(unwanted=True))
            continue
        if run is not None:
            work.effects.append(Cancel(work.effect_id(), call.effect))
            runs = {k: v for k, v in work.wait.runs.items() if k != call.effect}
            work.wait = work.wait._replace(runs=runs)
        work.facts.append(CallEnded(id, call.tool, "cancelled", "interrupted"))
        finish(work, id, call, ToolAnswer("cancelled", kind="interrupted"))


def _compensate(work: Work, id: str, tool: str, run: Run) -> None:
    """Undo what may have been half done, with the arguments of the call that failed."""
    other = work.flow.flow.tools[tool].compensate_with
    if other is None:
        return
    effect, args = work.effect_id(), run.args.get("args")
    given = dict(args) if isinstance(args, dict) else {}
    work.effects.append(RunTool(effect, f"{id}:compensation", other, given))
    kept: dict[str, Json] = {"tool": other, "for": tool, "args": given}
    open_run(work, effect, Run("compensation", f"{id}:compensation", run.turn, 0, kept))


def _answer(work: Work, id: str, call: Call, answer: ToolAnswer) -> None:
    """A call that was accepted to run in the background has its answer: the result is delivered."""
    manner = work.flow.flow.tools[call.tool].background
    if manner is None:
        finish(work, id, call, answer)
    else:
        let_go(work, id)
        work.effects.append(Deliver(work.effect_id(), id, call.tool, answer, manner))


def _answer_joined(work: Work, id: str, answer: ToolAnswer) -> None:
    """Equal calls share the outcome."""
    repeated = answer._replace(kind=answer.kind or "repeated")
    for other, call in in_order(work.wait.calls):
        if call.joins == id:
            if not work.flow.flow.tools[call.tool].background:
                work.facts.append(ToolDecided(other, call.tool, False, "repeated", ()))
            _answer(work, other, call, repeated)


def _note_failed(work: Work, tool: str, failed: bool) -> None:
    """Whether the last run of the tool failed, as `failed(tool)` asks."""
    now = work.wait.failed | {tool} if failed else work.wait.failed - {tool}
    if now != work.wait.failed:
        work.wait = work.wait._replace(failed=now)
        work.touched.add(f"@resolved:{tool}")


def _write_result(work: Work, tool: str, value: Json, corrected: tuple[str, ...], run: Run) -> None:
    """Promote the response; what rests on a key corrected meanwhile is out of date."""
    spec, by = work.flow.flow.tools[tool], f"tool:{tool}"
    stale = {name for key in corrected for name in work.flow.dependents.get(key, ())}
    if spec.save_as and spec.save_as not in stale:
        _write(work, spec.save_as, value, by, run)
    for key, template in spec.set.items():
        if key not in stale:
            _write(work, key, _promoted(template, value), by, run)


def _write(work: Work, key: str, value: Json, by: str, run: Run) -> None:
    """Words newer than the call stand; lists keep the order in which the calls were made."""
    if value is not None and work.keys.spec(key).merge == "append":
        insert(work, key, value, by, run.order)
    elif value is None:
        work.drop(key, by)
    else:
        work.offer(key, value, Evidence(by, run.turn, NEWEST))


def _promoted(template: Json, result: Json) -> Json:
    """`result` and `result.a.b` read the response; anything else is itself."""
    if not isinstance(template, str) or template.partition(".")[0] != "result":
        return template
    for part in template.split(".")[1:]:
        result = result.get(part) if isinstance(result, dict) else None
    return result
