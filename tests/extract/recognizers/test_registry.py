"""Making recognizers: options are checked when a flow is loaded, and named in the message."""

from datetime import datetime

import pytest

from flowengine.errors import FlowError
from flowengine.extract.recognizers import (
    KINDS,
    Context,
    Recognition,
    RecognizerError,
    recognize,
    recognizer,
    utterance,
    warm_up,
)

SAMPLE = {
    "integer_near": {"anchors": ["want"]},
    "one_of": {"options": ["pizza", "salad"]},
    "fuzzy": {"options": ["Johnson"]},
    "regex": {"pattern": "a+"},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "?!",
        "...",
        "\n",
        "\x00",
        "é́",
        "שלום",
        "😀😀",
        "ﬁve",
        "İstanbul",
        "1" * 50,
        "a" * 3000,
    ],
)
def test_every_kind_takes_any_text(kind, text):
    found = recognize(kind, text, ref=datetime(2026, 3, 4), **SAMPLE.get(kind, {}))
    assert all(isinstance(one, Recognition) for one in found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_span_points_into_the_text_as_given(kind):
    text = (
        "Well\u2026 I\u2019d say, July 4th at 3:30 p.m. for two people, $20 or 5%; "
        "call 555-123-4567, pizza Johnson aaa"
    )
    for one in recognize(kind, text, ref=datetime(2026, 3, 4), **SAMPLE.get(kind, {})):
        start, end = one.span
        assert 0 <= start < end <= len(text)
        assert 0 < one.confidence <= 1
        assert one.rule


def test_an_unknown_kind_names_the_near_miss():
    with pytest.raises(RecognizerError, match=r"no recognizer 'mony'.*Did you mean 'money'"):
        recognizer("mony")


def test_an_unknown_option_names_the_near_miss():
    with pytest.raises(RecognizerError, match=r"money has no option 'curency'.*'currency'"):
        recognizer("money", curency="USD")


def test_a_recognizer_error_is_an_error_of_the_flow():
    with pytest.raises(FlowError):
        recognizer("datetime", form="partz")


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("integer_near", {}, "needs anchors"),
        ("one_of", {}, "needs options"),
        ("one_of", {"options": "pizza"}, "a list, or a mapping"),
        ("one_of", {"options": ["!!"]}, "no word in it"),
        ("fuzzy", {"options": []}, "needs options"),
        ("fuzzy", {"options": ["Ann"], "threshold": 2}, "0..1"),
        ("regex", {"pattern": "(?<=a)b"}, "no RE2 pattern"),
        ("regex", {}, "needs a pattern"),
        ("datetime", {"prefer": "futur"}, "Did you mean 'future'"),
        ("datetime", {"hours": [18, 7]}, "in order"),
        ("digits", {"length": "four"}, "a number"),
        ("digits", {"checksum": "lun"}, "luhn"),
        ("postal_code", {"country": "fr"}, "gb, ca, us"),
        ("phone", {"format": "e162"}, "e164"),
        ("money", {"full": "much"}, "an amount"),
    ],
)
def test_a_bad_option_is_refused_with_its_cure(kind, options, message):
    with pytest.raises(RecognizerError, match=message):
        recognizer(kind, **options)


def test_a_bare_argument_sets_the_main_option():
    assert recognizer("integer_near", ["want"]) == recognizer("integer_near", anchors=["want"])
    assert recognizer("digits", 4) == recognizer("digits", length=4)


def test_a_bare_argument_is_refused_where_a_kind_has_none():
    with pytest.raises(RecognizerError, match="takes no argument"):
        recognizer("money", "USD")


def test_the_main_option_is_not_given_twice():
    with pytest.raises(RecognizerError, match="given twice"):
        recognizer("one_of", ["a"], options=["b"])


def test_an_unknown_locale_names_those_that_exist():
    with pytest.raises(FlowError, match="en, es"):
        recognize("number", "five", locale="xx-YY")
    with pytest.raises(FlowError, match="unknown region"):
        recognize("number", "five", locale="en-ZZ")


def test_an_unknown_time_zone_is_refused():
    with pytest.raises(RecognizerError, match="time zone 'Mars/City'"):
        recognize("datetime", "tomorrow at three", ref=datetime(2026, 3, 4), tz="Mars/City")


def test_asking_for_a_kind_is_asking_for_its_family():
    assert (
        recognize("datetime", "seven", asked="time", ref=datetime(2026, 3, 4))[0].value == "07:00"
    )
    assert recognize("time", "seven", asked="money", ref=datetime(2026, 3, 4)) == []


def test_one_utterance_serves_all_recognizers_of_a_turn():
    said = utterance("fifty dollars on friday")
    context = Context(ref=datetime(2026, 3, 4))
    assert str(recognizer("money").recognize(said, context)[0].value) == "50"
    assert recognizer("date").recognize(said, context)[0].value == "2026-03-06"


def test_other_hypotheses_answer_where_the_first_is_silent():
    found = recognize("number", "ate or nein", alternatives=["eight or nine"])
    assert (found[0].value, found[0].rule, found[0].span) == (8, "number.words@1", (0, 11))
    assert found[0].confidence < 1


def test_other_hypotheses_are_alternatives_of_the_first():
    found = recognize("number", "fifteen", alternatives=["fifty", "sixteen"])
    assert found[0].value == 15
    assert set(found[0].alternatives) == {50, 16}


def test_warming_up_changes_no_result():
    before = recognize("datetime", "friday at two", ref=datetime(2026, 3, 4))
    warm_up()
    warm_up("es-ES")
    assert recognize("datetime", "friday at two", ref=datetime(2026, 3, 4)) == before


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in SAMPLE])
def test_a_warm_locale_compiles_nothing_in_the_first_turn(kind):
    warm_up("en-AU")
    compiled = set(utterance("", "en-AU").locale._grammars)
    ref = datetime(2026, 3, 4)
    for text in ("five", "no wait six", "from two to three", "march second eighty four"):
        for asked in (None, True, False, "date"):
            recognize(kind, text, ref=ref, asked=asked, locale="en-AU")
    assert set(utterance("", "en-AU").locale._grammars) == compiled
