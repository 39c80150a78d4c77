"""A day named right after a week, month or year lies in it, unless the caller parts the two."""

from datetime import datetime

import pytest

from flowengine.extract.recognizers import recognize

REF = datetime(2026, 3, 4, 10, 30)  # a Wednesday


def best(text, locale="en-US", **context):
    return recognize("date", text, ref=REF, locale=locale, **context)[0]


@pytest.mark.parametrize(
    ("text", "locale", "day", "other"),
    [
        ("a table next week, let's say Thursday at seven", "en-US", "2026-03-12", "2026-03-05"),
        ("I can pay in April, probably on the tenth", "en-US", "2026-04-10", "2026-03-10"),
        ("the refill is due next month, around the twentieth", "en-US", "2026-04-20", "2026-03-20"),
        ("next weekend, maybe Saturday", "en-US", "2026-03-14", "2026-03-07"),
        ("next year, maybe on May third", "en-US", "2027-05-03", "2026-05-03"),
        ("una mesa la próxima semana, el jueves a las ocho", "es-ES", "2026-03-12", "2026-03-05"),
        ("pago el próximo mes, quizás el quince", "es-ES", "2026-04-15", "2026-03-15"),
    ],
)
def test_the_day_lies_in_the_period_and_may_be_the_nearer_one(text, locale, day, other):
    found = best(text, locale)
    assert (found.value, found.alternatives, found.ambiguous) == (day, (other,), True)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("next week or Thursday", "2026-03-05"),
        ("next week and Thursday", "2026-03-05"),
        ("I'm away next week. On Thursday I can come", "2026-03-05"),
        ("I'm away next week so Thursday works", "2026-03-05"),
        ("not next week, maybe Thursday", "2026-03-05"),
        ("next week doesn't work, maybe Thursday", "2026-03-05"),
        ("next week no wait Thursday", "2026-03-05"),
        ("next week, say this Friday", "2026-03-06"),
        ("next weekend, maybe Thursday", "2026-03-05"),
        ("Friday next week, maybe Thursday", "2026-03-13"),
        ("I was ill last week, uh, on Friday I can pay", "2026-03-06"),
        ("my card came last month, by Friday I can pay", "2026-03-06"),
        ("next month, maybe on a Friday", "2026-03-06"),
    ],
)
def test_a_day_that_is_parted_from_the_period_stays_where_it_is(text, day):
    assert best(text).value == day


@pytest.mark.parametrize(
    ("text", "day"),
    [("this week, maybe Friday", "2026-03-06"), ("next month, let's say the third", "2026-04-03")],
)
def test_a_day_that_lies_there_already_has_no_second_reading(text, day):
    found = best(text)
    assert (found.value, found.ambiguous) == (day, False)


def test_a_question_that_looks_back_finds_the_day_in_a_past_period():
    found = best("it began last week, uh, on Monday", prefer="past")
    assert (found.value, found.alternatives) == ("2026-02-23", ("2026-03-02",))


def test_a_period_that_has_begun_does_not_pull_a_day_into_the_past():
    assert best("this week, let's say Monday").value == "2026-03-09"
    assert best("this week, let's say Monday", prefer="past").value == "2026-03-02"
