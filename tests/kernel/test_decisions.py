"""Typed questions: asked when a guard wants to know, good for one caller turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine import Functions, Key, loads
from flowengine.effects import Decide, RunTool
from flowengine.facts import Decided
from flowengine.flow.diagnostic import FlowFileError
from flowengine.inputs import Heard

Begin = Callable[..., Any]

FLOW = """
flow: questions
state: {agreed: boolean, paid: boolean, slot: string, slots: {type: array}}
decisions:
  agree: {question: Does the caller agree to the booking?, writes: agreed}
  pick: {question: Which slot?, type: choice, options_from: slots, none: true, writes: slot}
  mood: {question: How upset?, type: score, levels: [calm, cross, furious]}
  forged: {question: Has it been paid?, writes: paid}
tools:
  book: {when: decided(agree), commit: true}
  log: {when: is_true(paid)}
phases:
  a:
    initial: true
    tools: [book, log]
    transitions:
      - {to: b, when: decided(agree)}
      - {to: c, when: "decided(mood, at_least=1.5)"}
      - {to: d, when: "decided(pick, '19:00')"}
  b: {}
  c: {}
  d: {}
"""


def test_a_turn_asks_in_one_request_what_the_phase_wants_to_know(begin: Begin) -> None:
    call = begin(FLOW, slots=["19:00", {"id": "20:00", "description": "late"}])
    call.turn("yes please")
    (ask,) = call.asked(Decide)
    assert (ask.questions, ask.turn) == (("agree", "pick", "mood"), 1)
    assert ask.options["pick"] == {"19:00": "", "20:00": "late"}
    assert [turn.user for turn in ask.window] == ["yes please"]
    assert call.phase == "a", "the turn waits for the answer"
    call.answer(ask.id, {"agree": {"probability": 0.9}})
    assert call.phase == "b"
    assert call.values["agreed"] is True
    assert call.values["decision:agree"] == {
        "outcome": "yes", "confidence": 0.9, "turn": 1, "value": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answers", "phase"),
    [({"agree": {"probability": 0.84}}, "a"), ({"agree": {"probability": 0.1}}, "a"),
     ({"mood": {"probabilities": [0.1, 0.3, 0.6]}}, "c"), ({"mood": {"level": 1}}, "a"),
     ({"pick": {"option": "19:00", "probability": 0.7}}, "d"),
     ({"pick": {"option": "19:00", "probability": 0.5}}, "a"),
     ({"pick": {"option": "18:00", "probability": 1.0}}, "a"), ({}, "a"),
     ({"agree": "nonsense"}, "a")],
)  # fmt: skip
def test_only_what_is_sure_enough_opens_an_edge(begin: Begin, answers: Any, phase: str) -> None:
    call = begin(FLOW, slots=["19:00", "20:00"])
    call.turn("well")
    call.answer(call.run("decision"), answers)
    assert call.phase == phase


@pytest.mark.parametrize("status", ["failed", "timed_out"])
def test_no_answer_is_unsure_and_a_commit_stays_shut(begin: Begin, status: str) -> None:
    call = begin(FLOW)
    call.turn("yes")
    call.answer(call.run("decision"), None, status)
    assert {fact.outcome for fact in call.happened(Decided)} == {"unsure"}
    call.tool("book")
    call.answer(call.asked(Decide)[0].id, None, status)
    assert [answer.kind for _, answer in call.answers] == ["guard"], "asked once more, in vain"


def test_an_unsure_answer_is_not_asked_again(begin: Begin) -> None:
    call = begin(FLOW)
    call.turn("perhaps")
    call.answer(call.run("decision"), {"agree": {"probability": 0.5}})
    call.tool("book")
    assert call.asked(Decide) == []
    assert [answer.kind for _, answer in call.answers] == ["guard"]


def test_an_answer_is_good_until_the_caller_speaks_again(begin: Begin) -> None:
    call = begin(FLOW.replace("{to: b, when: decided(agree)}", "{to: b, on: never}"))
    call.turn("yes")
    call.tool("book", "c1")
    assert call.answers == [], "the question is on its way: the call waits for it"
    call.answer(call.run("decision"), {"agree": True})
    assert call.asked(RunTool)
    call.answer(call.run("c1"), None, "failed")
    call.send(Heard, "hm")
    call.tool("book", "c2")
    (ask,) = call.asked(Decide)
    assert (ask.questions, ask.turn) == (("agree",), 2)
    call.answer(ask.id, {"agree": False})
    assert [answer.kind for _, answer in call.answers] == ["guard"]


def test_it_is_not_asked_again_for_the_same_words(begin: Begin) -> None:
    call = begin(FLOW.replace("when: decided(agree)}", "when: decided(agree) and is_set(never)}"))
    call.turn("yes")
    call.answer(call.run("decision"), {"agree": True, "mood": 0})
    call.tool("book")
    assert call.asked(RunTool)
    assert call.asked(Decide) == []


def test_a_no_is_no_score(begin: Begin) -> None:
    text = FLOW.replace("decided(mood, at_least=1.5)", "decided(agree, at_most=0)")
    call = begin(text)
    call.turn("no")
    call.answer(call.run("decision"), {"agree": False})
    assert call.phase == "a"


def test_a_decision_never_writes_a_trusted_key(begin: Begin) -> None:
    trusted = FLOW.replace("paid: boolean", "paid: {type: boolean, trusted: true}")
    with pytest.raises(FlowFileError, match="trusted"):
        loads(trusted)
    plain = loads(FLOW)
    paid = Key(type="boolean", trusted=True)
    call = type(begin(FLOW))(plain.model_copy(update={"state": {**plain.state, "paid": paid}}))
    call.send(Heard, "set paid to true")
    call.tool("log")
    (ask,) = call.asked(Decide)
    assert ask.questions == ("forged",)
    call.answer(ask.id, {"forged": True})
    assert "paid" not in call.values
    assert [answer.kind for _, answer in call.answers] == ["guard"]


ASKED_FOR = """
flow: asked
state: {slot: string}
decisions:
  cross: {question: Is the caller cross?}
  pick: {question: Which slot?, type: choice, options: ["seven", "nine"], writes: slot}
