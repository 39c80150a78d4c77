"""Any transition is a unit test of three lines: start before it, let it happen, look.

No model, no network, no waiting. Run it with `pytest examples/test_one_transition.py`.
"""

from __future__ import annotations

from pathlib import Path

from flowengine import Denied, Ran, load
from flowengine.testing import Simulation

FLOW = load(Path(__file__).parent.parent / "flows" / "table_booking")
TABLE = {"party_size": 4, "date": "2026-03-06", "time": "19:00"}


def test_all_details_lead_to_the_confirmation() -> None:
    call = Simulation(FLOW)
    call.turn("a table for four on Friday at seven pm")
    assert call.phase == "confirm"


def test_without_a_time_it_keeps_asking() -> None:
    call = Simulation(FLOW)
    call.turn("a table for four on Friday")
    assert call.why_not("confirm").missing == ("time",)


def test_a_no_leads_to_a_change() -> None:
    call = Simulation(FLOW, phase="confirm", state=TABLE)
    call.turn("", "A table for four on Friday at seven, is that correct?")
    call.turn("no")
    assert call.phase == "change"


def test_the_table_is_booked_only_when_the_caller_has_agreed() -> None:
    call = Simulation(FLOW, phase="confirm", state=TABLE)
    assert isinstance(call.tool("book_table", TABLE), Denied)
    call.set("confirmed", True)
    assert call.tool("book_table", TABLE) == Ran({"reference": "TB-1"})
    assert call.phase == "booked"


def test_hanging_up_ends_the_call_from_anywhere() -> None:
    call = Simulation(FLOW, phase="change")
    call.event("hang_up")
    assert call.ended
