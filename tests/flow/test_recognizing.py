"""Recognizers that a flow names wrongly are found when it is loaded, each in its place."""

from __future__ import annotations

import pytest

from flowengine.flow.diagnostic import FlowFileError
from flowengine.flow.load import loads

FLOW = """\
flow: order
records:
  r:
    fields:
      a: {recognize: integr}
      b: {recognize: integer, max: abc}
      c: {recognize: {regex: "(["}}
      d: {recognize: money, curency: USD}
      e: {recognize: date, prefer: sometime}
      f: {recognize: integer, max: 5}
      g: {recognize: {integer: 3, money: 4}}
phases:
  ask: {initial: true}
"""


def test_every_wrong_recognizer_is_named_with_its_line() -> None:
    with pytest.raises(FlowFileError) as caught:
        loads(FLOW)
    found = {(d.code, d.line) for d in caught.value.diagnostics}
    assert found == {("recognizer", line) for line in (5, 6, 7, 8, 9, 11)}


def test_the_message_has_the_cure_and_the_near_miss() -> None:
    with pytest.raises(FlowFileError) as caught:
        loads(FLOW)
    text = str(caught.value)
    assert "Did you mean 'integer'?" in text
    assert "Did you mean 'currency'?" in text
    assert "integer: max is a number, not 'abc'" in text
    assert "prefer" in text
