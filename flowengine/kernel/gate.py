"""The gate: whether a tool call runs, decided when it is asked and, while it waits, at each input.

A call refused only because a guard has not held waits for what may make it hold - open runs, and
runs on the words of the turn in progress - until its deadline; nothing else makes a call wait.
"""

from __future__ import annotations

from collections.abc import Iterable

from flowengine.errors import FlowEngineError
from flowengine.facts import InputIgnored
from flowengine.inputs import Outcome, ToolCalled
from flowengine.kernel.admission import Refusal, reads_of, refusals
from flowengine.kernel.answers import answer_call, deny, earlier_answer, hold, in_order
from flowengine.kernel.arguments import accepted
from flowengine.kernel.opening import admit, is_repeated
from flowengine.kernel.rest import rest
from flowengine.kernel.runs import extent
from flowengine.kernel.snapshot import Call, Run
from flowengine.kernel.unread import ask_for_keys, is_coming, land_waiting, read_words
from flowengine.kernel.work import Work
from flowengine.tools.names import told_name

DEADLINE = 1_500
"""Milliseconds that a call may wait for the gate."""


def tool_called(work: Work, called: ToolCalled) -> None:
    """Admit the call, deny it, or let it wait; phases move only after it is decided."""
    rest(work)
    if not _is_known(work, called):
        _decide(work, called.call, _call(work, called))


def hear_waiting(work: Work) -> None:
    """Words have come while calls wait: what they say counts for each that needs it."""
    for _, call in _waiting(work):
        _hear(work, call)


def decide_waiting(work: Work) -> None:
    """Ask the gate again for the calls that wait; those past their deadline are denied."""
    for id, call in _waiting(work):
        try:
            _conclude(work, id, call, list(refusals(work, call)))
        except FlowEngineError as error:
            # Another input is being handled: it must not fail for a call that is not its own.
            deny(work, id, call, _undecided(call.tool, f" ({error.code})"))


def confirmed(work: Work, outcome: Outcome, run: Run) -> None:
    """Someone agreed or declined; what they agreed to must still be allowed."""
    call = work.wait.calls.get(run.name)
    if call is None:
        return
    call = call._replace(effect="", confirmed=True)
    if outcome.status != "ok" or outcome.value is not True:
        reason = f": {outcome.value}" if isinstance(outcome.value, str) else ""
        deny(
            work,
            run.name,
            call,
            Refusal("declined", f"{told_name(call.tool)} was not confirmed{reason}."),
        )
        return
    if _is_commit(work, call.tool):
        _hear(work, call)
    broken = list(refusals(work, call))
    if broken:
        deny(work, run.name, call, broken[0])
    else:
        admit(work, run.name, call)


def deny_failed(work: Work, called: ToolCalled) -> None:
    """The call's own input has failed, so it cannot run: it gets its one answer."""
    if not _is_known(work, called):
        deny(work, called.call, _call(work, called), _undecided(called.tool))


def deny_unheard(work: Work) -> None:
    """What was said could not be read: what cannot be undone does not run past it."""
    for id, call in _waiting(work):
        if _is_commit(work, call.tool):
            deny(work, id, call, _undecided(call.tool))


def deny_unconfirmed(work: Work, id: str) -> None:
    """What followed from the confirmation has failed: the call gets its one answer."""
    call = work.wait.calls.get(id)
    if call is not None:
        deny(work, id, call, _undecided(call.tool))


def is_awaited(work: Work, keys: Iterable[str]) -> bool:
    """Some call waits for one of these keys."""
    written = frozenset(keys)
    return any(not reads_of(work, call.tool).isdisjoint(written) for _, call in _waiting(work))


# -- deciding -------------------------------------------------------------------------------------


def _waiting(work: Work) -> list[tuple[str, Call]]:
    """Calls that nothing but the gate holds up, as they were asked for."""
    calls = in_order(work.wait.calls)
    return [(id, call) for id, call in calls if not call.effect and not call.joins]


def _is_known(work: Work, called: ToolCalled) -> bool:
    """The id has been used: its call has one answer, which it has got or will get."""
    answer = earlier_answer(work, called.call)
    if answer is None and called.call not in work.wait.calls:
        return False
    work.facts.append(InputIgnored(called.id, "call id already used"))
    if answer is not None:
        answer_call(work, called.call, called.tool, answer)
    return True


def _call(work: Work, called: ToolCalled) -> Call:
    spec = work.flow.flow.tools.get(called.tool)
    args = accepted(called.tool, spec, called.args) if spec is not None else dict(called.args)
    place = work.place
    due_at = work.at + DEADLINE
    return Call(called.tool, args, place.active, place.entered, due_at, order=work.seq)


def _decide(work: Work, id: str, call: Call) -> None:
    if is_repeated(work, id, call):
        return
    reads = reads_of(work, call.tool)
    land_waiting(work, reads)
    broken = list(refusals(work, call))
    # What cannot be undone never runs past a word that the caller has already said.
    if _is_commit(work, call.tool) or _is_soft(broken):
        read_words(work, reads)
        broken = list(refusals(work, call))
    _conclude(work, id, call, broken)


def _hear(work: Work, call: Call) -> None:
    """Land all that was heard and that its guards read."""
    reads = reads_of(work, call.tool)
    land_waiting(work, reads)
    read_words(work, reads)


def _conclude(work: Work, id: str, call: Call, broken: list[Refusal]) -> None:
    """Open, or wait for what may yet open it, or shut."""
    if not broken:
        admit(work, id, call)
        return
    if _is_soft(broken) and work.at < call.due_at:
        call = _asked_for(work, call)
        if is_coming(work, reads_of(work, call.tool)):
            hold(work, id, call)
            return
    deny(work, id, call, broken[0])


def _asked_for(work: Work, call: Call) -> Call:
    """The call, once what may open its guards was asked for: when it came in, and again when
    nothing is under way any more while words of the turn in progress were not asked about."""
    reads = reads_of(work, call.tool)
    under_way, words = is_coming(work, reads), extent(work.transcript.current)
    if call.read is not None and (under_way or call.read == words):
        return call
    ask_for_keys(work, reads)
    # What was under way may be about older words: when it has ended, these are asked about.
    return call._replace(read=(0, 0, 0) if under_way else words)


def _undecided(tool: str, why: str = "") -> Refusal:
    """Something that the gate asks has failed."""
    return Refusal("error", f"{told_name(tool)} cannot be decided{why}.")


def _is_commit(work: Work, tool: str) -> bool:
    return tool in work.flow.tools and work.flow.flow.tools[tool].commit


def _is_soft(broken: list[Refusal]) -> bool:
    """Something is in the way, and guards alone are."""
    return bool(broken) and all(refusal.soft for refusal in broken)
