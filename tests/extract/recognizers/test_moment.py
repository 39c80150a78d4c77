"""Dates and times: what the reference, the zone, the question and the direction decide."""

from datetime import UTC, datetime

import pytest

from flowengine.extract.recognizers import recognize

REF = datetime(2026, 3, 4, 10, 30)  # a Wednesday
NEW_YORK = {"ref": REF, "tz": "America/New_York"}


def read(text, kind="datetime", **context):
    return recognize(kind, text, **({"ref": REF} | context))


def values(text, **context):
    return [one.value for one in read(text, **context)]


def test_an_hour_without_half_of_day_follows_business_hours_and_says_so():
    (found,) = read("at four")
    assert (found.value, found.ambiguous, found.alternatives) == ("16:00", True, ("04:00",))


def test_business_hours_are_an_option():
    assert values("at eight", hours=[17, 23]) == ["20:00"]


@pytest.mark.parametrize("text", ["tomorrow morning at nine", "at nine tomorrow morning"])
def test_a_part_of_day_decides_the_half(text):
    (found,) = read(text)
    assert (found.value, found.ambiguous) == ("2026-03-05T09:00", False)


def test_a_part_of_day_said_once_covers_both_offered_times():
    assert values("at two or three in the afternoon on friday") == [
        "2026-03-06T14:00",
        "2026-03-06T15:00",
    ]


def test_next_friday_names_its_nearer_reading():
    (found,) = read("next friday")
    assert (found.value, found.alternatives, found.ambiguous) == (
        "2026-03-13",
        ("2026-03-06",),
        True,
    )


def test_a_weekday_said_on_that_day_may_be_today():
    (found,) = read("wednesday")
    assert (found.value, found.alternatives) == ("2026-03-11", ("2026-03-04",))


def test_looking_back_is_asked_for():
    assert values("march 3") == ["2027-03-03"]
    assert values("march 3", prefer="past") == ["2026-03-03"]
    assert values("friday", kind="date", prefer="past") == ["2026-02-27"]


def test_a_bare_number_needs_the_question():
    assert values("seven") == []
    assert values("seven", asked=True) == ["07:00"]
    assert values("fifteen", kind="date", asked=True) == ["2026-03-15"]
    assert values("five thirty") == ["17:30"]
    assert values("five thirty", asked="money") == []


def test_a_correction_replaces_only_the_part_it_names():
    (found,) = read("tomorrow at three no wait four")
    assert (found.value, found.superseded) == ("2026-03-05T16:00", ("15:00",))
    (found,) = read("tomorrow no wait friday at three")
    assert (found.value, found.superseded) == ("2026-03-06T15:00", ("2026-03-05",))


def test_what_is_ruled_out_is_not_read():
    assert values("not tomorrow but friday") == ["2026-03-06"]
    assert values("i can't do tuesday can we do wednesday") == ["2026-03-11"]


def test_two_days_are_two_values():
    assert values("from march 10 to march 12") == ["2026-03-10", "2026-03-12"]


def test_offered_days_are_alternatives_of_each_other():
    first, second = read("monday or tuesday")
    assert (first.value, first.alternatives) == ("2026-03-09", ("2026-03-10",))
    assert second.ambiguous


def test_a_wall_time_that_the_clocks_skip_moves_by_the_gap():
    (found,) = read("sunday at two thirty am", **NEW_YORK)
    assert found.value == "2026-03-08T03:30"
    assert found.alternatives == ("2026-03-08T02:30",)
    assert found.rule.endswith("dst_gap")


def test_a_wall_time_that_exists_twice_is_flagged():
    (found,) = read("november first at one thirty am", **NEW_YORK)
    assert (found.value, found.ambiguous) == ("2026-11-01T01:30", True)


def test_hours_pass_in_real_time_and_days_on_the_calendar():
    before = datetime(2026, 3, 8, 1, 30)
    zone = {"ref": before, "tz": "America/New_York"}
    assert values("in one hour", **zone) == ["2026-03-08T03:30"]
    assert values("in one day", **zone) == ["2026-03-09"]


def test_an_aware_reference_is_taken_to_the_zone():
    ref = datetime(2026, 3, 5, 3, 0, tzinfo=UTC)
    assert values("today", ref=ref, tz="America/New_York") == ["2026-03-04"]


def test_without_a_reference_only_full_dates_and_times_are_read():
    assert values("tomorrow at three pm", ref=None) == ["15:00"]
    assert values("march 3 2027", ref=None) == ["2027-03-03"]


def test_a_locale_orders_the_date():
    assert values("4/3/2026", locale="en-US") == ["2026-04-03"]
    assert values("4/3/2026", locale="en-GB") == ["2026-03-04"]
    assert values("25/3/2026", locale="en-US") == ["2026-03-25"]


def test_a_date_that_does_not_exist_is_not_read():
    assert values("february thirtieth twenty twenty seven", kind="date") == []


def test_the_object_form_has_the_words_too():
    (found,) = read("tomorrow evening at seven", form="parts")
    assert found.value == {
        "time": "19:00",
        "day": "tomorrow",
        "part": "evening",
        "date": "2026-03-05",
    }
    (found,) = read("next monday", form="parts")
    assert found.value == {"weekday": "monday", "date": "2026-03-09"}


@pytest.mark.parametrize(
    ("text", "bound"),
    [("before noon", "before"), ("by friday", "before"), ("after five pm", "after")],
)
def test_a_bound_is_told(text, bound):
    assert read(text)[0].bound == bound


@pytest.mark.parametrize(
    "text",
    ["may i ask", "i had a fall", "one moment", "now and then", "i sat down", "we'd like to"],
)
def test_words_that_only_look_like_dates_are_left_alone(text):
    assert values(text) == []


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("from the twelfth to the fifth", "2026-03-12", "2026-04-05"),
        ("saturday till tuesday", "2026-03-07", "2026-03-10"),
        ("from the third to the sixth of may", "2026-05-03", "2026-05-06"),
        ("thursday through sunday", "2026-03-05", "2026-03-08"),
    ],
)
def test_the_end_of_a_range_comes_after_its_beginning(text, start, end):
    found = recognize("date", text, ref=datetime(2026, 3, 4, 10, 30))
    assert [one.value for one in found] == [start, end]


def test_a_night_is_no_hour():
    assert recognize("time", "a room for one night", ref=datetime(2026, 3, 4, 10, 30)) == []
