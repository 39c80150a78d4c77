"""The page on recognizers says what they do: every example on it is run."""

import json
import re
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from flowengine.extract.recognizers import KINDS, recognize

PAGE = Path(__file__).parents[3] / "docs" / "recognizers.md"
REF = datetime(2026, 3, 4, 10, 30)


def examples():
    kinds = PAGE.read_text("utf-8").partition("# The kinds")[2]
    for section in re.split(r"^## ", kinds, flags=re.MULTILINE)[1:]:
        kind = section.partition("\n")[0].strip()
        given = re.search(r"^Options: `(.*)`$", section, flags=re.MULTILINE)
        options = json.loads(given[1]) if given else {}
        for row in re.findall(r"^\| (?!said)(.+?) \| (.+?) \| (.*?) ?\|$", section, re.MULTILINE):
            yield pytest.param(kind, options, *row, id=f"{kind}: {row[0]}")


@pytest.mark.parametrize(("kind", "options", "said", "value", "rule"), list(examples()))
def test_an_example_on_the_page_is_true(kind, options, said, value, rule):
    found = recognize(kind, said, ref=REF, **options)
    if value == "nothing":
        assert found == []
        return
    got = str(found[0].value) if isinstance(found[0].value, Decimal) else found[0].value
    assert (got, found[0].rule) == (json.loads(value), rule)


def test_the_page_has_ten_examples_of_every_kind():
    counts = {}
    for example in examples():
        counts[example.values[0]] = counts.get(example.values[0], 0) + 1
    assert counts == dict.fromkeys(KINDS, 10)
