"""Decisions: which questions are asked when, and what their answers mean.

One request per round. An answer is good for the caller turn that it was asked about; an unsure
one satisfies nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flowengine.decide.judge import judge
from flowengine.decide.options import options_of
from flowengine.effects import Decide
from flowengine.errors import OwnershipError, WrongTypeError
from flowengine.facts import Decided
from flowengine.guards.lookup import look_up
from flowengine.inputs import Json, Outcome
from flowengine.kernel.origins import answers_of
from flowengine.kernel.promote import correct
from flowengine.kernel.snapshot import Answered, Run
from flowengine.kernel.work import Work
from flowengine.state.evidence import Evidence

WINDOW = 40
"""Turns that whoever answers gets to see."""


def ask_at_turn_end(work: Work) -> tuple[str, ...]:
    """Ask what the active phases' guards and notes, and patterns, want to know of the closed
    turn."""
    if not work.flow.flow.decisions:
        return ()
    return _ask(work, _named(work, work.flow.plan(work.place.active).asks))


def ask_for_call(work: Work, reads: frozenset[str]) -> None:
    """Ask what the guards of a call want to know of the turn in progress, one request at a time."""
    if work.flow.flow.decisions:
        runs = [run for run in work.wait.runs.values() if run.kind == "decision"]
        _ask(work, (id for id in _named(work, reads) if not any(id in run.args for run in runs)))


def decisions_landed(work: Work, outcome: Outcome, run: Run) -> None:
    """Judge every answer; what is missing or failed is unsure, and newer answers stand."""
    answers = outcome.value if outcome.status == "ok" else None
    given = answers if isinstance(answers, dict) else {}
    for id in _in_order(work, run):
        extent = run.args[id]
        spec, known = work.flow.flow.decisions[id], work.wait.decided.get(id)
        if known is not None and known.turn > run.turn:
            continue  # newer words have been judged already
        # More was said meanwhile: the answer is about half of the turn.
        failed = given.get(id) is None or extent != _extent(work, run.turn)
        raw = None if failed else given.get(id)
        judged = judge(spec, raw, options_of(spec, work.find))
        answer = Answered(run.turn, judged.outcome, judged.value, judged.confidence, failed)
        work.wait = work.wait._replace(decided={**work.wait.decided, id: answer})
        work.touched.add(f"@decided:{id}")
        work.facts.append(Decided(id, answer.outcome, round(answer.confidence, 3), answer.turn))
        _write(work, id, answer)


def _named(work: Work, reads: frozenset[str]) -> tuple[str, ...]:
    """The questions behind these reads: asked for by name, or by the key that they write."""
    decisions = work.flow.flow.decisions.items()
    return tuple(id for id, spec in decisions if not reads.isdisjoint(answers_of(id, spec.writes)))


def _ask(work: Work, ids: Iterable[str]) -> tuple[str, ...]:
    turn = work.caller_turn()
    wanted = [id for id in ids if not _is_answered(work, id, turn)]
    under_way = {id: effect for id in wanted if (effect := _under_way(work, id, turn))}
    fresh = [id for id in wanted if id not in under_way]
    if not fresh or not turn:
        return tuple(dict.fromkeys(under_way.values()))
    effect = work.effect_id()
    work.effects.append(_asking(work, effect, tuple(fresh), turn))
    run = Run(
        "decision",
        "decision",
        turn,
        len(work.flow.flow.extract),
        dict.fromkeys(fresh, _extent(work, turn)),
    )
    work.wait = work.wait._replace(runs={**work.wait.runs, effect: run})
    return (*dict.fromkeys(under_way.values()), effect)


def decide_again(work: Work, effect: str, run: Run) -> Decide:
    """The request of an open run, as it was asked."""
    return _asking(work, effect, _in_order(work, run), run.turn)


def _in_order(work: Work, run: Run) -> tuple[str, ...]:
    """Its questions as the flow has them; a snapshot's JSON may have sorted them by name."""
    return tuple(id for id in work.flow.flow.decisions if id in run.args)


def _asking(work: Work, effect: str, ids: tuple[str, ...], turn: int) -> Decide:
    said = work.transcript
    window = tuple(
        t for t in (*said.turns, said.current) if (t.user or t.model) and t.number <= turn
    )
    options: Mapping[str, Mapping[str, str]] = {
        id: options_of(work.flow.flow.decisions[id], work.find) for id in ids
    }
    return Decide(effect, ids, turn, window[-WINDOW:], options, _context(work))


def _context(work: Work) -> dict[str, Json]:
    """Where the call stands, and what the model that speaks is shown of it."""
    texts = [work.flow.texts.phases[name] for name in work.place.active]
    shown = dict.fromkeys(key for phase in texts for key in phase.show)
    known: dict[str, Json] = {
        key: value for key in shown if (value := look_up(key, work.find)) is not None
    }
    words = [text for phase in texts for fill in phase.contexts if (text := fill(work.find))]
    context: dict[str, Json] = {"phase": work.main_leaf()}
    if len(work.place.active) > 1:
        context["phases"] = list(work.place.active)
    if known:
        context["known"] = known
    if words:
        context["context"] = "\n".join(words)
    return context


def _is_answered(work: Work, id: str, turn: int) -> bool:
    """Answered for this turn; where the answer failed, it is not."""
    known = work.wait.decided.get(id)
    return known is not None and known.turn == turn and not known.failed


def _under_way(work: Work, id: str, turn: int) -> str | None:
    """The open request that asks it about all of the turn."""
    asked = (turn, _extent(work, turn))
    for effect, run in work.wait.runs.items():
        if run.kind == "decision" and (run.turn, run.args.get(id)) == asked:
            return effect
    return None


def _write(work: Work, id: str, answer: Answered) -> None:
    """The record under `decision:{id}`, and the key that the question names, if it may write it."""
    record: dict[str, Json] = {
        "outcome": answer.outcome, "confidence": answer.confidence, "turn": answer.turn,
    }  # fmt: skip
    if answer.value is not None and not _is_private(work, id):
        record["value"] = answer.value
    work.note(f"decision:{id}", record)
    key = work.flow.flow.decisions[id].writes
    if key is None or answer.outcome in ("unsure", "none"):
        return
    try:
        present = work.values.get(key)
        order = len(work.flow.records) + len(work.flow.flow.extract)
        evidence = Evidence(f"decision:{id}", answer.turn, order, confidence=answer.confidence)
        if not work.offer(key, answer.value, evidence):
            return
        if present is not None and work.values.get(key) != present and key in work.flow.needed:
            correct(work, frozenset({key}))
    except (OwnershipError, WrongTypeError) as error:
        work.facts.append(Decided(id, error.code, 0.0, answer.turn))


def forget_answers(work: Work) -> None:
    """The caller goes on: what was judged of the turn so far no longer stands."""
    now = work.transcript.current.number
    stale = {id for id, known in work.wait.decided.items() if known.turn == now}
    if stale:
        decided = {id: known for id, known in work.wait.decided.items() if id not in stale}
        work.wait = work.wait._replace(decided=decided)
        work.touched |= {f"@decided:{id}" for id in stale}


def _extent(work: Work, turn: int) -> int:
    said = work.transcript
    return next((len(t.user) for t in (said.current, *reversed(said.turns)) if t.number == turn), 0)


def _is_private(work: Work, id: str) -> bool:
    """Its value is one of a key whose values facts may not show."""
    spec = work.flow.flow.decisions[id]
    keys = (spec.writes, spec.options_from and spec.options_from.partition(".")[0])
    return any(work.keys.spec(key).pii for key in keys if key)
