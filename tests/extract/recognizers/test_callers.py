"""What callers say in debt collection, pharmacy, booking and bank calls, with the value it has."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from flowengine.extract.recognizers import recognize

REF = datetime(2026, 3, 4, 10, 30)
CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "caller_cases.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=[f"{c['kind']}: {c['said']}" for c in CASES])
def test_what_a_caller_says_has_this_value(case):
    found = recognize(case["kind"], case["said"], ref=REF, **case.get("given", {}))
    values = [str(one.value) for one in found]
    if case["value"] is None:
        assert values == []
    elif case.get("among"):
        assert case["value"] in values
    else:
        assert values[:1] == [case["value"]]
