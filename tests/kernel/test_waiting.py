"""A call that waits: what may come for it, what it hears meanwhile, and when it is decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine import Functions
from flowengine.effects import AskConfirmation, Decide, RunExtractor, RunTool
from flowengine.facts import PhaseExited, ToolDecided
from flowengine.inputs import Heard, TurnEnded

Begin = Callable[..., Any]

FLOW = """
flow: waiting
state: {agreed: boolean}
records: {answer: {fields: {agreed: {recognize: yes_no}}}}
extract:
  - {name: Slow, schema: {properties: {amount: {}}}, promote: [{field: amount}]}
  - {name: Other, schema: {properties: {amount: {}}}, promote: [{field: amount}]}
decisions: {sure: {question: Sure?}}
tools:
  charge: {when: is_true(agreed) and amount == 5}
  ask: {when: decided(sure)}
  look: {when: amount == 5}
phases: {a: {initial: true, needs: [agreed]}}
"""


def answered(call: Any) -> list[str]:
    return [answer.kind or answer.status for _, answer in call.answers]


def ran(call: Any) -> list[str]:
    return [effect.call for effect in call.asked(RunTool)]


def settled(call: Any) -> None:
    """A first turn with which everything is done."""
    call.turn("hello", "Do you agree?")
    for name in ("Slow", "Other"):
        call.answer(call.run(name), {})


# -- words that come while it waits ---------------------------------------------------------------


def test_what_is_said_while_a_call_waits_is_read_for_it(begin: Begin) -> None:
    call = begin(FLOW)
    settled(call)
    call.send(Heard, "well")
    call.tool("charge")
    call.send(Heard, "yes")
    assert call.values["agreed"] is True
    call.answer(call.run("Slow"), {"amount": 5})
    assert ran(call) == ["c"]


def test_a_word_alone_may_open_it(begin: Begin) -> None:
    call = begin(FLOW)
    settled(call)
    call.send(Heard, "well")
    call.tool("charge")
    call.set(amount=5)
    assert answered(call) == []
    call.send(Heard, "yes")
    assert ran(call) == ["c"]


def test_a_word_alone_may_keep_it_shut(begin: Begin) -> None:
    """The yes of an older turn is taken back while the amount is still being read."""
    call = begin(FLOW, agreed=True)
    settled(call)
    call.send(Heard, "well")
    call.tool("charge")
    call.send(Heard, "no, stop")
    for name in ("Slow", "Other"):
        call.answer(call.run(name), {"amount": 5})
    assert ran(call) == []
    assert call.values["agreed"] is False


def test_phases_move_on_what_was_read_for_a_waiting_call(begin: Begin) -> None:
    moving = FLOW.replace(
        "phases: {a: {initial: true, needs: [agreed]}}",
        "phases: {a: {initial: true, transitions: [{to: b, when: is_true(agreed)}]}, b: {}}",
    )
    call = begin(moving)
    settled(call)
    call.send(Heard, "well")
    call.tool("charge")
    call.send(Heard, "yes")
    assert call.phase == "b"
    call.answer(call.run("Slow"), {"amount": 5})
    assert ran(call) == ["c"], "it was asked before"


def test_a_commit_that_waits_for_a_person_hears_what_is_said_meanwhile(begin: Begin) -> None:
    text = FLOW.replace(
        "charge: {when: is_true(agreed) and amount == 5}",
        "charge: {when: is_true(agreed) and amount == 5, commit: true, confirm: Sure?}",
    )
    call = begin(text, agreed=True, amount=5)
    settled(call)
    call.send(Heard, "well")
    call.tool("charge")
    (ask,) = call.asked(AskConfirmation)
    call.send(Heard, "no, stop")
    call.answer(ask.id, True)
    assert answered(call) == ["guard"]


def test_a_rule_that_is_only_observed_is_waited_for_by_nobody(begin: Begin) -> None:
    call = begin("""
