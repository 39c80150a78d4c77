"""Of several days said in one breath, the first one returned is the one that was asked for."""

from datetime import datetime
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowengine.extract.recognizers import recognize

REF = datetime(2026, 3, 4, 10, 30)  # a Wednesday

DEBT = [
    ("I lost my job last month, I can pay two hundred dollars on Friday", "2026-03-06 2026-02-01"),
    ("on Friday I can pay two hundred, I lost my job last month", "2026-03-06 2026-02-01"),
    ("I paid you yesterday and I can pay the rest on the tenth", "2026-03-10 2026-03-03"),
    ("I was laid off two weeks ago, I could do something next month", "2026-04-01 2026-02-18"),
    ("I can pay next month, or maybe on the fifteenth", "2026-03-15 2026-04-01"),
    ("last year I always paid on time, put me down for april third", "2026-04-03 2025-01-01"),
    ("I missed last Friday and last month too, take it the twentieth",
     "2026-03-20 2026-02-27 2026-02-01"),
    ("I get paid this week, so let's do the thirteenth", "2026-03-13 2026-03-02"),
    ("I was in hospital since January 10 2026, I can pay in May", "2026-05-01 2026-01-10"),
    ("I lost my job last month", "2026-02-01"),
]  # fmt: skip
PHARMACY = [
    ("I got my last refill last week, I need the next one by Monday", "2026-03-09 2026-02-23"),
    ("I was born March fifth nineteen eighty four and I will pick it up on Saturday",
     "2026-03-07 1984-03-05"),
    ("I ran out three days ago, can I come tomorrow", "2026-03-05 2026-03-01"),
    ("I'm out of town next week so I'd pick it up on the twenty first", "2026-03-21 2026-03-09"),
    ("the doctor wrote it 02/20/2026 and it's ready today", "2026-03-04 2026-02-20"),
    ("I took it yesterday and the day before yesterday", "2026-03-03 2026-03-02"),
    ("I called last Monday, is it ready by the end of the week", "2026-03-06 2026-03-02"),
]  # fmt: skip
BOOKING = [
    ("we were there last Saturday and want to come again this Saturday", "2026-03-07 2026-02-28"),
    ("we come every year, last year with friends, now on may second", "2026-05-02 2025-01-01"),
    ("sometime this month, ideally the nineteenth", "2026-03-19 2026-03-01"),
    ("we're free next weekend, otherwise on the twenty fifth", "2026-03-25 2026-03-14"),
    ("from the twelfth to the fifth", "2026-03-12 2026-04-05"),
    ("I was sick last week, book me from Monday till Wednesday",
     "2026-03-09 2026-03-11 2026-02-23"),
    ("from yesterday to Friday", "2026-03-03 2026-03-06"),
    ("Saturday or Sunday", "2026-03-07 2026-03-08"),
]  # fmt: skip
BANKING = [
    ("the charge was on february twentieth twenty twenty six, block the card from tomorrow",
     "2026-03-05 2026-02-20"),
    ("I made a transfer on Monday last week, it should arrive on the sixth",
     "2026-03-06 2026-02-23"),
    ("I opened it in March 2024 and want to close it next month", "2026-04-01 2024-03-01"),
    ("the statement of last month, the payment is due on the fifteenth", "2026-03-15 2026-02-01"),
    ("move the payment of this week to the ninth", "2026-03-09"),
    ("next month is fine or next year", "2026-04-01 2027-01-01"),
]  # fmt: skip
SECOND_THOUGHTS = [
    ("I can pay Friday no wait next month", "2026-04-01"),
    ("next month, no wait, on Friday", "2026-03-06"),
    ("I can pay Friday no wait next month, I get paid on the tenth", "2026-04-01 2026-03-10"),
    ("I lost my job last week, no wait, last month, I can pay on Friday", "2026-03-06 2026-02-01"),
    (
        "Tuesday doesn't work, how about next week, I asked for it yesterday",
        "2026-03-09 2026-03-03",
    ),
]
SPANISH = [
    ("perdí mi trabajo el mes pasado, puedo pagar doscientos dólares el viernes",
     "2026-03-06 2026-02-01"),
    ("ayer no pude pagar, puedo pagar mañana", "2026-03-05 2026-03-03"),
    ("la semana pasada estuve enfermo, vengo el lunes", "2026-03-09 2026-02-23"),
    ("puedo pagar el próximo mes, o quizás el quince", "2026-03-15 2026-04-01"),
    ("puedo pagar el viernes, no espera, el próximo mes", "2026-04-01"),
    ("hace dos días llamé, quiero una mesa para el sábado", "2026-03-07 2026-03-02"),
    ("anteayer hice una transferencia, la necesito para pasado mañana", "2026-03-06 2026-03-02"),
    ("nací el cinco de marzo de mil novecientos ochenta y cuatro y la recojo el viernes",
     "2026-03-06 1984-03-05"),
    ("hace un mes perdí el trabajo, pago el mes que viene", "2026-04-01 2026-02-04"),
    ("el año pasado viajé mucho, este año quiero ir el tres de junio",
     "2026-06-03 2026-01-01 2025-01-01"),
    ("del lunes al viernes", "2026-03-09 2026-03-13"),
]  # fmt: skip


