"""A debt call with patterns and a model side by side, in Python and in YAML: the same call.

The model is Gemini on the loopback, asked through the real SDK.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from flowengine import Flow, Functions, Phase, Session, Transition, Watch, loads
from flowengine.extract import RegexExtractor, extract_turns
from flowengine.flow.action import Action
from flowengine.flow.reaction import Case, Computed
from flowengine.guards import is_true, key
from flowengine.llm import GeminiProvider
from flowengine.testing.fake_gemini import FakeGemini

pytestmark = pytest.mark.anyio

MODEL = "gemini-3.5-flash-lite"
PATTERNS = RegexExtractor(
    "debt_fields",
    {
        "dollar_amount": r"\$\d+(?:,\d{3})*(?:\.\d\d)?|[\d,]+ dollars",
        "disclosure_given": {r"(?i)\b(?:yes|yeah|sure|okay|I do)\b.*\b(?:understand|got it)": True},
    },
    window=10,
)


class DebtorState(BaseModel):
    """What the caller's words show of their mood and intent."""

    emotional_state: Literal["calm", "cooperative", "frustrated", "angry"] | None = None
    willingness_to_pay: float | None = None
    negotiation_intent: Literal["full_pay", "partial_pay", "dispute", "refuse", "delay"] | None = (
        None
    )
    cease_desist_requested: bool | None = None


IN_PYTHON = Flow(
    flow="debt",
    computed={
        "sentiment_score": Computed(
            of="emotional_state",
            map={"cooperative": 0.9, "calm": 0.7, "frustrated": 0.4, "angry": 0.2},
            else_=0.5,
        ),
        "call_risk_level": Computed(
            cases=(
                Case(when=is_true("cease_desist_requested"), value="critical"),
                Case(when=key("sentiment_score") < 0.3, value="high"),
            ),
            else_="low",
        ),
    },
    watch=(
        Watch(
            key="call_risk_level",
            changed_to="high",
            do=(Action(set={"alert:risk_escalation": True}),),
        ),
    ),
    phases={
        "disclosure": Phase(
            initial=True,
            instruction="Deliver the Mini-Miranda disclosure.",
            transitions=(
                Transition(to="close", when=is_true("cease_desist_requested")),
                Transition(to="verify_identity", when=is_true("disclosure_given")),
            ),
        ),
        "verify_identity": Phase(
            transitions=(Transition(to="close", when=is_true("cease_desist_requested")),)
        ),
        "close": Phase(final=True),
    },
)

IN_YAML = loads("""
flow: debt
models: {extraction: gemini-3.5-flash-lite}
extract:
  - name: DebtorState
    instruction: Extract debtor emotional state and intent.
    schema:
      type: object
      properties:
        emotional_state: {enum: [calm, cooperative, frustrated, angry]}
        willingness_to_pay: {type: number}
        negotiation_intent: {enum: [full_pay, partial_pay, dispute, refuse, delay]}
        cease_desist_requested: {type: boolean}
computed:
  sentiment_score:
    of: emotional_state
    map: {cooperative: 0.9, calm: 0.7, frustrated: 0.4, angry: 0.2}
    else: 0.5
  call_risk_level:
    cases:
      - {when: is_true(cease_desist_requested), value: critical}
      - {when: sentiment_score < 0.3, value: high}
    else: low
watch:
  - key: call_risk_level
    changed_to: high
    do:
      - set: {"alert:risk_escalation": true}
phases:
  disclosure:
    initial: true
    instruction: Deliver the Mini-Miranda disclosure.
    transitions:
      - to: close
        when: is_true(cease_desist_requested)
      - to: verify_identity
        when: is_true(disclosure_given)
  verify_identity:
    transitions:
      - to: close
        when: is_true(cease_desist_requested)
  close: {final: true}
""")


def in_python(provider: GeminiProvider) -> Session:
    by_model = extract_turns(
        DebtorState,
        provider,
        "Extract debtor emotional state and intent.",
        model=MODEL,
        min_words=0,
    )
    return Session(IN_PYTHON, functions=Functions(), extractors=[PATTERNS, by_model])


def in_yaml(provider: GeminiProvider) -> Session:
    return Session(IN_YAML, functions=Functions(), llm=provider, extractors=[PATTERNS])


TURNS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("yes I understand that", {"emotional_state": "calm", "willingness_to_pay": None},
     "verify_identity", {"sentiment_score": 0.7, "call_risk_level": "low"}),
    ("I can pay $200, and this is outrageous",
     {"emotional_state": "angry", "willingness_to_pay": 0.3}, "verify_identity",
     {"dollar_amount": "$200", "sentiment_score": 0.2, "call_risk_level": "high",
      "alert:risk_escalation": True}),
    ("do not call me ever again", {"cease_desist_requested": True},
     "close", {"call_risk_level": "critical", "willingness_to_pay": 0.3}),
]  # fmt: skip


@pytest.mark.parametrize("begin", [in_python, in_yaml])
async def test_patterns_and_a_model_move_the_call(
    begin: Any, gemini: FakeGemini, provider: GeminiProvider
) -> None:
    for _, answer, _, _ in TURNS:
        gemini.says(json.dumps(answer))
    async with begin(provider) as call:
        for said, _, phase, expected in TURNS:
            turn = await call.turn(said, "I see.")
            assert turn.phase == phase
            assert {name: turn.state[name] for name in expected} == expected
    assert [seen.model for seen in gemini.requests] == [MODEL] * len(TURNS)


async def test_both_are_the_same_call(gemini: FakeGemini, provider: GeminiProvider) -> None:
    ends: list[Any] = []
    for begin in (in_python, in_yaml):
        for _, answer, _, _ in TURNS:
            gemini.says(json.dumps(answer))
        async with begin(provider) as call:
            for said, _, _, _ in TURNS:
                await call.turn(said, "I see.")
            ends.append((call.phase, dict(call.state)))
    assert ends[0] == ends[1]


async def test_a_model_that_fails_leaves_the_patterns_and_the_call_alone(
    gemini: FakeGemini, provider: GeminiProvider
) -> None:
    gemini.says("I would rather not say.")
    async with in_yaml(provider) as call:
        turn = await call.turn("yes I understand that")
        assert turn.phase == "verify_identity"
        assert turn.state["DebtorState:status"] == "failed"
