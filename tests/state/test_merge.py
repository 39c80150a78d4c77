"""Merge policies: how several writes of one key combine."""

from contextlib import suppress

import pytest

from flowengine.errors import ConflictError, WrongTypeError
from flowengine.state import KEY_TYPES, KeySpec, KeyTable, State


def merging(policy: str, kind: str | None = None) -> State:
    spec = KeySpec(KEY_TYPES[kind] if kind else None, merge=policy)  # type: ignore[arg-type]
    return State(keys=KeyTable({"k": spec}))


@pytest.mark.parametrize(
    ("policy", "kind", "writes", "result"),
    [
        ("last", "integer", [3, 1], 1),
        ("append", "array", ["b", ["a", "b"]], ["b", "a", "b"]),
        ("union", "array", ["b", ["a", "b"], 1, True], ["b", "a", 1, True]),
        ("union", None, [["b"], "b", "a"], ["b", "a"]),
        ("max", "integer", [3, 7, 5], 7),
        ("max", "decimal", ["9.50", "10.00"], "10.00"),
        ("max", "duration", ["PT90M", "P1D", "PT3H"], "P1D"),
        ("conflict", "integer", [3, 3], 3),
    ],
)
def test_writes_of_a_batch_combine_in_request_order(
    policy: str, kind: str | None, writes: list[object], result: object
) -> None:
    state = merging(policy, kind)
    with state.batch():
        for value in writes:
            state.set("k", value)
    assert state.find("k") == result


def twice(state: State) -> None:
    with state.batch():
        state.set("other", 1)
        state.set("k", 3)
        state.set("k", 4)


def test_two_values_in_one_batch_conflict_and_roll_it_back() -> None:
    state = merging("conflict")
    state.set("k", 1)
    state.set("k", 2)
    with pytest.raises(ConflictError, match="key 'k' was given two different values"):
        twice(state)
    assert state.snapshot() == {"k": 2}


def test_an_inner_batch_conflicts_with_the_outer_one_unless_it_was_rolled_back() -> None:
    state = merging("conflict")
    with state.batch():
        with suppress(ZeroDivisionError), state.batch():
            state.set("k", 1)
            raise ZeroDivisionError
        with state.batch():
            state.set("k", 2)
        with pytest.raises(ConflictError):
            state.set("k", 3)
    assert state["k"] == 2


def test_what_does_not_compare_or_does_not_fit_is_refused_under_a_policy() -> None:
    for policy, kind, values in (("max", None, (1, "a")), ("append", "array", (["a"], {1}))):
        state = merging(policy, kind)
        state.set("k", values[0])
        with pytest.raises(WrongTypeError, match="key 'k'"):
            state.set("k", values[1])
        assert state.find("k") == values[0]


def test_modify_and_none_replace_whatever_the_policy() -> None:
    state = merging("append", "array")
    state.set("k", ["a", "b"])
    assert state.modify("k", lambda items: items[1:]) == ["b"]
    assert state.set("k", None) is True
    assert "k" not in state
