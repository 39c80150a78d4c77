"""Digressions and corrections: leaving the path, and going back on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine.facts import Corrected, DigressionEnded, PhaseDone, PhaseEntered

Begin = Callable[..., Any]

DETOUR = """
flow: detour
digressions:
  faq:
    when: is_true(asks)
    resume: {resume}
    phases:
      answer: {{initial: true, final: true, say: We close at six.}}
phases:
  name: {{initial: true, needs: [name], transitions: [{{to: day, when: captured(name)}}]}}
  day: {{say: Which day?, transitions: [{{to: end, after: 60s}}]}}
  end: {{final: true}}
"""


def test_a_digression_stays_through_its_closing_turn_and_goes_back(begin: Begin) -> None:
    call = begin(DETOUR.format(resume="previous"))
    call.set(name="Jo")
    call.at = 10_000
    call.set(**{"phase:note": 1})
    call.set(asks=True)
    assert (call.phase, call.said) == ("answer", ["We close at six."])
    assert "phase:note" not in call.values
    call.set(other=1)
    assert call.phase == "answer"
    call.at = 50_000
    call.turn("thanks")
    assert call.phase == "day"
    assert call.values["phase:note"] == 1
    assert call.happened(DigressionEnded) == [DigressionEnded("faq", "previous")]
    assert call.snapshot.wait.timer[1] == 100_000, "time away does not count"


def test_a_digression_goes_back_even_if_an_extractor_reads_its_closing_turn(begin: Begin) -> None:
    text = DETOUR.format(resume="previous") + "extract: [{name: E, schema: {properties: {m: {}}}}]"
    call = begin(text, asks=True)
    assert call.phase == "answer"
    call.turn("thanks")
    assert call.phase == "answer"
    call.answer(call.run("E"), {})
    assert call.phase == "name"


def test_a_digression_is_not_entered_again_before_its_trigger_has_fallen(begin: Begin) -> None:
    call = begin(DETOUR.format(resume="previous"), asks=True)
    call.turn("thanks")
    assert call.phase == "name"
    call.turn("so")
    assert call.phase == "name"
    call.set(asks=False)
    call.set(asks=True)
    assert call.phase == "answer"


def test_restart_begins_the_body_anew_and_nothing_is_done(begin: Begin) -> None:
    call = begin(DETOUR.format(resume="restart"), name="Jo")
    assert call.phase == "day"
    call.set(asks=True)
    call.turn("thanks")
    entered = [fact.phase for fact in call.happened(PhaseEntered)]
    assert entered[0] == "name"
    assert call.snapshot.place.stack == ()


def test_restart_respects_the_entry_guard_of_where_it_would_begin(begin: Begin) -> None:
    text = DETOUR.format(resume="restart").replace(
        "initial: true, needs", "initial: true, entry: not is_true(barred), needs"
    )
    call = begin(text, name="Jo")
    call.set(asks=True, barred=True)
    call.turn("thanks")
    assert call.phase == "answer"


def test_terminate_ends_the_conversation(begin: Begin) -> None:
    call = begin(DETOUR.format(resume="terminate"))
    call.set(asks=True)
    assert call.snapshot.place.ended


def test_a_digression_inside_a_digression_comes_back_step_by_step(begin: Begin) -> None:
    call = begin("""
flow: nested
digressions:
  one:
    on: one
    phases: {a1: {initial: true, transitions: [{to: a2, on: done}]}, a2: {final: true}}
  two: {on: two, phases: {b1: {initial: true, final: true}}}
phases: {main: {initial: true}}
""")
    call.set("one")
    call.set("two")
    assert (call.phase, len(call.snapshot.place.stack)) == ("b1", 2)
    call.set("one")
    assert call.phase == "b1"
    call.turn()
    assert call.phase == "a1"
    call.set("done")
    call.turn()
    assert (call.phase, call.snapshot.place.stack) == ("main", ())


ORDER = """
flow: order
state:
  amount: decimal
  confirmed: {type: boolean, depends_on: [amount]}
records:
  order: {fields: {amount: {recognize: money}}}
resolvers: {quote: {args: [amount]}}
phases:
  amount: {initial: true, needs: [amount], transitions: [{to: confirm, when: captured(amount)}]}
  confirm: {needs: [confirmed], transitions: [{to: card, when: is_true(confirmed)}]}
  card: {EDGE}
  redo: {}
"""


@pytest.mark.parametrize(
    ("edge", "phase"),
    [("needs: [card]", "confirm"),
     ("transitions: [{to: redo, when: corrected(amount)}]", "redo")],
)  # fmt: skip
def test_a_correction_clears_what_rested_on_it_and_goes_back_to_what_it_undid(
    begin: Begin, edge: str, phase: str
) -> None:
    call = begin(ORDER.replace("{EDGE}", "{" + edge + "}"))
    call.turn("two hundred dollars")
    call.set(confirmed=True)
    assert call.phase == "card"
    call.turn("no, make it fifty dollars")
    assert call.values["amount"] == "50"
    assert "confirmed" not in call.values
    assert call.happened(Corrected) == [Corrected("amount", ("confirmed",))]
    assert PhaseDone("confirm", False) in call.facts
    assert call.phase == phase


def test_the_same_value_again_corrects_nothing(begin: Begin) -> None:
    call = begin(ORDER.replace("{EDGE}", "{}"))
    call.turn("two hundred dollars")
    call.set(confirmed=True)
    call.turn("yes, two hundred dollars")
    assert (call.phase, call.happened(Corrected)) == ("card", [])


def test_a_correction_forgets_results_that_were_asked_with_the_old_value(begin: Begin) -> None:
    text = ORDER.replace("{EDGE}", "{}").replace(
        "confirm: {", "confirm: {on_enter: [{resolve: quote}], "
    )
    call = begin(text)
    call.turn("two hundred dollars")
    call.answer(call.run("quote"), {"fee": 3})
    assert call.values["quote:result"] == {"fee": 3}
    call.turn("no, fifty dollars")
    assert "quote:result" not in call.values
    assert "quote" not in call.snapshot.wait.resolved
