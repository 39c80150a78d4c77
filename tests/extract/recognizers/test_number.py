"""Numbers: pronouns are none, corrections replace, anchors choose."""

import pytest

from flowengine.extract.recognizers import recognize


def values(text, kind="number", **options):
    return [one.value for one in recognize(kind, text, **options)]


@pytest.mark.parametrize(
    "text", ["this one", "no one", "one of them", "the other one", "one moment", "a debit one"]
)
def test_a_pronoun_is_no_number(text):
    assert values(text) == []


@pytest.mark.parametrize("text", ["just one", "one please", "number one", "table for one"])
def test_one_that_counts_is_a_number(text):
    assert values(text) == [1]


def test_a_correction_keeps_what_it_replaced():
    (found,) = recognize("number", "five no wait eight")
    assert (found.value, found.superseded) == (8, (5,))


def test_a_negated_value_is_left_out():
    assert values("not fifty forty") == [40]
    assert values("fifty not forty") == [50]


def test_offered_numbers_are_alternatives():
    first, second = recognize("number", "five or six")
    assert (first.alternatives, second.alternatives) == ((6,), (5,))
    assert first.ambiguous


def test_what_recognition_mixes_up_is_offered():
    assert recognize("integer", "fifteen")[0].alternatives == (50,)
    assert recognize("integer", "15")[0].alternatives == ()


def test_bounds_and_approximations_are_told():
    assert recognize("number", "no more than eighty")[0].bound == "at_most"
    assert recognize("number", "at least fifty")[0].bound == "at_least"
    assert recognize("number", "around a thousand")[0].approximate
    assert recognize("number", "a couple")[0].approximate


def test_a_hedge_lowers_confidence():
    assert recognize("number", "maybe five")[0].confidence < 1


def test_min_and_max_leave_out_what_cannot_be_meant():
    assert values("two thousand or five", max=20) == [5]


def test_the_nearest_number_wins_and_the_word_after_it_weighs_more():
    near = {"anchors": ["want", "ticket"]}
    assert values("i want two tickets at seven", "integer_near", **near)[0] == 2
    assert values("at seven i want four", "integer_near", **near)[0] == 4


def test_beyond_and_begins_another_thing():
    assert values("two pizzas and a salad", "integer_near", anchors=["salad"]) == []


def test_a_number_alone_is_the_answer_to_its_question():
    near = {"anchors": ["people"]}
    assert values("seven", "integer_near", **near) == []
    assert values("seven", "integer_near", asked=True, **near) == [7]
    assert values("seven", "integer_near", asked="number", **near) == [7]
    assert values("seven", "integer_near", asked="time", **near) == []