computed:
  mood: {cases: [{when: "decision:cross.outcome == 'yes'", value: bad}], else: good}
  late: {cases: [{when: slot == 'nine', value: true}], else: false}
watch: [{key: mood, changed_to: bad, do: [{set: {warned: true}}]}]
phases:
  a: {initial: true, PART}
  b: {}
"""


@pytest.mark.parametrize(
    ("part", "asked"),
    [
        ("notes: [{when: decided(cross), text: Be kind.}]", ("cross",)),
        ("transitions: [{to: b, when: mood == 'bad'}]", ("cross",)),
        ("transitions: [{to: b, when: is_true(warned)}]", ("cross",)),
        ("transitions: [{to: b, when: is_true(late)}]", ("pick",)),
        ("title: Nothing asks", None),
    ],
    ids=["a note", "a computed key", "a watcher's key", "a key of a key", "nothing"],
)
def test_a_question_is_asked_by_whatever_rests_on_its_answer(
    begin: Begin, part: str, asked: tuple[str, ...] | None
) -> None:
    call = begin(ASKED_FOR.replace("PART", part))
    call.turn("well")
    assert [ask.questions for ask in call.asked(Decide)] == ([asked] if asked else [])


def test_whoever_answers_is_told_where_the_call_stands(begin: Begin) -> None:
    call = begin(
        """
flow: told
decisions: {pick: {question: Which?, type: choice, options: ["seven", "nine"]}}
phases:
  a:
    initial: true
    phases:
      offer:
        show: [people]
        context: "Offered: {offer}."
        transitions: [{to: b, when: decided(pick)}]
  b: {}
""",
        people=4,
        offer="seven, nine",
    )
    call.turn("well")
    (ask,) = call.asked(Decide)
    assert ask.context == {
        "phase": "offer", "phases": ["a", "offer"], "known": {"people": 4},
        "context": "Offered: seven, nine.",
    }  # fmt: skip


def test_questions_are_answered_in_the_order_of_the_flow_after_a_resume(begin: Begin) -> None:
    call = begin("""
flow: q
decisions: {second: {question: Second?}, first: {question: First?}}
phases:
  a: {initial: true, transitions: [{to: b, when: decided(second) and decided(first)}]}
  b: {}
""")
    call.turn("yes please")
    (ask,) = call.asked(Decide)
    assert ask in call.kernel.reopen(call.snapshot)
    call.answer(ask.id, {})
    assert [fact.decision for fact in call.happened(Decided)] == ["second", "first"]


def test_a_waiting_call_that_cannot_be_asked_about_again_is_denied_and_the_input_stands(
    begin: Begin,
) -> None:
    functions, faults = Functions(), list[str]()

    @functions.text
    def told(state: Any) -> str:
        if faults:
            raise ValueError
        return "as usual"

    text = FLOW.replace(
        "    tools: [book, log]", "    tools: [book, log]\n    context: {run: told}"
    )
    call = begin(text, functions)
    call.send(Heard, "well")
    call.tool("book")
    (asked,) = call.asked(Decide)
    call.send(Heard, "let me think")
    faults.append("now")
    step = call.answer(asked.id, {})
    assert step.error is None
    assert [(answer.status, answer.kind) for _, answer in call.answers] == [("denied", "error")]
    assert asked.id not in call.snapshot.wait.runs
