"""A call begins with keys of its flow; a misspelt one is refused before it is lost in silence."""

from __future__ import annotations

import asyncio

import pytest

from flowengine import Flow, Session
from flowengine.errors import FlowError
from flowengine.flow.load import loads

FLOW = """\
flow: x
state: {day: date, amount_due: number}
phases: {a: {show: [dais], done: is_set(day)}}
"""


@pytest.fixture
def flow() -> Flow:
    return loads(FLOW)


@pytest.mark.parametrize(("name", "meant"), [("dya", "day"), ("amont_due", "amount_due")])
def test_a_slip_for_a_declared_key_is_refused(flow: Flow, name: str, meant: str) -> None:
    with pytest.raises(FlowError, match=f"no key '{name}'. Did you mean '{meant}'"):
        Session(flow, state={name: 5})


@pytest.mark.parametrize("name", ["day", "amount", "dais", "caller_number", "session:line"])
def test_keys_of_the_flow_and_keys_of_the_program_are_taken(flow: Flow, name: str) -> None:
    async def begun() -> None:
        async with Session(flow, state={name: "2026-03-04"}) as session:
            assert session.state.get(name) is not None

    asyncio.run(begun())
