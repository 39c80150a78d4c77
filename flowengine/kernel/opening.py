"""What an open gate does with a call: ask whether it is meant, share the run of an equal call,
repeat its result, or run the tool."""

from __future__ import annotations

from flowengine.effects import AskConfirmation, RunTool, ToolAnswer
from flowengine.facts import ConstraintBroken, ToolDecided
from flowengine.inputs import Json
from flowengine.kernel import ledger
from flowengine.kernel.admission import Refusal, observed
from flowengine.kernel.answers import deny, finish, hold, open_run, remember
from flowengine.kernel.snapshot import Call, Run
from flowengine.kernel.work import Work
from flowengine.tools.names import told_name
from flowengine.tools.spec import Tool


def admit(work: Work, id: str, call: Call) -> None:
    """Nothing is in the call's way any more."""
    spec = work.flow.flow.tools[call.tool]
    key, missing = ledger.idempotency_key(work, spec, call.args)
    if missing:
        say = f"{told_name(call.tool)} needs {', '.join(missing)}."
        deny(work, id, call, Refusal("idempotency_key", say, tuple(missing)))
    elif is_repeated(work, id, call):
        return
    elif spec.confirm and not call.confirmed:
        _ask_confirmation(work, id, call, spec)
    else:
        _run(work, id, call, key)


def is_repeated(work: Work, id: str, call: Call) -> bool:
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
        if spec.background:
            work.facts.append(ToolDecided(id, call.tool, False, "repeated", ()))
            remember(work, id, call, ToolAnswer("accepted"))
        return True
    work.facts.append(ToolDecided(id, call.tool, False, "repeated", ()))
    finish(work, id, call, ToolAnswer("ran", earlier.value, "repeated"))
    return True


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


def _ask_confirmation(work: Work, id: str, call: Call, spec: Tool) -> None:
    effect = work.effect_id()
    question = ledger.filled(work, spec.confirm, call.args)
    work.effects.append(AskConfirmation(effect, id, call.tool, call.args, question))
    open_run(work, effect, Run("confirmation", id, work.transcript.current.number, 0))
    hold(work, id, call._replace(effect=effect))
