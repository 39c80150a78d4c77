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


# Dates and times to come, in the many ways they are put


@given(st.integers(0, 330), st.sampled_from(["{m} {d}", "the {d} of {m}", "{m} the {d}"]))
def test_a_day_is_read_back_however_it_is_put(ahead, form):
    day = REF.date() + timedelta(ahead)
    spoken = form.format(m=MONTHS[day.month - 1], d=words(day.day, to="ordinal"))
    assert only("date", f"can we do {spoken} please", ref=REF) == day.isoformat()


@given(st.dates(date(2027, 1, 1), date(2039, 12, 31)))
def test_a_day_with_its_year_is_read_back(day):
    month, year = MONTHS[day.month - 1], words(day.year, to="year")
    spoken = f"{month} {words(day.day, to='ordinal')} {year}"
    assert only("date", spoken, ref=REF) == day.isoformat()


@given(st.integers(2, 300), st.sampled_from([("days", 1), ("weeks", 7)]))
def test_a_distance_from_today_is_read_back(count, unit):
    name, days = unit
    expected = REF.date() + timedelta(count * days)
    assert only("date", f"{words(count)} {name} from now", ref=REF) == expected.isoformat()
    assert only("date", f"in {words(count)} {name}", ref=REF) == expected.isoformat()


@given(st.integers(1, 12), st.sampled_from([5, 10, 20, 25]), st.booleans())
def test_a_time_before_or_after_the_hour_is_read_back(hour, minutes, past):
    spoken = f"{words(minutes)} {'past' if past else 'to'} {words(hour)}"
    total = hour * 60 + (minutes if past else -minutes)
    found = recognize("time", spoken, ref=REF)[0]
    clocks = [int(v[:2]) * 60 + int(v[3:]) for v in (found.value, *found.alternatives)]
    assert all(clock % 720 == total % 720 for clock in clocks)
    assert len(clocks) == 2


@given(st.integers(0, 23), st.integers(0, 59))
def test_a_written_clock_is_read_back(hour, minute):
    assert only("time", f"at {hour:02d}:{minute:02d} sharp", ref=REF)[3:] == f"{minute:02d}"
    if hour > 12 or hour == 0:
        assert only("time", f"{hour:02d}:{minute:02d}", ref=REF) == f"{hour:02d}:{minute:02d}"


# Corrections: whatever is said, the last word stands


CUES = ["no wait", "sorry", "i mean", "actually", "scratch that", "no make it", "no"]


@given(st.integers(1, 999), st.integers(2, 999), st.sampled_from(CUES))  # "no one", "that one"
def test_the_number_after_a_correction_stands(first, second, cue):
    found = recognize("integer", f"{words(first)} {cue} {words(second)}")
    assert (found[0].value, found[0].superseded) == (second, (first,))


@given(st.integers(1, 999), st.integers(2, 999), st.sampled_from(CUES))  # "no one", "that one"
def test_the_amount_after_a_correction_stands(first, second, cue):
    found = recognize("money", f"{words(first)} dollars {cue} {words(second)} dollars")
    assert (found[0].value, found[0].superseded) == (second, (first,))


@given(st.integers(0, 6), st.integers(0, 6), st.sampled_from(CUES))
def test_the_weekday_after_a_correction_stands(first, second, cue):
    days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    found = recognize("date", f"{days[first]} {cue} {days[second]}", ref=REF)
    assert found == recognize("date", f"x {days[second]}", ref=REF) or (
        found[0].value == recognize("date", days[second], ref=REF)[0].value
    )


# Around the value: what else people say changes nothing


BEFORE = [
    "",
    "uh ",
    "yeah it's ",
    "i think ",
    "let's say ",
    "okay so ",
    "um i guess ",
    "hi i want ",
]
AFTER = ["", " please", " thanks", " if that's okay", " and that's it", " i think"]


@given(st.integers(2, 99), st.sampled_from(BEFORE), st.sampled_from(AFTER))
def test_words_around_an_amount_change_nothing(dollars, before, after):
    assert only("money", f"{before}{words(dollars)} dollars{after}") == dollars


@given(st.integers(1, 12), st.sampled_from(BEFORE), st.sampled_from(AFTER))
def test_words_around_an_hour_that_was_asked_for_change_nothing(hour, before, after):
    plain = recognize("time", words(hour), ref=REF, asked=True)[0].value
    assert recognize("time", f"{before}{words(hour)}{after}", ref=REF, asked=True)[0].value == plain


@given(st.text("0123456789", min_size=3, max_size=12), st.sampled_from(["uh", "um", "dash"]))
def test_pauses_inside_digits_change_nothing(digits, pause):
    said = [DIGITS[int(d)] for d in digits]
    assert only("digits", " ".join([*said[:2], pause, *said[2:]])) == digits


@given(st.text("0123456789", min_size=2, max_size=10))
def test_repeated_digits_may_be_doubled(digits):
    spoken, i = [], 0
    while i < len(digits):
        twice = digits[i : i + 2] == digits[i] * 2
        spoken.append(f"double {DIGITS[int(digits[i])]}" if twice else DIGITS[int(digits[i])])
        i += 2 if twice else 1
    assert only("digits", " ".join(spoken)) == digits


# Spanish


MESES = ["enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto"]
MESES += ["septiembre", "octubre", "noviembre", "diciembre"]


@given(st.integers(2, 9999), st.sampled_from([("dólares", "es-US"), ("euros", "es-ES")]))
def test_a_spanish_amount_is_read_back(amount, currency):
    name, locale = currency
    assert only("money", f"{words(amount, lang='es')} {name}", locale=locale) == amount


@given(st.integers(1, 330))
def test_a_spanish_day_is_read_back(ahead):
    day = REF.date() + timedelta(ahead)
    spoken = f"el {words(day.day, lang='es')} de {MESES[day.month - 1]}"
    assert only("date", spoken, ref=REF, locale="es-ES") == day.isoformat()


@given(st.integers(2, 12), st.sampled_from([("mañana", 0), ("tarde", 12)]))
def test_a_spanish_time_is_read_back(hour, part):
    name, later = part
    spoken = f"a las {words(hour, lang='es')} de la {name}"
    expected = hour % 12 + later
    assert only("time", spoken, ref=REF, locale="es-ES") == f"{expected:02d}:00"


@given(st.integers(2, 59), st.sampled_from([("minutos", "PT{}M"), ("días", "P{}D")]))
def test_a_spanish_duration_is_read_back(count, unit):
    name, form = unit
    assert only("duration", f"{words(count, lang='es')} {name}", locale="es-ES") == form.format(
        count
    )
