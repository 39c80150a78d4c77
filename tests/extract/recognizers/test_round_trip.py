"""What is put into words comes back: numbers, amounts, dates, times and digit strings."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from flowengine.extract.recognizers import recognize

REF = datetime(2026, 3, 4, 10, 30)
DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august"]
MONTHS += ["september", "october", "november", "december"]


def words(value, **options):
    return num2words(value, **options).replace("-", " ").replace(",", "")


def only(kind, text, **context):
    found = recognize(kind, text, **context)
    assert len(found) == 1, (text, found)
    return found[0].value


@given(st.integers(0, 10**9))
def test_a_number_in_words_is_read_back(value):
    assert only("integer", words(value)) == value


@given(st.integers(0, 10**6))
def test_a_spanish_number_in_words_is_read_back(value):
    assert only("integer", words(value, lang="es"), locale="es-ES") == value


@given(st.integers(-(10**6), -1))
def test_a_negative_number_is_read_back(value):
    assert only("number", words(value)) == value


@given(st.decimals(0, 9999, places=2))
def test_a_decimal_number_is_read_back(value):
    whole, _, part = str(value).partition(".")
    spoken = f"{words(int(whole))} point {' '.join(DIGITS[int(d)] for d in part)}"
    assert only("number", spoken) == float(value)


@given(st.integers(0, 10**7), st.integers(0, 99))
def test_an_amount_of_dollars_and_cents_is_read_back(dollars, cents):
    spoken = f"{words(dollars)} dollars and {words(cents)} cents"
    assert only("money", spoken) == Decimal(dollars) + Decimal(cents) / 100


@given(st.integers(0, 364))
def test_a_day_of_a_month_to_come_is_read_back(ahead):
    day = REF.date() + timedelta(ahead)
    spoken = f"{MONTHS[day.month - 1]} {words(day.day, to='ordinal')}"
    assert only("date", spoken, ref=REF) == day.isoformat()


@given(st.dates(date(1910, 1, 1), date(2025, 12, 31)))
def test_a_birthday_is_read_back(day):
    spoken = f"{MONTHS[day.month - 1]} {words(day.day, to='ordinal')} {words(day.year, to='year')}"
    assert only("date_of_birth", spoken, ref=REF) == day.isoformat()


@given(st.integers(1, 12), st.integers(0, 59), st.sampled_from(["am", "pm", "a m", "p.m."]))
def test_a_time_with_its_half_of_the_day_is_read_back(hour, minute, half):
    spoken = words(hour)
    if minute:
        spoken += f" oh {words(minute)}" if minute < 10 else f" {words(minute)}"
    expected = hour % 12 + (12 if half.startswith("p") else 0)
    assert only("time", f"{spoken} {half}", ref=REF) == f"{expected:02d}:{minute:02d}"


@given(st.text("0123456789", min_size=2, max_size=16))
def test_digits_said_one_by_one_are_read_back(digits):
    assert only("digits", " ".join(DIGITS[int(d)] for d in digits)) == digits


@given(st.integers(1, 999), st.sampled_from(["minutes", "hours", "days", "weeks", "months"]))
def test_a_duration_is_read_back(count, unit):
    letter = {"minutes": "T{}M", "hours": "T{}H", "days": "{}D", "weeks": "{}W", "months": "{}M"}
    expected = "P" + letter[unit].format(count)
    assert only("duration", f"{words(count)} {unit}") == expected


@pytest.mark.parametrize("value", range(1, 32))
def test_an_ordinal_is_read_back(value):
    assert only("ordinal", f"the {words(value, to='ordinal')}") == value


@given(st.text(max_size=300))
def test_no_text_at_all_is_too_much(text):
    for kind in ("number", "money", "datetime", "digits", "letters", "email", "postal_code"):
        for found in recognize(kind, text, ref=REF, asked=True):
            assert 0 <= found.span[0] < found.span[1] <= len(text)
