"""Options, names and patterns: whole words, places, near sounds, and nothing by accident."""

import pytest

from flowengine.extract.recognizers import recognize

DISHES = ["pizza", "salad", "none"]
NAMES = ["John Smith", "Jane Smith", "Mary O'Connor"]


def picks(text, options=DISHES, **more):
    return [one.value for one in recognize("one_of", text, options=options, **more)]


def test_a_word_inside_another_is_no_option():
    assert picks("nonetheless i wait") == []


def test_the_longest_name_wins():
    assert picks("the savings account plus", ["savings account", "savings account plus"]) == [
        "savings account plus"
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [("the second one", "salad"), ("the last one", "none"), ("option one", "pizza")],
)
def test_a_place_picks_an_option(text, value):
    assert picks(text) == [value]


def test_what_is_ruled_out_is_left_out():
    assert picks("not the pizza the salad") == ["salad"]
    assert picks("not pizza", ["pizza", "salad"]) == ["salad"]
    assert picks("not pizza") == []


def test_two_options_are_alternatives():
    first, second = recognize("one_of", "pizza or salad", options=DISHES)
    assert (first.alternatives, second.alternatives) == (("salad",), ("pizza",))
    assert first.confidence < 1


def test_a_correction_replaces_the_pick():
    (found,) = recognize("one_of", "pizza no wait salad", options=DISHES)
    assert (found.value, found.superseded) == ("salad", ("pizza",))


def test_synonyms_give_the_option_its_name():
    assert picks("my current account", {"checking": ["current account"], "savings": []}) == [
        "checking"
    ]


def test_a_near_sound_counts_unless_switched_off():
    assert picks("a pitza please") == ["pizza"]
    assert picks("a pitza please", fuzzy=False) == []


def test_every_part_of_a_name_must_be_heard():
    assert recognize("fuzzy", "smith", options=NAMES) == []
    assert recognize("fuzzy", "jon smyth", options=NAMES)[0].value == "John Smith"
    assert recognize("fuzzy", "mary oconnor", options=NAMES)[0].value == "Mary O'Connor"


def test_names_too_near_to_each_other_are_ambiguous():
    (first, *_) = recognize("fuzzy", "jon smith", options=["John Smith", "Jon Smithe"])
    assert first.ambiguous
    assert first.alternatives


def test_a_pattern_gives_its_group_and_span():
    (found,) = recognize("regex", "order AB-12", pattern=r"order ([a-z]+-\d+)")
    assert (found.value, found.span) == ("AB-12", (6, 11))


def test_a_pattern_cannot_hang():
    assert recognize("regex", "a" * 900 + "!", pattern=r"(a+)+$") == []
