"""The view that functions of a flow get: the same rule, the same types, and no way to write."""

from datetime import date

import pytest

from flowengine.state import KEY_TYPES, KeySpec, KeyTable, State
from flowengine.state.view import StateView


def test_a_view_reads_as_state_does_and_follows_it() -> None:
    state = State({"derived:x": 1}, keys=KeyTable({"due": KeySpec(KEY_TYPES["date"])}))
    view = StateView(state)
    state.set("due", "2026-03-04")
    assert (view["x"], "x" in view, view["due"]) == (1, True, date(2026, 3, 4))
    assert dict(view) == {"derived:x": 1, "due": date(2026, 3, 4)}
    assert (view.get("missing"), view.get("missing", 2), len(view)) == (None, 2, 2)
    with pytest.raises(KeyError):
        view["missing"]


def test_a_view_cannot_change_state() -> None:
    state = State({"items": [1]})
    view = StateView(state)
    view["items"].append(2)
    assert state["items"] == [1]
    with pytest.raises(TypeError):
        view["items"] = []  # type: ignore[index]
    with pytest.raises(AttributeError):
        view.other = 1  # type: ignore[attr-defined]
