"""A model that says it has done what it has not done is found out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flowengine.facts import EventOffered
from flowengine.inputs import Said

Begin = Callable[..., Any]

FLOW = """
flow: claims
tools: {submit: {when: is_true(agreed), claims: ["refill (?:is|has been) submitted", all set]}}
phases:
  a:
    initial: true
    transitions:
      - to: caught
        on: "claim:submit"
  caught: {}
"""


def test_a_claim_without_the_deed_is_an_event(begin: Begin) -> None:
    call = begin(FLOW)
    call.tool("submit")
    call.send(Said, "Great news: your refill HAS BEEN submitted.")
    assert call.happened(EventOffered) == [EventOffered("claim:submit", True)]
    assert call.phase == "caught"


def test_a_claim_after_the_deed_is_none(begin: Begin) -> None:
    call = begin(FLOW, agreed=True)
    call.tool("submit")
    call.answer(call.run("c"), {})
    call.send(Said, "You are all set.")
    assert (call.happened(EventOffered), call.phase) == ([], "a")


def test_other_words_claim_nothing(begin: Begin) -> None:
    call = begin(FLOW)
    call.send(Said, "Shall I submit the refill?")
    assert call.phase == "a"


def test_a_claim_that_comes_in_two_pieces_is_found(begin: Begin) -> None:
    call = begin("""
flow: c
tools: {refill: {claims: [refill is submitted]}}
phases: {a: {initial: true}}
""")
    call.send(Said, "Your refill is")
    call.send(Said, "submitted.")
    assert [f.event for f in call.happened(EventOffered)] == ["claim:refill"]
