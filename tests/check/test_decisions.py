"""Questions: that they exist, that their answers are possible, that somebody asks them."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine.check import FlowFileError, apply_fixes
from flowengine.flow.functions import Functions
from flowengine.flow.load import parse

DECISIONS = """\
flow: x
models: {decision: m}
state: {plan: string}
decisions:
  agrees: {question: Does the caller agree?}
  slot: {question: Which one?, type: choice, options: [morning, evening], writes: plan}
  mood: {question: How do they feel?, type: score, levels: [bad, good]}
"""
USED = (
    "phases:\n  a:\n    done: decided(agrees) or decided(mood, at_least=1)\n    context: '{plan}'\n"
)


def flow(guard: str) -> str:
    return DECISIONS + f"phases:\n  a:\n    done: {guard}\n    context: '{{plan}}'\n"


def test_questions_that_are_asked_or_whose_key_is_read_are_used(codes: Any) -> None:
    assert codes(DECISIONS + USED) == []


def test_a_question_that_nobody_asks_is_told(codes: Any) -> None:
    assert codes(flow("decided(agrees)")) == ["unused_question /decisions/mood"]
    assert codes(flow("decision:mood.level == 1 and decided(agrees)")) == []


def test_an_unknown_question_stops_the_flow_from_being_loaded_and_has_its_cure() -> None:
    text = flow("decided(agres) or decided(mood)")
    with pytest.raises(FlowFileError) as caught:
        parse(text, file="f.yaml")
    [diagnostic] = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.path) == ("unknown_question", "/phases/a/done")
    assert diagnostic.suggestion == "did you mean 'agrees'?"
    assert apply_fixes(text, [diagnostic]) == flow("decided(agrees) or decided(mood)")


@pytest.mark.parametrize(
    ("guard", "says"),
    [
        ('decided(slot, "noon")', "no option 'noon'"),
        ('decided(agrees, "maybe")', "answered yes or no"),
        ("decided(mood, at_least=2)", "0 to 1"),
        ("decided(slot, false)", "always takes an option"),
    ],
)
def test_an_answer_that_cannot_come_is_an_error(found: Any, guard: str, says: str) -> None:
    rest = " or decided(agrees) or decided(mood)"
    [diagnostic] = found(flow(f"'{guard}{rest}'"))
    assert (diagnostic.code, diagnostic.severity) == ("impossible_expectation", "error")
    assert says in diagnostic.message


def test_a_misspelt_option_is_cured(cured: Any) -> None:
    text = flow("""'decided(agrees) and decided(mood) and decided(slot, "mornin")'""")
    assert cured(text) == text.replace('"mornin"', '"morning"')


def test_a_decision_does_not_write_what_is_trusted_or_owned_by_others() -> None:
    for owner in ("trusted: true", "writers: [channel]"):
        text = (DECISIONS + USED).replace("plan: string", f"plan: {{type: string, {owner}}}")
        with pytest.raises(FlowFileError) as caught:
            parse(text, file="f.yaml")
        [diagnostic] = caught.value.diagnostics
        assert (diagnostic.code, diagnostic.path) == ("owned_key", "/decisions/slot/writes")
        assert "decision:slot" in diagnostic.message


def test_a_rule_that_answers_is_registered_as_a_decision(found: Any) -> None:
    text = (DECISIONS + USED).replace("feel?,", "feel?, run: mod,")
    functions = Functions()
    functions.decision(name="mood")(lambda turns, question: 1)
    [diagnostic] = found(text, functions)
    assert (diagnostic.code, diagnostic.path) == ("unknown_function", "/decisions/mood/run")
    assert diagnostic.suggestion == "did you mean 'mood'?"
    assert found(text.replace("run: mod,", "run: mood,"), functions) == []


def test_options_come_from_a_key_that_something_writes(codes: Any) -> None:
    text = (DECISIONS + USED).replace("options: [morning, evening]", "options_from: free_slots")
    assert codes(text) == ["unknown_state_key /decisions/slot/options_from"]
