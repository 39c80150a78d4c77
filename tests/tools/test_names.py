"""Under which name a model knows a tool, and which tool it means by the name that comes back."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from flowengine.tools.names import LONGEST, named_by_model, told_name

OPENAI = re.compile(r"[a-zA-Z0-9_-]{1,64}")
GEMINI = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")

NAMES = st.text(st.characters(codec="utf-8"), min_size=1) | st.from_regex(
    r"[a-z_.-]{1,80}", fullmatch=True
)


@given(NAMES)
def test_every_name_is_told_as_one_that_every_provider_takes(name: str) -> None:
    told = told_name(name)
    assert OPENAI.fullmatch(told), told
    assert GEMINI.fullmatch(told), told


@pytest.mark.parametrize(
    "name", ["book", "book_table", "mcp__desk__find", "Look-Up2", "a" * LONGEST]
)
def test_a_name_that_every_provider_takes_is_told_as_it_is(name: str) -> None:
    assert told_name(name) == name


@pytest.mark.parametrize(
    ("name", "told"),
    [("desk.transfer", "desk__transfer"), ("2fa", "_2fa"), ("look up", "look_20_up")],
)
def test_what_a_provider_refuses_is_spelled_out(name: str, told: str) -> None:
    assert told_name(name) == told


@given(NAMES, NAMES)
def test_two_names_that_a_provider_refuses_are_told_apart(one: str, other: str) -> None:
    assume(one != other and told_name(one) != one and told_name(other) != other)
    assume("_" not in one + other)
    assert told_name(one) != told_name(other)


def test_long_names_that_begin_alike_are_told_apart() -> None:
    told = {told_name(f"{'part.' * 20}{end}") for end in ("one", "two")}
    assert len(told) == 2


@given(st.lists(NAMES, unique_by=told_name))
def test_a_model_may_say_either_name(names: list[str]) -> None:
    for name in names:
        assert named_by_model(name, names) == name
        assert named_by_model(told_name(name), names) in (name, told_name(name))
        if told_name(name) not in names:
            assert named_by_model(told_name(name), names) == name


def test_a_name_that_no_tool_has_stays_what_it_is() -> None:
    assert named_by_model("desk__find", ["desk.transfer"]) == "desk__find"
