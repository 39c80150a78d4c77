"""Dates of birth: how people say them, and how speech recognition writes them."""

from datetime import datetime

import pytest

from flowengine.extract.recognizers import recognize

REF = datetime(2026, 3, 4, 10, 30)


def born(text, asked=True, locale="en-GB"):
    return recognize("date_of_birth", text, asked=asked, ref=REF, locale=locale)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("eleventh of the third sixty two", "1962-03-11"),
        ("the twenty first of the twelfth nineteen oh nine", "1909-12-21"),
        ("4th of July nineteen or seven", "1907-07-04"),
        ("11:00 May 1963", "1963-05-11"),
        ("3rd of May 19:14", "1914-05-03"),
        ("1400 October 1971", "1971-10-14"),
        ("2018 April 1954", "1954-04-28"),
        ("40 of August 1949", "1949-08-14"),
        ("20 for June 1990", "1990-06-24"),
        ("2nd of June and 1988", "1988-06-02"),
        ("rest of October 1950", "1950-10-05"),
        ("states of the 9th 1961", "1961-09-08"),
        ("May then 1977", "1977-05-10"),
        ("4th of sixth 1980", "1980-06-04"),
        ("30th of fix 1971", "1971-06-30"),
        ("1507 198", "1988-07-15"),
        ("12:05 73", "1973-05-12"),
        ("Wednesday 5th of June 1952", "1952-06-25"),
        ("when's the 3rd of May 1944", "1944-05-23"),
    ],
)
def test_a_misheard_answer_is_still_a_date(text, day):
    assert born(text)[0].value == day


def test_a_wednesday_that_was_one_stays_one():
    assert born("Wednesday 4th of June 1952")[0].value == "1952-06-04"


def test_guesses_have_little_confidence_and_need_the_question():
    assert born("rest of October 1950")[0].confidence < 0.5
    assert born("rest of October 1950", asked=None) == []
    assert born("so October 1950") == []


def test_teens_and_tens_are_offered_for_each_other():
    found = born("13th of July 1990")[0]
    assert found.value == "1990-07-13"
    assert set(found.alternatives) == {"1919-07-13", "1990-07-30"}


def test_nobody_is_born_tomorrow_or_older_than_anybody():
    assert born("5th of March 2026") == []
    assert born("5th of March 1899") == []
    assert born("4th of March 2026")[0].value == "2026-03-04"


@pytest.mark.parametrize(
    ("locale", "day", "other"),
    [("en-US", "1984-03-05", "1984-05-03"), ("en-GB", "1984-05-03", "1984-03-05")],
)
def test_numbers_alone_are_read_in_the_order_of_the_country(locale, day, other):
    found = born("three five eighty four", locale=locale)[0]
    assert (found.value, found.alternatives, found.ambiguous) == (day, (other,), True)
