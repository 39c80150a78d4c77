"""The tutorial's flow: availability, confirmation and commit, in sixty lines of YAML."""

from __future__ import annotations

import re
from pathlib import Path

from flowengine import Denied, Functions, Ran, loads
from flowengine.check import check
from flowengine.testing import Simulation

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"


def flow_text() -> str:
    """The flow's file as it stands at the end of the page: a later block replaces or adds."""
    text = ""
    for how, block in re.findall(
        r"^```yaml booking/flow\.yaml( \+)?\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S
    ):
        text = text + block if how else block
    return text


def test_the_flow_of_the_tutorial_has_at_most_sixty_lines_of_ordinary_length() -> None:
    lines = flow_text().splitlines()
    assert 20 < len(lines) <= 60
    assert max(map(len, lines)) <= 100


def test_it_looks_for_a_table_confirms_and_commits() -> None:
    flow = loads(flow_text())
    assert not check(flow)
    assert "availability" in flow.resolvers
    assert flow.tools["book_table"].commit
    functions = Functions()
    functions.tool(book_table)
    call = Simulation(flow, functions=functions)
    call.turn("A table for four on Friday at eight in the evening", "Let me see.")
    table = {"people": 4, "date": "2026-03-06", "time": "20:00"}
    assert isinstance(call.tool("book_table", table), Denied)
    call.resolve("availability", True)
    assert isinstance(call.tool("book_table", table), Denied), "nobody has agreed yet"
    call.turn("Yes", "I book it.")
    assert call.tool("book_table", table) == Ran("TB-4")
    assert call.ended


def book_table(people: int, date: str, time: str) -> str:
    return f"TB-{people}"
