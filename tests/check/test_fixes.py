"""A cure changes what is wrong in the text, and nothing else."""

from __future__ import annotations

import pytest

from flowengine.check import apply_fixes, check
from flowengine.flow.diagnostic import Diagnostic, FlowFileError
from flowengine.flow.load import Format, parse

BROKEN = """\
flow: refill  # a comment
versoin: 1
state:
  agreed: {type: boolean, writers: [channel]}
phases:
  greet:
    initial: yes
    transitions:
      - to: gooodbye
        when: is_true(agred) and caller_spoke
      - {to: "goodby", when: 'done(gret)'}
  goodbye: {final: true}
"""
CURED = (
    BROKEN.replace("versoin", "version")
    .replace("initial: yes", "initial: true")
    .replace("gooodbye", "goodbye")
    .replace('"goodby"', '"goodbye"')
    .replace("done(gret)", "done(greet)")
    .replace("agred", "agreed")
)


def diagnostics(text: str, format: Format = "yaml") -> list[Diagnostic]:
    try:
        loaded = parse(text, file="f", format=format)
    except FlowFileError as error:
        return list(error.diagnostics)
    return check(loaded.flow, source=loaded.source)


def cured(text: str, format: Format = "yaml") -> str:
    for _ in range(3):
        text = apply_fixes(text, diagnostics(text, format), format=format)
    return text


def test_every_near_miss_is_cured_and_comments_stay() -> None:
    assert cured(BROKEN) == CURED
    assert diagnostics(CURED) == []


def test_what_is_right_already_is_left_as_it_is() -> None:
    assert cured(CURED) == CURED


def test_json_stays_json() -> None:
    text = '{"flow": "x", "phases": {"a": {"intsruction": "hi", "transitions": [{"to": "aa"}]}}}'
    assert "instruction" in cured(text, "json")
    assert cured(text, "json").count('"') == text.count('"')


@pytest.mark.parametrize("text", ["flow: [", "", "- a"])
def test_text_that_cannot_be_read_comes_back(text: str) -> None:
    assert apply_fixes(text, diagnostics(text)) == text


def test_a_cure_that_needs_quotes_gets_them() -> None:
    text = 'flow: x\nphases:\n  "a: b": {initial: true}\n  c: {transitions: [{to: aa: b}]}\n'
    text = text.replace("to: aa: b", 'to: "a: bb"')
    assert 'to: "a: b"' in cured(text)