flow: f
state: {ok: boolean, agreed: boolean}
extract: [{name: Slow, schema: {properties: {agreed: {}}}, promote: [{field: agreed}]}]
tools: {look: {when: is_true(ok)}}
constraints: [{never: look, until: captured(agreed), mode: observe}]
phases: {a: {initial: true}}
""")
    call.send(Heard, "well")
    call.tool("look")
    assert call.asked(RunExtractor) == []
    assert answered(call) == ["guard"]


# -- runs on older words --------------------------------------------------------------------------


def test_a_run_of_older_words_is_followed_by_one_on_the_words_in_progress(begin: Begin) -> None:
    call = begin(FLOW.replace("  - {name: Other", "  # {name: Other"))
    call.turn("hello", "How much?")
    call.send(Heard, "five")
    call.tool("look")
    assert call.asked(RunExtractor) == []
    call.answer(call.run("Slow"), {})
    assert answered(call) == []
    (run,) = call.asked(RunExtractor)
    assert run.window[-1].user == "five"
    call.answer(run.id, {"amount": 5})
    assert ran(call) == ["c"]


def test_one_that_has_failed_is_followed_too(begin: Begin) -> None:
    call = begin(FLOW.replace("  - {name: Other", "  # {name: Other"))
    call.turn("hello", "How much?")
    call.send(Heard, "five")
    call.tool("look")
    call.answer(call.run("Slow"), None, "failed")
    assert len(call.asked(RunExtractor)) == 1


def test_words_that_come_during_the_run_that_was_made_for_it_are_read_as_well(
    begin: Begin,
) -> None:
    call = begin(FLOW.replace("  - {name: Other", "  # {name: Other"))
    call.send(Heard, "well")
    call.tool("look")
    early = call.run("Slow")
    call.send(Heard, "five")
    call.send(Heard, "dollars")
    assert call.asked(RunExtractor) == [], "one run at a time"
    call.answer(early, {})
    (run,) = call.asked(RunExtractor)
    assert run.window[-1].user == "well five dollars"
    call.answer(run.id, {"amount": 6})
    assert answered(call) == ["guard"], "everything was read"


def test_a_question_is_asked_again_when_more_was_said(begin: Begin) -> None:
    call = begin(FLOW)
    call.send(Heard, "yes")
    call.tool("ask")
    (first,) = call.asked(Decide)
    call.send(Heard, "I think")
    call.send(Heard, "so")
    assert call.asked(Decide) == [], "one question at a time"
    call.answer(first.id, {"sure": {"probability": 0.99}})
    assert answered(call) == [], "the answer is about half of the turn"
    (again,) = call.asked(Decide)
    call.answer(again.id, {"sure": {"probability": 0.99}})
    assert ran(call) == ["c"]


@pytest.mark.parametrize("status", ["failed", "timed_out"])
def test_what_keeps_failing_is_not_asked_in_a_loop(begin: Begin, status: str) -> None:
    call = begin(FLOW)
    settled(call)
    call.send(Heard, "yes")
    call.tool("look", "c1")
    call.tool("ask", "c2")
    asked = 0
    while call.snapshot.wait.runs:
        call.answer(next(iter(call.snapshot.wait.runs)), None, status, "down")
        asked += len(call.effects)
    assert not call.snapshot.wait.calls
    assert asked <= 6


def test_a_run_that_a_call_has_started_is_not_started_a_second_time(begin: Begin) -> None:
    """The turn that ended meanwhile had queued one, too."""
    call = begin(FLOW.replace("  - {name: Other", "  # {name: Other"))
    call.turn("one")
    first = call.run("Slow")
    call.turn("two")
    call.send(Heard, "three")
    call.tool("look")
    call.answer(first, {})
    runs = [run for run in call.snapshot.wait.runs.values() if run.name == "Slow"]
    assert len(runs) == 1
    (run,) = call.asked(RunExtractor)
    assert [turn.user for turn in run.window][-2:] == ["two", "three"]


def test_reading_that_fails_fails_its_own_input_and_the_call_waits_on(begin: Begin) -> None:
    functions = Functions()

    @functions.watcher
    def bad(new: Any) -> Any:
        raise ValueError

    text = FLOW + "watch: [{key: agreed, changed: true, do: [{run: bad}]}]\n"
    call = begin(text, functions)
    settled(call)
    call.send(Heard, "well")
    call.tool("charge")
    step = call.send(Heard, "yes")
    assert step.error is not None
    assert call.snapshot.transcript.current.user == "well yes"
    assert list(call.snapshot.wait.calls) == ["c"]
    call.ring()
    assert answered(call) == ["guard"]


def test_a_commit_does_not_wait_past_words_that_could_not_be_read(begin: Begin) -> None:
    functions = Functions()

    @functions.watcher
    def bad(new: Any) -> Any:
        raise ValueError

    text = FLOW.replace("and amount == 5}", "and amount == 5, commit: true}", 1)
    text += "watch: [{key: agreed, became_false: true, do: [{run: bad}]}]\n"
    call = begin(text, functions, agreed=True)
    settled(call)
    call.send(Heard, "well")
    call.tool("charge")
    assert answered(call) == []
    call.send(Heard, "no, stop")
    assert answered(call) == ["error"]
    for name in ("Slow", "Other"):
        call.answer(call.run(name), {"amount": 5})
        assert ran(call) == []


def test_a_record_that_reads_at_the_end_of_the_turn_counts_before_the_turn_settles(
    begin: Begin,
) -> None:
    text = FLOW.replace("answer: {fields", "answer: {trigger: {interval: 1}, fields")
    call = begin(text)
    settled(call)
    call.send(Heard, "yes")
    call.tool("charge")
    call.set(amount=5)
    assert answered(call) == []
    call.send(TurnEnded)
    assert call.snapshot.wait.barrier is not None
    assert ran(call) == ["c"]


# -- resolvers ------------------------------------------------------------------------------------

RESOLVED = """
flow: resolved
state: {id: string, ready: boolean}
resolvers: {account: {args: [id]}}
tools: {charge: {when: "GUARD"}}
phases:
  a:
    initial: true
    on_enter: [{resolve: account}]
    transitions: [{to: b, when: resolved(account) or failed(account)}]
  b: {tools: []}
