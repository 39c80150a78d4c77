"""Effects of a session that had been asked for when it was put away, asked for again.

They keep their ids, so an answer that comes twice is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.effects import (
    AskConfirmation,
    Cancel,
    Effect,
    Resolve,
    RunExtractor,
    RunFunction,
    RunTool,
    SetTimer,
)
from flowengine.kernel.ledger import entry_of, filled
from flowengine.kernel.questions import decide_again
from flowengine.kernel.runs import known_to
from flowengine.kernel.snapshot import Run
from flowengine.kernel.work import Work


def open_effects(work: Work) -> Iterator[Effect]:
    """What a session still waits for, in the order in which it was asked."""
    for effect, run in sorted(work.wait.runs.items(), key=lambda each: _asked(each[0])):
        yield _again(work, effect, run)
        if run.kind == "tool" and work.wait.calls[run.name].unwanted:
            # Begun again and cancelled at once: it ends as it would have, and does nothing.
            yield Cancel(f"{effect}.0", effect)
    if work.wait.timer is not None:
        yield SetTimer(*work.wait.timer)


def _asked(effect: str) -> tuple[int, ...]:
    """When: the input and the ordinal that its id is made of."""
    return tuple(map(int, effect.split(".")))


def _again(work: Work, effect: str, run: Run) -> Effect:
    flow = work.flow.flow
    match run.kind:
        case "extractor":
            return _extraction(work, effect, run)
        case "resolver":
            return Resolve(effect, run.name, run.args)
        case "field":
            record, _, field = run.name.partition(".")
            resolver = flow.records[record].fields[field].resolve or ""
            return Resolve(effect, resolver, run.args, run.name)
        case "decision":
            return decide_again(work, effect, run)
        case "confirmation":
            call = work.wait.calls[run.name]
            words = filled(work, flow.tools[call.tool].confirm, call.args)
            return AskConfirmation(effect, run.name, call.tool, call.args, words)
        case "tool":
            call = work.wait.calls[run.name]
            entry = entry_of(work, call.tool, run.name)
            return RunTool(effect, run.name, call.tool, call.args, entry.key if entry else "")
        case "compensation":
            args = run.args["args"]
            given = args if isinstance(args, dict) else {}
            return RunTool(effect, run.name, str(run.args["tool"]), given)
        case "complete":
            complete = flow.records[run.name].on_complete
            return RunFunction(effect, complete.run if complete else run.name, dict(work.values))
        case _:
            return RunFunction(effect, run.name, dict(work.values))


def _extraction(work: Work, effect: str, run: Run) -> RunExtractor:
    extractor = work.flow.extractors[run.name]
    size = max(extractor.spec.window, run.turn - work.wait.ran.get(run.name, run.turn - 1))
    said = work.transcript
    turns = tuple(
        t for t in (*said.turns, said.current) if t.number <= run.turn and (t.user or t.model)
    )
    known = known_to(work, extractor)
    return RunExtractor(effect, run.name, run.turn, tuple(turns[-size:]), known)
