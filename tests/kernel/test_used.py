"""A call id is used once, also when it comes again thousands of calls later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.effects import RunTool
from flowengine.facts import InputIgnored
from flowengine.kernel.used import LIMIT, is_used, with_id

Begin = Callable[..., Any]

FLOW = """
flow: used
tools:
  sms: {}
  look: {background: when_idle}
phases: {a: {initial: true}}
"""


def busy(call: Any, calls: int) -> None:
    """So many calls that run and end."""
    for n in range(calls):
        call.tool("sms", f"c{n}")
        call.answer(call.run(f"c{n}"), {"n": n})


@pytest.mark.parametrize("calls", [1, 32, 33, 200])
def test_an_id_that_was_used_runs_nothing_and_is_answered(begin: Begin, calls: int) -> None:
    call = begin(FLOW)
    busy(call, calls)
    for again in ("c0", f"c{calls - 1}"):
        call.tool("sms", again)
        assert call.asked(RunTool) == []
        assert call.happened(InputIgnored)
        assert [id for id, _ in call.answers] == [again]


def test_the_last_answers_are_given_again_and_older_ones_are_told_to_be_old(begin: Begin) -> None:
    call = begin(FLOW)
    busy(call, 33)
    call.tool("sms", "c1")
    assert [(a.status, a.value) for _, a in call.answers] == [("ran", {"n": 1})]
    call.tool("sms", "c0")
    assert [(a.status, a.kind, a.available) for _, a in call.answers] == [
        ("denied", "used", ("sms", "look"))
    ]


def test_a_call_in_the_background_stays_accepted(begin: Begin) -> None:
    call = begin(FLOW)
    call.tool("look", "slow")
    busy(call, 40)
    call.tool("look", "slow")
    assert [(id, a.status) for id, a in call.answers] == [("slow", "accepted")]
    assert call.asked(RunTool) == []


def test_new_ids_stay_new_and_the_memory_is_bounded(begin: Begin) -> None:
    call = begin(FLOW)
    busy(call, 100)
    assert len(call.snapshot.wait.answered) == 32
    assert len(call.snapshot.wait.used) == 9 * (100 - 32)
    used = ""
    for n in range(LIMIT + 100):
        assert not is_used(used, f"call-{n}")
        used = with_id(used, f"call-{n}")
    assert len(used) == 9 * LIMIT
    assert is_used(used, "call-100")
    assert not is_used(used, "call-99")


@given(st.lists(st.text(), max_size=20))
def test_every_id_is_known_once_it_was_used(ids: list[str]) -> None:
    used = ""
    for id in ids:
        used = with_id(used, id)
    assert all(is_used(used, id) for id in ids)
    assert not is_used(used, "".join(ids) + "another")
