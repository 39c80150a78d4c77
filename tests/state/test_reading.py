"""Reading State: strict and lenient, never lending out what it keeps, and views of several keys."""

import pytest

from flowengine.errors import UnknownKeyError, WrongTypeError
from flowengine.state import KEY_TYPES, Evidence, KeySpec, KeyTable, State, StateKey


def test_strict_reads_tell_absent_from_wrong_type_and_lenient_reads_do_not() -> None:
    state, age = State({"age": "five"}), StateKey("age", int)
    assert state.get(age) is None
    assert state.get(age, 3) == 3
    for read in (state.require, state.try_get):
        with pytest.raises(WrongTypeError, match="key 'age' holds str, not int"):
            read(age)
    with pytest.raises(UnknownKeyError, match=r"no value for key 'agee'\. Did you mean 'age'\?"):
        state.require("agee")
    assert state.try_get(StateKey("other", int)) is None


def test_null_and_absent_are_the_same() -> None:
    state = State({"x": None})
    assert len(state) == 0
    state.set("x", 1)
    assert state.set("x", None) is True
    assert "x" not in state
    assert state.set("x", None) is False


def test_containers_given_or_read_are_not_states_own() -> None:
    given_list: list[object] = [1, {"a": []}]
    state = State({"seed": given_list}, keys=KeyTable({"typed": KeySpec(KEY_TYPES["array"])}))
    state.update({"x": given_list, "typed": given_list})
    before = state.cursor
    state.set("journaled", given_list)
    reads: list[object] = [given_list]
    for key in ("seed", "x", "typed"):
        reads += [state[key], state.get(key), state.require(key), state.get(StateKey(key, list))]
        reads += [state.snapshot()[key], state.snapshot([key])[key], state.pick([key])[key]]
    reads += [state.changes_since(before)[0][0].new, state.diff({"x": 0})[0][2]]
    for read in reads:
        read[1]["a"].append("leak")  # type: ignore[index]
        read.append("leak")  # type: ignore[attr-defined]
    assert set(state) == {"seed", "x", "typed", "journaled"}
    assert all(state[key] == [1, {"a": []}] for key in state)
    removed = state.remove("x")
    removed.append("leak")  # type: ignore[union-attr]
    assert state.changes_since(before)[0][-1].old == [1, {"a": []}]


def test_views_copy_compare_pick_rename_and_clear() -> None:
    state = State({"app:a": 1, "app:b": 2, "apple": 3})
    before = state.snapshot(["app:a", "gone"])
    assert before == {"app:a": 1, "gone": None}
    state.update({"app:a": 5, "gone": 0})
    assert state.diff(before) == [("app:a", 1, 5), ("gone", None, 0)]
    assert state.with_prefix("app") == {"a": 5, "b": 2}
    assert state.pick(["apple", "missing"]) == {"apple": 3}
    state.rename("apple", "pear")
    assert (state["pear"], "apple" in state) == (3, False)
    state.clear_prefix("app")
    assert dict(state.values) == {"gone": 0, "pear": 3}
    assert list(state) == ["gone", "pear"]


def test_a_rename_to_a_key_that_refuses_moves_nothing() -> None:
    state = State({"a": "text"}, keys=KeyTable({"n": KeySpec(KEY_TYPES["integer"])}))
    with pytest.raises(WrongTypeError):
        state.rename("a", "n")
    assert state.snapshot() == {"a": "text"}


def test_a_derived_value_that_is_not_of_the_declared_type_reads_as_wrong_type() -> None:
    state = State(keys=KeyTable({"due": KeySpec(KEY_TYPES["date"])}))
    state.write_derived("derived:due", "soon", Evidence("extractor:E"))
    assert state.get("due") is None
    with pytest.raises(WrongTypeError, match="key 'due' reads as date"):
        state.require("due")
