"""Promotions of fields that exist, and groundings that can come."""

from __future__ import annotations

from typing import Any

import pytest

FLOW = """\
flow: x
models: {extraction: m}
extract:
  - name: choice
    schema: {type: object, properties: {drug: {type: string}, wants: {type: boolean}}}
    promote:
      - {field: drug}
      - {field: wants, to: wanted}
phases: {a: {done: grounded(drug) and is_true(wanted)}}
"""


def test_fields_of_the_schema_are_promoted(codes: Any) -> None:
    assert codes(FLOW) == []


@pytest.mark.parametrize("more", ["", ", quote: true"])
def test_a_field_that_is_not_asked_for_is_an_error_with_its_cure(
    found: Any, cured: Any, more: str
) -> None:
    text = FLOW.replace("{field: wants, to", f"{{field: wnats{more}, to")
    [diagnostic] = found(text)
    assert diagnostic.code == "unknown_field"
    assert diagnostic.path == "/extract/0/promote/1/field"
    assert cured(text) == FLOW.replace("wants, to", f"wants{more}, to")


def test_what_a_model_judges_is_grounded_only_by_a_quote(found: Any) -> None:
    text = FLOW.replace("is_true(wanted)", "grounded(wanted)")
    [diagnostic] = found(text)
    assert (diagnostic.code, diagnostic.path) == ("never_grounded", "/phases/a/done")
    assert "`quote: true`" in diagnostic.suggestion
    assert found(text.replace("to: wanted", "to: wanted, quote: true")) == []
    assert len(found(FLOW.replace("{field: drug}", "{field: drug, grounding: accept}"))) == 1


def test_a_record_may_ground_what_a_model_judges(codes: Any) -> None:
    record = "records: {answer: {fields: {wanted: {recognize: yes_no}}}}\n"
    text = FLOW.replace("is_true(wanted)", "grounded(wanted)")
    assert codes(text.replace("phases:", f"{record}phases:")) == []


def test_an_event_that_a_failure_raises_is_waited_for(found: Any, cured: Any) -> None:
    text = """\
flow: x
models: {extraction: m}
extract: [{name: mood, on_failure: {raise: losst}, schema: {properties: {m: {type: string}}}}]
phases:
  a: {initial: true, transitions: [{to: b, on: lost}]}
  b: {final: true}
"""
    [diagnostic] = found(text)
    assert (diagnostic.code, diagnostic.path) == ("unheard_event", "/extract/0/on_failure/raise")
    assert "on_failure: {raise: lost}" in cured(text)


def test_a_promotion_to_a_misspelt_key_is_told(found: Any) -> None:
    text = """\
flow: x
models: {extraction: m}
state: {wish: {type: string, writers: [channel]}}
extract:
  - name: mood
    schema: {properties: {said: {type: string}}}
    promote: [{field: said, to: wihs}]
phases: {a: {done: is_set(wish)}}
"""
    [diagnostic] = found(text)
    assert (diagnostic.code, diagnostic.path) == ("misspelt_key", "/extract/0/promote/0/to")
