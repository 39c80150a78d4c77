"""Spellings of one sound are alike; names that only look alike are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.extract.grounding.sounds import sound_alike


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Smith", "Smyth"), ("Catherine", "Kathryn"), ("Stephen", "Steven"), ("Jon", "John"),
        ("Anne", "Ann"), ("Leigh", "Lee"), ("Hanson", "Hansen"), ("Sara", "Sarah"),
        ("Philip", "Phillip"), ("Geoffrey", "Jeffrey"), ("Dylan", "Dillon"), ("Zack", "Zach"),
        ("Mary", "Marie"), ("Reid", "Reed"), ("lisinopril", "lysinopril"), ("José", "Jose"),
    ],
)  # fmt: skip
def test_spellings_of_one_sound_are_alike(one: str, other: str) -> None:
    assert 0.7 <= sound_alike(one, other) <= 1
    assert sound_alike(one, other) == sound_alike(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Eric", "Erica"), ("Maria", "Mario"), ("Maria", "Marie"), ("Ann", "Anna"),
        ("Fernandez", "Hernandez"), ("Johnson", "Johnston"), ("Johnson", "Jackson"),
        ("Ellen", "Allen"), ("Tim", "Tom"), ("Jane", "June"), ("Robert", "Rupert"),
        ("prednisone", "prednisolone"), ("hydroxyzine", "hydralazine"), ("Bill", "Bell"),
        ("fifteen", "fifty"), ("7", "17"), ("a1", "a2"), ("Jo", "Joe"), ("", "Ann"),
    ],
)  # fmt: skip
def test_other_names_are_not_alike(one: str, other: str) -> None:
    assert sound_alike(one, other) == 0


@given(st.text(max_size=12), st.text(max_size=12))
def test_likeness_is_a_share_and_has_no_direction(one: str, other: str) -> None:
    assert 0 <= sound_alike(one, other) <= 1
    assert sound_alike(one, other) == sound_alike(other, one)
    assert sound_alike(one, one) == 1
