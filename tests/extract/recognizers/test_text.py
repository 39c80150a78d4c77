"""The pre-pass: words with their places, punctuation as breaks, bounded input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.extract.recognizers import utterance
from flowengine.extract.recognizers.text import LONGEST_TEXT, heard


def test_words_are_lower_case_and_lie_where_they_were_said():
    said = utterance("It's FIVE p.m., OK?")
    assert said.words == ["it's", "five", "pm", "ok"]
    assert [said.text[s:e] for s, e in zip(said.starts, said.ends, strict=True)] == [
        "It's",
        "FIVE",
        "p.m.",
        "OK",
    ]
    assert said.breaks == ["", "", "", ","]


def test_written_numbers_keep_their_shape():
    said = utterance("1,500 on 3/15/2026 at 15:30, the 2nd, twenty-five")
    assert list(zip(said.words, said.shapes, strict=True)) == [
        ("1,500", "number"),
        ("on", "word"),
        ("3/15/2026", "date"),
        ("at", "word"),
        ("15:30", "clock"),
        ("the", "word"),
        ("2nd", "ordinal"),
        ("twenty", "word"),
        ("five", "word"),
    ]


def test_a_turn_is_read_once_for_all_who_ask_about_it():
    assert heard("five dollars", "en-US", 7) is heard("five dollars", "en-US", 7)
    assert heard("five dollars", "en-US", 7) is not heard("five dollars", "en-US", 8)
    assert heard("five dollars", "en-US", 7) is not heard("five dollars", "es-ES", 7)


def test_a_long_turn_is_not_kept():
    text = "five " * LONGEST_TEXT
    assert heard(text, "en-US", 7) is not heard(text, "en-US", 7)
    assert heard(text, "en-US", 7).words == utterance(text).words


def test_what_lies_beyond_the_bound_is_not_read():
    said = utterance("word " * 1000)
    assert said.ends[-1] <= LONGEST_TEXT


@given(st.text(max_size=200))
def test_every_place_is_inside_the_text_and_in_order(text):
    said = utterance(text)
    places = [place for pair in zip(said.starts, said.ends, strict=True) for place in pair]
    assert places == sorted(places)
    assert all(0 <= place <= len(text) for place in places)


@given(st.text(" ab'Zq9.,", max_size=30))
def test_plain_words_are_split_as_any_other_text_is(text):
    """A full stop at the end makes a text less plain; its words and their places stay."""
    plain, ended = (
        utterance(text.rstrip(" .,") or "a"),
        utterance((text.rstrip(" .,") or "a") + ";"),
    )
    for name in ("words", "shapes", "starts", "ends", "breaks"):
        assert getattr(plain, name) == getattr(ended, name)


@pytest.mark.parametrize("space", [" ", "\n", "\t", "\u00a0", "\u3000"])
def test_a_long_text_ends_before_a_word_that_does_not_fit(space: str) -> None:
    said = utterance(f"well{space}" * 199 + f"pay{space}$150{space}now")
    assert said.words[-1] == "pay"


@pytest.mark.parametrize("text", [" " * 1500, "\n" * 1500, "x" * 1500, " " + "x" * 1500])
def test_a_long_text_of_one_word_or_none_can_be_read(text: str) -> None:
    assert utterance(text).ends[-1:] in ([], [LONGEST_TEXT])
