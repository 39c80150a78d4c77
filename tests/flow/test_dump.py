"""Every flow has one spelling, and it reads back as the same flow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.flow.action import Action
from flowengine.flow.dump import dumps
from flowengine.flow.load import loads
from flowengine.flow.model import Flow, Key, Phase, Transition
from flowengine.flow.reaction import Watch
from flowengine.guards import captured, is_true, key

FLOW = Flow(
    flow="refill",
    state={"dob": Key(type="date"), "n": Key(type="integer", default=0), "on": Key(type="string")},
    watch=(Watch(key="n", changed_to=None, do=(Action(**{"raise": "gone"}),)),),
    phases={
        "my phase": Phase(
            initial=True,
            say="Line one.\nLine two: yes.",
            needs=("dob", "no"),
            transitions=(
                Transition(to="end", when=captured("dob", "n") & ~is_true("declined")),
                Transition(to="付款", on="no", when=key("note").matches(r'^"re\\fund"$')),
            ),
        ),
        "付款": Phase(final=True),
        "end": Phase(final=True),
    },
)


@pytest.mark.parametrize("format", ["yaml", "json"])
def test_a_flow_reads_back_equal_and_spells_the_same(format: str) -> None:
    text = dumps(FLOW, format)  # pyright: ignore[reportArgumentType]
    again = loads(text, format=format)  # pyright: ignore[reportArgumentType]
    assert again == FLOW
    assert dumps(again) == dumps(FLOW)


def test_yaml_and_json_say_the_same() -> None:
    assert dumps(loads(dumps(FLOW, "json"), format="json")) == dumps(FLOW)


def test_a_watcher_for_null_is_kept_although_null_is_the_default() -> None:
    [watch] = loads(dumps(FLOW)).watch
    assert watch.predicate == "changed_to"


def test_what_is_at_its_default_is_left_out_and_short_forms_are_used() -> None:
    assert "dob: date\n" in dumps(FLOW)
    assert "external" not in dumps(FLOW)


@given(st.text(), st.text(min_size=1), st.none() | st.booleans() | st.integers() | st.text())
def test_any_text_survives(said: str, name: str, value: bool | int | str | None) -> None:
    flow = Flow(
        flow=name,
        phases={"a": Phase(say=said, on_enter=(Action(set={name: value}),))},
    )
    assert loads(dumps(flow, "json"), format="json") == flow
    assert loads(dumps(flow)) == flow
