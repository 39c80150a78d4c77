"""Money: exact amounts, their currency, and what relative words are measured by."""

from decimal import Decimal

import pytest

from flowengine.extract.recognizers import recognize


def one(text, **context):
    return recognize("money", text, **context)[0]


@pytest.mark.parametrize(
    ("text", "value", "currency"),
    [
        ("a dollar twenty", "1.20", "USD"),
        ("five quid", "5", "GBP"),
        ("20 euros", "20", "EUR"),
        ("£3.50", "3.50", "GBP"),
        ("ten canadian dollars", "10", "CAD"),
    ],
)
def test_an_amount_has_its_currency(text, value, currency):
    found = one(text)
    assert (str(found.value), found.unit) == (value, currency)
    assert isinstance(found.value, Decimal)


def test_a_dollar_is_the_regions_own():
    assert one("ten dollars", locale="en-CA").unit == "CAD"
    assert one("ten bucks", locale="en-GB").unit == "USD"


def test_a_bare_number_needs_the_question():
    assert recognize("money", "fifty") == []
    assert one("fifty", asked=True).value == 50
    assert one("twenty bucks no wait thirty").value == 30


def test_an_amount_of_two_readings_gives_both():
    found = one("three fifty", asked=True)
    assert (found.value, found.alternatives) == (Decimal("3.50"), (Decimal(350),))
    assert found.ambiguous


def test_a_share_is_measured_by_what_is_known():
    assert recognize("money", "half of it") == []
    assert one("half of it", current=Decimal("121")).value == Decimal("60.50")
    assert one("a quarter of the balance", full=200).value == 50
    assert one("the full amount", full=200).value == 200
    assert one("the minimum", minimum="25.00").value == 25


@pytest.mark.parametrize("text", ["i pound the pavement", "it makes no cents", "call 555 1234"])
def test_no_amount_is_made_up(text):
    assert recognize("money", text) == []


def test_four_digits_without_a_comma_are_one_amount():
    assert one("$1250").value == 1250
    assert one("4250 dollars").value == 4250
