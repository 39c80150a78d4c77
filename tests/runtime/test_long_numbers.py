"""Long numbers are found as they are written or spoken, and short ones are left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.runtime.long_numbers import long_numbers

SPOKEN = "five five five one two three four five six seven"


def shown(text: str) -> str:
    for start, end in sorted(set(long_numbers(text, "en-US")), reverse=True):
        text = f"{text[:start]}#{text[end:]}"
    return text


@pytest.mark.parametrize(
    "number", ["4242 4242 4242 4242", "4242-4242-4242-4242", "555.123.4567", "987654321", SPOKEN]
)
def test_a_long_number_is_found_where_it_stands(number: str) -> None:
    assert shown(f"it is {number} thank you") == "it is # thank you"


@pytest.mark.parametrize(
    "words",
    ["on 2026-03-05 at 19:30", "I pay 1,250,000.00", "12 of 40", "the last four are 4 4 1 7",
     "born on the fifth of March nineteen eighty four", "order 77812", "",
     "on 2024-01-05 10:30", "05.01.2024 14 30", "12-05-2024 9"],
)  # fmt: skip
def test_other_numbers_are_left_alone(words: str) -> None:
    assert shown(words) == words


@given(st.text("0123456789", min_size=9, max_size=19), st.sampled_from(["", " ", "-"]))
def test_however_its_digits_are_grouped_none_is_left(digits: str, between: str) -> None:
    grouped = between.join(digits[at : at + 4] for at in range(0, len(digits), 4))
    assert not any(letter.isdigit() for letter in shown(f"card {grouped} please"))
