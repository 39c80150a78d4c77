"""State: batches that roll back, the journal and evidence."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.errors import FlowEngineError, OwnershipError, WrongTypeError
from flowengine.state import KEY_TYPES, Evidence, KeySpec, KeyTable, State
from flowengine.state.state import JOURNAL

# -- batches ----------------------------------------------------------------------------------


def test_an_exception_in_the_middle_of_a_batch_leaves_nothing_behind() -> None:
    state = State({"a": 1, "list": [1]})
    with suppress(ZeroDivisionError), state.batch() as same_state:
        assert same_state is state
        state.set("a", 2)
        state.remove("list")
        assert (state["a"], "list" in state) == (2, False)
        raise ZeroDivisionError
    assert state.snapshot() == {"a": 1, "list": [1]}
    assert (state.dirty, state.evidence, state.cursor, state.journal) == ({}, {}, 0, [])


def test_a_wrong_type_in_an_update_writes_none_of_it() -> None:
    state = State(keys=KeyTable({"n": KeySpec(KEY_TYPES["integer"])}))
    with pytest.raises(WrongTypeError):
        state.update({"a": 1, "n": "two"})
    assert len(state) == 0


def test_a_failed_inner_batch_takes_back_its_own_writes_alone() -> None:
    state = State()
    with state.batch():
        state.set("a", 1)
        with suppress(ZeroDivisionError), state.batch():
            state.set("a", 2)
            raise ZeroDivisionError
        state.set("b", 3)
    assert state.snapshot() == {"a": 1, "b": 3}
    assert [c.new for c in state.journal] == [1, 3]


def test_a_failed_outer_batch_takes_inner_ones_back_too() -> None:
    state = State()
    with suppress(ZeroDivisionError), state.batch():
        with state.batch():
            state.set("a", 1)
        raise ZeroDivisionError
    assert len(state) == 0


def test_the_writer_of_a_batch_is_the_writer_of_its_writes() -> None:
    state = State(keys=KeyTable({"id": KeySpec(writers=frozenset({"tool:id"}))}))
    with state.batch(by="tool:id"):
        state.set("id", True)
        with state.batch(by="user"), pytest.raises(OwnershipError):
            state.set("id", False)
        state.set("note", 1, by="user")
    assert [change.evidence.by for change in state.journal] == ["tool:id", "user"]


def test_modify_is_atomic_and_uses_the_default_when_absent() -> None:
    state = State({"n": 1})
    assert state.modify("n", lambda n: n + 1) == 2
    assert state.modify("m", lambda n: n + 1, default=10) == 11

    def broken(n: int) -> int:
        state.set("n", n + 1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        state.modify("n", broken)
    assert state["n"] == 2


def test_a_state_over_a_snapshot_never_changes_it() -> None:
    values, evidence = {"a": 1}, {"a": Evidence("user", 1)}
    for write in (lambda s: s.set("a", 2), lambda s: s.remove("a"), lambda s: s.update({"b": 1})):
        write(State.over(values, evidence, KeyTable()))
    assert (values, evidence) == ({"a": 1}, {"a": Evidence("user", 1)})


# -- journal ----------------------------------------------------------------------------------


def test_every_write_is_journaled_and_a_cursor_reads_on_from_where_it_was() -> None:
    state = State()
    state.set("a", 1, by="tool:x")
    cursor = state.cursor
    state.set("a", 1)
    state.remove("a")
    changes, gap = state.changes_since(cursor)
    assert [(c.seq, c.key, c.old, c.new, c.changed) for c in changes] == [
        (2, "a", 1, 1, False), (3, "a", 1, None, True),
    ]  # fmt: skip
    assert gap is False
    assert state.journal[0].evidence.by == "tool:x"


def test_a_cursor_that_the_journal_has_left_behind_reports_a_gap() -> None:
    state = State()
    for n in range(3 * JOURNAL):
        state.set("n", n)
    assert len(state.journal) <= 2 * JOURNAL
    assert state.changes_since(0)[1] is True
    changes, gap = state.changes_since(state.cursor - JOURNAL)
    assert (len(changes), gap) == (JOURNAL, False)


def test_a_rollback_longer_than_the_journal_loses_none_of_what_was_there() -> None:
    state = State()
    for n in range(JOURNAL):
        state.set("n", n)
    before = list(state.journal)
    with suppress(ZeroDivisionError), state.batch():
        for n in range(3 * JOURNAL):
            state.set("n", -n)
        raise ZeroDivisionError
    assert state.journal == before


# -- evidence ---------------------------------------------------------------------------------


def test_an_equal_value_changes_no_key_but_renews_its_evidence() -> None:
    state = State({"x": 1})
    for value in (1, 1.0):
        renewed = Evidence("record:r", turn=2, span=(0, 3), confidence=0.9)
        assert state.set("x", value, evidence=renewed) is False
        assert state.evidence["x"] == renewed
    assert state.dirty == {}
    assert [change.changed for change in state.journal] == [False, False]


def test_true_is_not_one_to_a_write() -> None:
    state = State({"x": 1, "nested": [1]})
    assert state.set("x", True) is True
    assert state.set("nested", [True]) is True
    assert state["x"] is True


def test_another_spelling_of_a_decimal_is_no_change() -> None:
    state = State(keys=KeyTable({"k": KeySpec(KEY_TYPES["decimal"])}))
    state.set("k", "12.50")
    assert state.set("k", "12.5") is False
    assert state.find("k") == "12.50"


def test_superseded_values_are_kept_newest_last_and_bounded() -> None:
    state = State()
    for n in range(12):
        state.set("x", n, evidence=Evidence("user", turn=n))
    state.set("x", 11, evidence=Evidence("user", turn=12))
    assert state.evidence["x"].superseded == tuple(range(3, 11))
    assert state.evidence["x"].turn == 12
    assert not state.evidence["x"].grounded


@pytest.mark.parametrize(
    ("turn", "order", "taken"), [(2, 1, True), (2, 0, False), (1, 9, False), (3, 0, True)]
)
def test_an_offer_from_earlier_words_never_replaces_later_ones(
    turn: int, order: int, taken: bool
) -> None:
    state = State()
    assert state.offer("x", "new", Evidence("extractor:A", turn=2, order=1)) is True
    assert state.offer("x", "other", Evidence("extractor:B", turn, order)) is taken
    assert state["x"] == ("other" if taken else "new")


def test_an_offer_of_nothing_erases_nothing_and_its_writer_is_the_evidences() -> None:
    state = State({"x": 1}, keys=KeyTable({"safe": KeySpec(trusted=True)}))
    assert state.offer("x", None, Evidence("extractor:A", 5)) is False
    assert state["x"] == 1
    with pytest.raises(OwnershipError):
        state.offer("safe", True, Evidence("extractor:A", 5))
    with pytest.raises(OwnershipError):
        state.set("safe", True, evidence=Evidence("extractor:A", 5))


# -- properties -------------------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", "app:a", "n"])
VALUES = st.none() | st.integers(0, 2) | st.booleans() | st.just("text") | st.just([1, {"x": 2}])
WRITES = st.tuples(st.sampled_from(["set", "remove", "offer", "modify"]), KEYS, VALUES)


def model_after(model: dict[str, object], operation: str, key: str, value: object) -> None:
    if operation == "remove" or (value is None and operation != "offer"):
        model.pop(key, None)
    elif value is not None:
        model[key] = value


def write(state: State, operation: str, key: str, value: object) -> None:
    if operation == "remove":
        state.remove(key)
    elif operation == "offer":
        state.offer(key, value, Evidence("user"))
    elif operation == "modify":
        state.modify(key, lambda _: value)
    else:
        state.set(key, value)


@given(st.lists(st.lists(WRITES, max_size=5), max_size=5))
def test_state_behaves_as_a_dictionary_whose_failed_batches_did_not_happen(
    batches: list[list[tuple[str, str, object]]],
) -> None:
    state = State(keys=KeyTable({"n": KeySpec(KEY_TYPES["integer"])}))
    model: dict[str, object] = {}
    for writes in batches:
        attempt = dict(model)
        before = (dict(state.values), dict(state.evidence), dict(state.dirty), list(state.journal))
        try:
            with state.batch():
                for operation, key, value in writes:
                    write(state, operation, key, value)
                    model_after(attempt, operation, key, value)
            model = attempt
        except FlowEngineError:
            after = (state.values, state.evidence, state.dirty, state.journal)
            assert after == before
        assert state.snapshot() == model
        assert [c.seq for c in state.journal] == list(range(1, state.cursor + 1))
        assert set(state.evidence) == set(model)
