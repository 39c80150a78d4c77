"""A value that is re-stated in other words is the same; a different value never is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.extract.grounding.sameness import same

FRIDAY = datetime(2026, 2, 27, 15, tzinfo=UTC)


@pytest.mark.parametrize("ref", [FRIDAY, None])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("7 pm", "7 PM"),
        ("7 pm", "7 p.m."),
        ("7PM", "7 pm"),
        ("7 pm", "19:00"),
        ("noon", "12:00 pm"),
        ("tomorrow at 7:00 PM", "tomorrow at 7 pm"),
        ("next friday", "next Friday"),
        ("March 5, 2026", "2026-03-05"),
        ("Jane Smith", "jane  smith."),
        ("José Núñez", "Jose Nunez"),
        ("O'Brien", "O\u2019Brien"),
        ("O'Brien", "OBrien"),
        ("Smith-Jones", "Smith Jones"),
        ("$50", "fifty dollars"),
        ("50 dollars", "$50.00"),
        ("1,500", "1500"),
        ("5%", "five percent"),
        ("two weeks", "2 weeks"),
        ("P2W", "P14D"),
        ("an hour and a half", "90 minutes"),
        ("500 mg", "500mg"),
        ("555-123-4567", "(555) 123-4567"),
        ("555-123-4567", "5551234567"),
        ("123-45-6789", "123 45 6789"),
        ("four four seven one", "4471"),
        ("five", 5),
        (5, 5.0),
        (["a", "7 pm"], ["A.", "19:00"]),
        ({"at": "7 pm"}, {"at": "7 PM"}),
        (None, None),
        (True, True),
        ("", ""),
    ],
)
def test_one_value_said_in_two_ways_is_the_same(a: Any, b: Any, ref: datetime | None) -> None:
    assert same(a, b, ref=ref)
    assert same(b, a, ref=ref)


@pytest.mark.parametrize("ref", [FRIDAY, None])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("7 pm", "7 am"),
        ("12 am", "12 pm"),
        ("at seven", "7 pm"),
        ("7", "7 pm"),
        ("ten to five", "five to ten"),
        ("tomorrow", "friday"),
        ("tonight", "today"),
        ("friday morning", "friday"),
        ("this week", "2026-02-23"),
        ("March", "March 1"),
        ("3/4", "4/3"),
        ("2026-1-11", "2026-11-1"),
        ("Ann Lee", "Anne Leigh"),
        ("Ann", "Ann Lee"),
        ("John", "Jon"),
        ("A123", "A124"),
        ("0123", "123"),
        ("007", "7"),
        ("1-11", "11-1"),
        ("12", "1 2"),
        ("12:30", "1230"),
        ("+15551234567", "15551234567"),
        ("555 1234", "555 1243"),
        ("-5", "5"),
        ("(5)", "5"),
        ("minus five", "five"),
        ("1.5", "15"),
        ("3.10", "3.1"),
        ("1/2", "12"),
        ("15 minutes", "50 minutes"),
        ("5 mg", "5 g"),
        ("5'", '5"'),
        ("$50", "\u20ac50"),
        ("$50", "50"),
        ("under $50", "$50"),
        ("about 50", "50"),
        ("5 or 6", "5"),
        ("not friday", "friday"),
        ("5%", "5"),
        ("C++", "C"),
        ("A+", "A"),
        ("O-", "O"),
        ("I'll", "ill"),
        ("re-sign", "resign"),
        ("x > 5", "x < 5"),
        ("john.smith@x.com", "johnsmith@x.com"),
        ("\u0439", "\u0438"),
        ("x\u00b2", "x2"),
        ("", "."),
        (".", "!"),
        ("yes", "no"),
        (True, 1),
        (True, "true"),
        (False, None),
        (None, ""),
        (5, [5]),
        (["a"], ["a", "b"]),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1}, {"b": 1}),
    ],
)
def test_two_values_are_not_the_same(a: Any, b: Any, ref: datetime | None) -> None:
    assert not same(a, b, ref=ref)
    assert not same(b, a, ref=ref)


def test_relative_days_are_read_by_the_reference_time() -> None:
    assert same("tomorrow", "2026-02-28", ref=FRIDAY, timezone="America/New_York")
    assert not same("tomorrow", "2026-02-28")


def test_values_of_an_enum_are_names() -> None:
    assert not same("7 pm", "19:00", {"enum": ["7 pm", "19:00"]})
    assert same("7 pm", "7 pm", {"enum": ["7 pm", "19:00"]})


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(values)
def test_a_value_is_the_same_as_itself(value: Any) -> None:
    assert same(value, value)


@given(values, values)
def test_sameness_has_no_direction(a: Any, b: Any) -> None:
    assert same(a, b) == same(b, a)


@given(st.from_regex(r"[A-Za-z]{2,8}( [A-Za-z]{2,8}){0,2}", fullmatch=True))
def test_case_spacing_and_a_final_stop_change_nothing(text: str) -> None:
    assert same(text, f" {text.upper().replace(' ', '   ')}. ")


ids = st.from_regex(r"[0-9]{1,12}", fullmatch=True)


@given(ids, ids)
def test_ids_are_the_same_only_digit_by_digit(a: str, b: str) -> None:
    assert same(a, b) == (a == b)


@given(st.decimals(-9999, 9999, places=2), st.decimals(-9999, 9999, places=2))
def test_numbers_are_the_same_only_when_equal(a: Any, b: Any) -> None:
    assert same(float(a), float(b)) == (a == b)
    if a != b:
        assert not same(str(a), str(b))


@given(st.datetimes(datetime(2000, 1, 1), datetime(2050, 1, 1)), st.integers(1, 10**6))
def test_moments_are_the_same_only_to_the_minute(moment: datetime, later: int) -> None:
    other = datetime.fromtimestamp(moment.timestamp() + later * 60)
    one, two = (f"{at:%Y-%m-%dT%H:%M}" for at in (moment, other))
    assert same(one, two, ref=FRIDAY) == (one == two)


@given(st.text("+-#@*/.,:'\"()0123456789aAbB ", max_size=8), st.sampled_from("+#@*/%$=<>~_"))
def test_a_sign_more_is_another_value(text: str, sign: str) -> None:
    assert not same(text, text + sign)
