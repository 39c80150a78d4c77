from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flowengine.llm.partial import PartialJson
from flowengine.llm.snapshots import Snapshots

documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(documents, st.integers(1, 40))
def test_each_is_the_value_of_its_moment_and_stays_so(document: Any, size: int) -> None:
    text = json.dumps(document) + " "
    scan, snapshots = PartialJson(), Snapshots()
    taken: list[Any] = []
    expected: list[Any] = []
    for start in range(0, len(text), size):
        scan.feed(text[start : start + size])
        taken.append(snapshots.take(scan.value, scan.changed))
        expected.append(copy.deepcopy(scan.value))
    assert taken == expected
    assert taken[-1] == document


def test_what_did_not_change_is_shared() -> None:
    scan, snapshots = PartialJson(), Snapshots()
    scan.feed('{"a": [1, 2], "b": ')
    first = snapshots.take(scan.value, scan.changed)
    scan.feed("[3]}")
    second = snapshots.take(scan.value, scan.changed)
    assert (first, second) == ({"a": [1, 2]}, {"a": [1, 2], "b": [3]})
    assert second["a"] is first["a"]
