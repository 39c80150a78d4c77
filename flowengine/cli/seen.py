"""What a chat shows of a step: where it led, what was captured, what the model is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flowengine.cli.talk import Happened, written
from flowengine.facts import Fact, KeyWritten, as_json, canonical_json
from flowengine.inputs import Json
from flowengine.runtime.outcome import Denied, Failed, Ran, ToolOutcome
from flowengine.testing import Simulation


def seen(call: Simulation, happened: Happened) -> Iterator[str]:
    """Lines for a person, the most important first."""
    path = happened.path
    yield f"[{call.phase}]" + (f"  {' → '.join(path)}" if len(path) > 1 else "")
    for fact in written(happened.facts):
        yield f"  {_change(call, fact)}"
    for words in happened.said:
        yield f"  says: {words}"
    for words in happened.told:
        yield f"  the model hears: {words}"
    if call.ended:
        yield "  the conversation has ended"
    context = call.context
    if context.unmet:
        yield f"  still needed: {', '.join(context.unmet)}"
    if context.tools:
        yield f"  tools: {', '.join(context.tools)}"
    if context.instruction:
        lines = context.instruction.splitlines()
        yield "\n    ".join([f"  the model is told: {lines[0]}", *lines[1:]])


def _change(call: Simulation, fact: KeyWritten) -> str:
    """A key with its value now, and the caller's words that it was read from."""
    value: Json = call.snapshot.values.get(fact.key)
    if value is None:
        return f"{fact.key} is cleared"
    words = ""
    if fact.span is not None:
        turns = {turn.number: turn.user for turn in call.snapshot.transcript.turns}
        words = turns.get(fact.turn, "")[slice(*fact.span)]
    return f"{fact.key} = {canonical_json(value)}" + (f"  “{words}”" if words else "")


def outcome_seen(outcome: ToolOutcome | None) -> str:
    """How a tool call ended, in one line."""
    match outcome:
        case Ran(value):
            return f"  ran: {canonical_json(value)}"
        case Denied(kind, missing, available, say):
            needs = f"; missing: {', '.join(missing)}" if missing else ""
            may = f"; may be called: {', '.join(available)}" if available else ""
            return f"  denied ({kind}){needs}{may}" + (f"\n  {say}" if say else "")
        case Failed(error):
            return f"  failed: {error}"
        case None:
            return "  waits"
        case _:
            return "  cancelled"


def facts_seen(facts: Iterable[Fact]) -> Iterator[str]:
    """Each fact as one line of JSON."""
    return (f"  {canonical_json(as_json(fact))}" for fact in facts)
