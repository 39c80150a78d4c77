"""Holidays by name: the common ones always, a country's own with the package `holidays`."""

import sys
from datetime import datetime

import pytest

from flowengine.extract.recognizers import RecognizerError, recognize, recognizer

REF = datetime(2026, 3, 4, 10, 30)


def day(text, **options):
    return [one.value for one in recognize("date", text, ref=REF, **options)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("christmas eve", "2026-12-24"),
        ("memorial day", "2026-05-25"),
        ("the day after thanksgiving", "2026-11-27"),
        ("the day before christmas", "2026-12-24"),
        ("the friday after easter", "2026-04-10"),
        ("two days before new year's eve", "2026-12-29"),
        ("last easter", "2025-04-20"),
        ("christmas of next year", "2027-12-25"),
        ("easter twenty thirty", "2030-04-21"),
        ("black friday", "2026-11-27"),
        ("good friday", "2026-04-03"),
    ],
)
def test_common_holidays_need_no_package(text, value, monkeypatch):
    monkeypatch.setitem(sys.modules, "holidays", None)
    assert day(text) == [value]


def test_a_weekday_with_a_name_of_its_own_is_no_weekday():
    assert day("super tuesday") == []


@pytest.mark.parametrize(
    ("place", "text", "value"),
    [
        ("US", "washington's birthday", "2027-02-15"),
        ("US", "martin luther king day", "2027-01-18"),
        ("US", "the day after independence day", "2026-07-05"),
        ("GB-ENG", "the spring bank holiday", "2026-05-25"),
        ("CA-ON", "thanksgiving day", "2026-10-12"),
        ("IE", "saint brigid's day", "2027-02-01"),
    ],
)
def test_a_country_names_its_own(place, text, value):
    assert day(text, holidays=place) == [value]


def test_a_named_day_is_corrected_and_timed_as_any_other():
    found = recognize("datetime", "veterans day no wait labor day at noon", ref=REF, holidays="US")
    assert (found[0].value, found[0].superseded) == ("2026-09-07T12:00", ("2026-11-11",))


def test_the_past_is_looked_at_when_the_question_does():
    assert day("juneteenth", holidays="US", prefer="past") == ["2025-06-19"]


def test_an_unknown_country_is_refused_when_the_flow_is_loaded():
    with pytest.raises(RecognizerError, match="country code such as US"):
        recognizer("date", holidays="XX")


def test_without_the_package_the_option_names_the_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "holidays", None)
    with pytest.raises(RecognizerError, match=r"pip install 'flowengine\[holidays\]'"):
        recognizer("date", holidays="CA-QC")


def test_without_phonenumbers_e164_names_the_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "phonenumbers", None)
    with pytest.raises(RecognizerError, match=r"pip install 'flowengine\[phone\]'"):
        recognizer("phone", format="e164")
