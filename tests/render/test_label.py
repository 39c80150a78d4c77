"""Words short enough to draw, and guards of which nothing is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flowengine.render.label import LONGEST, goal_line, guard_lines, name_lines, visible

WORDS = st.lists(st.text("abc_()[],<>=", min_size=1, max_size=60), min_size=1, max_size=12)


@given(WORDS, st.sampled_from([" ", " and ", " or "]))
def test_a_guard_in_lines_is_the_whole_guard(words: list[str], joint: str) -> None:
    text = joint.join(words)
    lines = guard_lines(text)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(len(line) <= LONGEST for line in lines)


def test_a_guard_breaks_before_and() -> None:
    assert guard_lines("is_true(right_party) and is_true(id_verified)") == (
        "is_true(right_party)",
        "and is_true(id_verified)",
    )


def test_a_short_guard_stays_in_one_line() -> None:
    assert guard_lines("paid and agreed or skipped") == ("paid and agreed or skipped",)


def test_a_text_in_a_guard_is_no_place_to_break() -> None:
    lines = guard_lines('answer == "yes please and thank you" and is_true(polite)')
    assert lines == ('answer == "yes please and thank you"', "and is_true(polite)")


def test_a_goal_is_the_first_sentence_that_there_is() -> None:
    assert goal_line("", "Open the call. Be kind.") == "Open the call"


def test_a_long_goal_ends_at_a_word() -> None:
    assert goal_line("Read the whole disclosure to the caller, verbatim") == (
        "Read the whole disclosure to the …"
    )


def test_control_characters_get_pictures() -> None:
    assert visible("a\x07\x7f\x85\ud800b\n") == "a\u2407\u2421\ufffd\ufffdb\n"


def test_a_name_without_ink_is_quoted() -> None:
    assert name_lines("") == ['""']
    assert name_lines(" ") == ['" "']
    assert name_lines("one\ntwo") == ["one", "two"]
