"""What a chat shows of a step: where it led, what was captured, what the model is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flowengine.cli.talk import Happened, written
from flowengine.facts import (
    CallEnded,
    ConstraintBroken,
    Decided,
    Fact,
    KeyWritten,
    PromotionDecided,
    ResolverEnded,
    RunEnded,
    ToolDecided,
    as_json,
    canonical_json,
)
from flowengine.flow.uses import is_runtime
from flowengine.inputs import Json
from flowengine.runtime.outcome import Accepted, Denied, Failed, Ran, ToolOutcome, outcome_of
from flowengine.testing import Simulation


def seen(call: Simulation, happened: Happened) -> Iterator[str]:
    """Lines for a person, the most important first."""
    path = happened.path
    yield f"[{call.phase}]" + (f"  {' → '.join(path)}" if len(path) > 1 else "")
    for fact in written(happened.facts):
        if not _is_bookkeeping(call, fact.key) and (happened.before or fact.by != "computed"):
            yield f"  {_change(call, fact)}"
    yield from (line for fact in happened.facts for line in _told(fact))
    for each in happened.delivered:
        answer = outcome_seen(outcome_of(each.answer)).strip()
        yield f"  delivered ({each.manner}): {each.tool} {answer}"
    for words in happened.said:
        yield f"  says: {words}"
    for words in happened.told:
        yield f"  the model hears: {words}"
    if call.ended:
        yield "  the conversation has ended"
    context = call.context
    if context.unmet:
        yield f"  still needed: {', '.join(context.unmet)}"
    if call.running:
        yield f"  waits for: {', '.join(dict.fromkeys(call.running))}"
    if context.tools:
        yield f"  tools: {', '.join(context.tools)}"
    if context.instruction:
        lines = context.instruction.splitlines()
        yield "\n    ".join([f"  the model is told: {lines[0]}", *lines[1:]])


def state_seen(call: Simulation, every: bool) -> Iterator[str]:
    """What State holds: what the flow speaks of, or every key."""
    values = call.snapshot.values
    shown = [key for key in sorted(values) if every or not _is_kept_behind(call, key)]
    yield from (f"  {key} = {canonical_json(values[key])}" for key in shown)
    if len(shown) < len(values):
        yield f"  {len(values) - len(shown)} more that the runtime keeps: /state all"


def _is_kept_behind(call: Simulation, key: str) -> bool:
    return is_runtime(key) or (_is_bookkeeping(call, key) and not key.endswith(":error"))


def why_seen(call: Simulation) -> Iterator[str]:
    """What each way out waits for: the phase's own first, then what holds in every phase."""
    whole = call.explain()
    edges = call.latest.kernel.compiled.by_name
    wide = {e.edge for e in whole.edges if edges[e.edge].edge.kind in _FLOW_WIDE}
    yield f"In {' > '.join(whole.active)}"
    yield from (str(e) for e in whole.edges if e.edge not in wide)
    if wide:
        yield "\nFrom every phase"
        yield from (str(e) for e in whole.edges if e.edge in wide)


_FLOW_WIDE = ("global", "fallback", "digression")


def _is_bookkeeping(call: Simulation, key: str) -> bool:
    """That an extraction went well, and its fields once more as a whole."""
    name, sign, part = key.partition(":")
    extractors = {spec.name for spec in call.latest.kernel.compiled.flow.extract}
    return name in extractors and (not sign or part in ("status", "error"))


def _change(call: Simulation, fact: KeyWritten) -> str:
    """A key with its value now, and the caller's words that it was read from."""
    value: Json = call.snapshot.values.get(fact.key)
    if value is None:
        return f"{fact.key} is cleared"
    shown = f"{fact.key} = {canonical_json(value)}"
    if fact.span is None:
        return shown + ("  (not in the caller's words)" if fact.by.startswith("extractor:") else "")
    turns = {turn.number: turn.user for turn in call.snapshot.transcript.turns}
    words = turns.get(fact.turn, "")[slice(*fact.span)]
    return shown + (f"  “{words}”" if words else "")


def _told(fact: Fact) -> Iterator[str]:
    """What was asked for and how it ended, where no key says so."""
    match fact:
        case Decided(id, outcome, confidence):
            yield f"  decided: {id} {outcome} ({confidence:g})"
        case RunEnded(_, name, status, error) if status != "ok":
            yield f"  {name} failed: {error or status}"
        case ResolverEnded(name, status, error) if status != "ok":
            yield f"  {name} failed: {error or status}"
        case PromotionDecided(source, field, _, False, reason):
            yield f"  refused: {field} of {source} ({reason})"
        case ConstraintBroken(constraint, _, tool, phase):
            yield f"  {tool or phase} broke a rule that is only observed: {constraint}"
        case _:
            pass


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
        case Accepted():
            return "  accepted: it runs in the background"
        case None:
            return "  waits"
        case _:
            return "  cancelled"


def calls_seen(call: Simulation, happened: Happened) -> Iterator[str]:
    """How calls ended that had been waiting; a result in the background is delivered instead."""
    ended = (
        fact.call for fact in happened.facts
        if isinstance(fact, CallEnded) or (isinstance(fact, ToolDecided) and not fact.admitted)
    )  # fmt: skip
    outcomes = (call.outcomes.get(id) for id in ended)
    yield from (outcome_seen(o) for o in outcomes if not isinstance(o, Accepted | None))


def facts_seen(facts: Iterable[Fact]) -> Iterator[str]:
    """Each fact as one line of JSON."""
    return (f"  {canonical_json(as_json(fact))}" for fact in facts)