def values(text, kind="date", **context):
    return [one.value for one in recognize(kind, text, **({"ref": REF} | context))]


@pytest.mark.parametrize("kind", ["date", "datetime"])
@pytest.mark.parametrize(("text", "days"), [*DEBT, *PHARMACY, *BOOKING, *BANKING, *SECOND_THOUGHTS])
def test_the_day_asked_for_comes_first_and_none_is_lost(text, days, kind):
    assert values(text, kind) == days.split()


@pytest.mark.parametrize("prefer", [None, "future"])
@pytest.mark.parametrize(("text", "days"), SPANISH)
def test_so_it_is_in_spanish(text, days, prefer):
    assert values(text, locale="es-ES", prefer=prefer) == days.split()


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("I see the doctor tomorrow, it began two days ago", "2026-03-02 2026-03-05"),
        ("it can't wait until next week, I fell last month", "2026-02-01 2026-03-09"),
        ("it began last month, I noticed it on the second", "2026-03-02 2026-02-01"),
    ],
)
def test_a_question_that_looks_back_ranks_what_is_to_come_below(text, days):
    assert values(text, prefer="past") == days.split()


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("I called yesterday at three pm, can you call me back at five pm", "17:00"),
        ("I called yesterday at three pm, can you call me Friday at five pm", "17:00"),
        ("can you call me at five pm, I called at three pm", "17:00"),
    ],
)
def test_a_time_ranks_by_its_day(text, clock):
    assert values(text, "time")[0] == clock


def test_offered_days_stay_alternatives_of_each_other_when_the_vaguer_was_said_first():
    first, second = recognize("date", "next month or on Friday", ref=REF)
    assert (first.value, first.alternatives) == ("2026-03-06", ("2026-04-01",))
    assert (second.value, second.alternatives) == ("2026-04-01", ("2026-03-06",))
    assert first.ambiguous
    assert second.ambiguous


def test_without_a_reference_days_in_full_stay_in_the_order_said():
    text = "from march 3 2027 and from march 3 1984"
    assert values(text, ref=None) == ["2027-03-03", "1984-03-03"]


CLAUSES = {
    "I lost my job last month": "2026-02-01",
    "I called yesterday": "2026-03-03",
    "I was born March fifth nineteen eighty four": "1984-03-05",
    "I have an appointment next week": "2026-03-09",
    "I can pay on the twentieth": "2026-03-20",
    "I go on holiday next year": "2027-01-01",
}


@settings(max_examples=60)
@given(st.permutations(list(CLAUSES)).flatmap(lambda all_: st.just(all_[:4])))
def test_the_order_of_the_clauses_decides_only_among_equals(clauses):
    found = values(". ".join(clauses))
    assert sorted(found) == sorted(CLAUSES[clause] for clause in clauses)

    def rank(day):
        return (day < "2026-03-04", day[8:] in ("01", "09"))

    assert found == sorted((CLAUSES[clause] for clause in clauses), key=rank)


def test_every_order_of_three_clauses_gives_the_same_day():
    said = ["I lost my job last month", "I am away next week", "I can pay on the twentieth"]
    assert {values(". ".join(clauses))[0] for clauses in permutations(said)} == {"2026-03-20"}
