"""Mermaid text: what it says, that any name survives in it, that regions can be drawn."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.flow.model import Flow, Phase, Transition
from flowengine.render import to_mermaid
from flowengine.render.label import visible


def read(label: str) -> str:
    """A label as a reader of the drawing sees it."""
    lines = label.replace("<br/>", "\n")
    return re.sub(r"#(\d+);", lambda code: chr(int(code[1])), lines)


def label_of(text: str, id: str) -> str:
    found = re.search(rf'state "([^"]*)" as {id}\b', text)
    assert found is not None
    return read(found[1])


def test_a_small_flow_line_by_line() -> None:
    ask = Phase(
        title="Ask them", transitions=(Transition(to="end", on="ok", description="agreed"),)
    )
    flow = Flow(flow="f", phases={"ask": ask, "end": Phase(final=True)})
    assert to_mermaid(flow).splitlines()[:7] == [
        "stateDiagram-v2",
        "    direction TB",
        '    state "ask<br/>Ask them" as p0',
        '    state "end" as p1',
        "    [*] --> p0",
        "    p1 --> [*]",
        "    p0 --> p1 : agreed<br/>on#58; ok",
    ]


@pytest.mark.parametrize(
    "name",
    ["end", "a:b", "x[y]", '"q"', "<b>", "付款", "two words", "a\nb", "back\\slash", ";", ":::",
     "%%", "#", "#35;", "--", "[*]", "1. one", " lead", "www.x.com", "*bold*", "_it_", "{x}"],
)  # fmt: skip
def test_a_hostile_name_reads_as_it_was(name: str) -> None:
    flow = Flow(flow="f", phases={name: Phase(transitions=(Transition(to=name, on=name),))})
    text = to_mermaid(flow)
    assert label_of(text, "p0") == name
    assert read(text.split("p0 --> p0 : ")[1].splitlines()[0]) == f"on: {name}"


@given(st.text(max_size=20))
def test_no_name_adds_a_line_or_a_sign(name: str) -> None:
    flow = Flow(flow="f", phases={name: Phase(transitions=(Transition(to=name, on=name),))})
    text = to_mermaid(flow)
    assert len(re.split(r"[\n\r\x85\u2028\u2029]", text)) == 9
    assert label_of(text, "p0") == visible(name if name.strip() else f'"{name}"')
    spelled = re.search(r'"(.*)"', text)
    assert spelled is not None
    assert not re.search(r"[;:#%<>\[\]{}|\\`*~$&@^\"]", re.sub(r"#\d+;|<br/>", "", spelled[1]))


def test_a_word_is_left_as_it_is() -> None:
    flow = Flow(flow="f", phases={"verify_identity": Phase(), "args.x": Phase()})
    assert '"verify_identity"' in to_mermaid(flow)
    assert '"args.x"' in to_mermaid(flow)


def test_regions_are_boxes_and_edges_stand_outside_of_all(clinic: Flow) -> None:
    text = to_mermaid(clinic)
    lines = text.splitlines()
    assert not any(line.strip() == "--" for line in lines)
    assert '        state "details" as p1r0 {' in lines
    assert "    p0 --> p1" in lines
    assert "    p1 --> p7 : done(visit)" in lines
    assert "    p2 --> p3 : captured(reason)" in lines
    inside = [line for line in lines if "-->" in line and line.startswith("     ")]
    assert all("[*]" in line for line in inside)


def test_every_group_says_where_it_begins(clinic: Flow) -> None:
    lines = [line.strip() for line in to_mermaid(clinic).splitlines()]
    begins = [line.removeprefix("[*] --> ") for line in lines if line.startswith("[*] --> ")]
    assert begins == ["p4", "p2", "p6", "p8", "p9", "p11", "p12", "p0"]


def test_progress_is_a_class(debt: Flow) -> None:
    text = to_mermaid(debt, active=["plan"], visited=["greeting", "opening"])
    assert "class p4 active" in text
    assert "class p1 visited" in text


def test_the_same_flow_gives_the_same_text(clinic: Flow) -> None:
    again = Flow.model_validate(clinic.model_dump(by_alias=True))
    assert to_mermaid(clinic) == to_mermaid(again)
