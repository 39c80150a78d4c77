"""Text meant to hurt: every kind stays bounded in what it reads and in what it gives back."""

import weakref
from datetime import datetime

import pytest

from flowengine.extract.recognizers import KINDS, Context, recognize, recognizer, utterance
from flowengine.extract.recognizers.base import MOST_VALUES
from flowengine.extract.recognizers.text import LONGEST_TEXT

OPTIONS = {
    "integer_near": {"anchors": ["one", "at"]},
    "one_of": {"options": ["one", "at", "march"]},
    "fuzzy": {"options": ["march one", "dot dot"]},
    "regex": {"pattern": r"(\w+\s?)+$"},
}
PARTS = ["a at a ", "one ", "no wait ", "double ", "at dot ", "s w one ", "1", "march 3 "]
PARTS += ["not ", "$1 "]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_text_gives_no_more_than_a_breath_of_values(kind, part):
    text = (part * 2000)[:9000]
    found = recognize(kind, text, ref=datetime(2026, 3, 4), asked=True, **OPTIONS.get(kind, {}))
    assert len(found) <= MOST_VALUES
    assert all(one.span[1] <= LONGEST_TEXT for one in found)


def test_words_beyond_the_bound_change_nothing():
    text = "I owe fifty dollars. " + "Well, you know. " * 70
    assert recognize("money", text) == recognize("money", text + "No wait, sixty dollars.")


def test_a_number_cut_by_the_bound_is_not_read():
    text = "so " * 332 + "12345"
    assert recognize("digits", text) == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_read_goes_at_once_without_the_garbage_collector(kind):
    said = utterance("not Ann, I can pay one, no wait, $7 at 5 pm tomorrow, at march 3 or a b 1 2")
    made = recognizer(kind, **OPTIONS.get(kind, {}))
    made.recognize(said, Context(focus=True, ref=datetime(2026, 3, 4)))
    left = weakref.ref(said)
    del said
    assert left() is None