"""
GUARDS = (
    "resolved(account)", "is_set('account:result')", "account:result.open == true",
    "failed(account) or resolved(account)",
)  # fmt: skip


@pytest.mark.parametrize("guard", GUARDS)
def test_an_open_resolver_is_awaited_and_the_call_decided_before_phases_move(
    begin: Begin, guard: str
) -> None:
    call = begin(RESOLVED.replace("GUARD", guard), id="1")
    call.tool("charge")
    assert answered(call) == []
    call.answer(call.run("account"), {"open": True})
    assert (ran(call), call.phase) == (["c"], "b")


def test_a_resolver_that_fails_leaves_nothing_to_wait_for(begin: Begin) -> None:
    call = begin(RESOLVED.replace("GUARD", "resolved(account)"), id="1")
    call.tool("charge")
    call.answer(call.run("account"), None, "failed", "down")
    assert answered(call) == ["guard"]


def test_a_resolver_that_was_asked_with_old_arguments_is_not_awaited(begin: Begin) -> None:
    call = begin(RESOLVED.replace("GUARD", "resolved(account)"), id="1")
    call.set(id="2")
    call.tool("charge")
    assert answered(call) == ["guard"]


def test_what_follows_a_record_is_awaited(begin: Begin) -> None:
    functions = Functions()

    @functions.resolver
    async def lookup(values: Any) -> Any:
        return {}

    text = RESOLVED.replace(
        "resolvers: {account: {args: [id]}}",
        """records:
  order: {fields: {id: {recognize: {one_of: [one, two]}}}, on_complete: {run: lookup}}""",
    )
    text = text.replace("    on_enter: [{resolve: account}]\n", "").replace(
        "resolved(account) or failed(account)", "is_true(x)"
    )
    call = begin(text.replace("GUARD", "is_set('order:result')"), functions)
    call.send(Heard, "number one")
    call.tool("charge")
    assert answered(call) == []
    call.answer(call.run("order"), {"open": True})
    assert ran(call) == ["c"]


# -- in which phase, and before what --------------------------------------------------------------

PLACE = """
flow: place
extract: [{name: X, schema: {properties: {ok: {}}}, promote: [{field: ok}]}]
tools: {charge: {when: "GUARD and ok == true"}}
phases:
  a: {initial: true, transitions: [{to: b, on: go}, {to: done, on: stop}]}
  b: {tools: []}
  done: {final: true}
"""


@pytest.mark.parametrize(
    "guard",
    ["in_phase(a)", "caller_spoke", "turns_in_phase == 1", "elapsed >= 1s", "not in_phase(b)"],
)
def test_a_call_is_decided_in_the_phase_in_which_it_was_asked(begin: Begin, guard: str) -> None:
    call = begin(PLACE.replace("GUARD", guard))
    call.at = 2_000
    call.turn("well")
    call.tool("charge")
    call.set("go")
    assert (call.phase, answered(call)) == ("b", [])
    call.answer(call.run("X"), {"ok": True})
    assert ran(call) == ["c"]


def test_a_conversation_that_has_ended_runs_nothing(begin: Begin) -> None:
    call = begin(PLACE.replace("GUARD", "in_phase(a)"))
    call.turn("well")
    call.tool("charge")
    call.set("stop")
    assert answered(call) == ["ended"]


MOVES = """
flow: moves
extract: [{name: X, schema: {properties: {ok: {}}}, promote: [{field: ok}]}]
tools: {charge: {when: is_true(ok)}, look: {set: {ok: true}}}
phases:
  a:
    initial: true
    transitions: [EDGE]
    on_exit: [{clear: [ok]}]
  b: {}
"""
EDGES = {"when": "{to: b, when: is_true(ok)}", "on": "{to: b, on: go}"}


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("by", ["admin", "turn", "tool"])
def test_whatever_input_opens_the_guard_the_call_is_decided_before_phases_move(
    begin: Begin, edge: str, by: str
) -> None:
    text = MOVES.replace("EDGE", EDGES[edge])
    if edge == "on":
        text += "watch: [{key: ok, became_true: true, do: [{raise: go}]}]\n"
    call = begin(text)
    call.turn("well")
    call.tool("charge")
    assert answered(call) == []
    match by:
        case "admin":
            call.set(ok=True)
        case "turn":
            call.turn("", "I see", ok=True)
        case _:
            call.tool("look", "l")
            call.answer(call.run("l"), {})
    kinds = [type(fact) for fact in call.facts]
    assert ran(call) == ["c"]
    assert (call.phase, "ok" in call.values) == ("b", False)
    assert kinds.index(ToolDecided) < kinds.index(PhaseExited)
