"""Accuracy on public data, where it lies beside the repository: no category may sink."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from flowengine.extract.recognizers import recognize

DATA = Path(__file__).parents[4] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not DATA.exists(), reason="the public data ../shared/data is not beside the repository"
)


def rows(path, **wanted):
    lines = (DATA / path).read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [row for row in found if all(row.get(k) == v for k, v in wanted.items())]


def share(hits):
    hits = list(hits)
    return 100 * sum(hits) / len(hits)


def parts(value):
    date, _, time = value.rpartition("T")
    return (date, time) if date else (value, "") if "-" in value else ("", value)


def same_moment(gold, value):
    return all(g in ("", v) for g, v in zip(parts(gold), parts(value), strict=True))


def moments(row, locale):
    ref = datetime.fromisoformat(row["ref"])
    return [one.value for one in recognize("datetime", row["input"], ref=ref, locale=locale)]


@pytest.mark.parametrize(
    ("path", "source", "locale", "right", "empty"),
    [
        ("values/spoken.jsonl", "sgd", "en-US", 96, 99.5),
        ("values/spoken.jsonl", "nlupp", "en-GB", 86, 99.5),
        ("values/sgd.jsonl", "sgd", "en-US", 97, 99),
        ("values/nlupp.jsonl", "nlupp", "en-GB", 88, 99),
    ],
)
def test_dates_and_times_of_dialogues(path, source, locale, right, empty):
    data = rows(path, cat="datetime", set=source)
    said = [row for row in data if row["gold"]]
    assert right <= share(
        any(same_moment(g, v) for g in row["gold"] for v in moments(row, locale)) for row in said
    )
    assert empty <= share(not moments(row, locale) for row in data if not row["gold"])


@pytest.mark.parametrize("kind", ["money", "number"])
def test_the_amount_meant_is_among_those_read(kind):
    def is_read(row):
        got = [float(one.value) for one in recognize(kind, row["input"])]
        return all(value in got for value in row["gold"])

    assert share(map(is_read, rows("values/sgd.jsonl", cat=kind))) >= 99


def test_answers_are_read_and_hardly_ever_turned_round():
    data = rows("values/sgd.jsonl", cat="yes_no")
    answers = {True: "yes", False: "no", None: "unsure"}
    read = [
        (row["gold"], answers[next((r.value for r in recognize("yes_no", row["input"])), None)])
        for row in data
    ]
    assert share(gold == got for gold, got in read) >= 92
    polar = [(gold, got) for gold, got in read if gold != "unsure"]
    assert share(got in ("unsure", gold) for gold, got in polar) >= 99.2


@pytest.mark.parametrize(
    ("category", "kind", "floor"), [("dob", "date_of_birth", 78), ("postcode", "postal_code", 45)]
)
def test_real_telephone_calls(category, kind, floor):
    def is_read(row):
        ref = datetime.fromisoformat(row.get("ref", "2022-01-01T00:00:00"))
        found = recognize(kind, row["input"], asked=True, locale="en-GB", ref=ref)
        gold = row["gold"] if isinstance(row["gold"], list) else [row["gold"]]
        return bool(found) and found[0].value in gold

    assert share(map(is_read, rows("values/evi.jsonl", cat=category))) >= floor


@pytest.mark.parametrize(
    ("category", "kind", "floor"), [("dob", "date_of_birth", 85), ("postcode", "postal_code", 50)]
)
def test_real_telephone_calls_with_all_hypotheses(category, kind, floor):
    def is_offered(row):
        ref = datetime.fromisoformat(row.get("ref", "2022-01-01T00:00:00"))
        found = recognize(
            kind, row["input"], asked=True, locale="en-GB", ref=ref, alternatives=row["ctx"]
        )
        gold = row["gold"] if isinstance(row["gold"], list) else [row["gold"]]
        offered = [value for one in found[:1] for value in (one.value, *one.alternatives)]
        return any(value in gold for value in offered)

    assert share(map(is_offered, rows("values/evi.jsonl", cat=category))) >= floor


def test_head_counts_of_real_bookings():
    """The count is the number next to what is counted, or the answer to the question."""
    anchors = ["people", "person", "guest", "of us", "party", "seat", "table", "for", "of", "size"]

    def is_read(row):
        asked = "people" in (row.get("ctx") or [])
        found = recognize("integer_near", row["input"], asked=asked, anchors=anchors, max=200)
        return bool(found) and str(found[0].value) == row["gold"]["people"]

    data = [r for r in rows("values/r8k.jsonl") if r["gold"].get("people", "").isdecimal()]
    assert share(map(is_read, data)) >= 93
