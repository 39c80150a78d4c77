"""A State used alone: computed keys, watchers and signals after each batch."""

from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.errors import (
    CycleError,
    FlowEngineError,
    FunctionError,
    OwnershipError,
    UnsettledError,
)
from flowengine.state import KEY_TYPES, KeySpec, KeyTable, Reactor, State, StateKey
from flowengine.state.watchers import became_true


def ordered() -> tuple[State, Reactor, list[tuple[object, object]]]:
    """A State whose `total` is price times quantity, with its changes."""
    log: list[tuple[object, object]] = []
    state = State()
    reactor = Reactor(state)
    reactor.computed("total", lambda s: s["price"] * s["quantity"], reads=("price", "quantity"))
    reactor.watch("total", lambda old, new, _: log.append((old, new)))
    return state, reactor, log


def test_a_batch_settles_once_at_its_end() -> None:
    state, _, log = ordered()
    with state.batch():
        state.set("price", 3)
        with state.batch():
            state.set("quantity", 2)
        state.set("quantity", 4)
        assert "total" not in state
    assert log == [(None, 12)]
    state.set("quantity", 5)
    state.remove("price")
    assert log == [(None, 12), (12, 15), (15, None)]


def test_a_new_computed_key_is_worked_out_at_once_and_a_second_replaces_the_first() -> None:
    state = State({"x": 2})
    reactor = Reactor(state)
    reactor.computed("y", lambda s: s["x"] + 1)
    assert state["y"] == 3
    reactor.computed("y", lambda s: s["x"] * 10)
    assert state["y"] == 20


def test_what_cannot_be_registered_leaves_no_trace() -> None:
    state = State({"x": 1}, keys=KeyTable({"own": KeySpec(trusted=True)}))
    reactor = Reactor(state)
    reactor.computed("y", lambda s: s["x"], reads=("x", "z"))
    failures = [
        (CycleError, "z", lambda s: s["y"], ("y",)),
        (FunctionError, "z", lambda s: 1 / 0, ()),
        (OwnershipError, "own", lambda s: True, ()),
    ]
    for error, name, work, reads in failures:
        with pytest.raises(error):
            reactor.computed(name, work, reads=reads)
    state.set("x", 2)
    assert state.snapshot() == {"x": 2, "derived:y": 2}


def test_a_computed_function_cannot_write() -> None:
    reactor = Reactor(State({"x": 1}))
    with pytest.raises(FunctionError, match="computed key 'y' raised AttributeError"):
        reactor.computed("y", lambda s: s.set("x", 2), reads=("x",))


def test_a_watcher_that_raises_rolls_the_whole_batch_back() -> None:
    state, reactor, log = ordered()
    state.update({"price": 1, "quantity": 1})

    def refuse(_old: object, new: int, state: State) -> None:
        state.set("seen", new)
        raise ZeroDivisionError

    reactor.watch("total", refuse)
    before = (state.snapshot(), dict(state.evidence), state.cursor, list(state.journal))
    with pytest.raises(ZeroDivisionError):
        state.update({"price": 5, "note": "kept?"})
    assert (state.snapshot(), state.evidence, state.cursor, state.journal) == before
    assert log[-1] == (1, 5)
    with pytest.raises(ZeroDivisionError):
        state.set("price", 6)


def test_a_watcher_writes_as_itself_and_not_as_the_batch() -> None:
    state = State(keys=KeyTable({"id": KeySpec(writers=frozenset({"tool:id"}))}))
    reactor = Reactor(state)
    reactor.watch("go", lambda _old, _new, s: s.set("reached", True))
    reactor.watch("cheat", lambda _old, _new, s: s.set("id", True))
    with state.batch(by="tool:id"):
        state.set("go", 1)
    assert state.evidence["reached"].by == "watcher:go"
    with pytest.raises(OwnershipError):
        state.set("cheat", 1, by="tool:id")
    assert "cheat" not in state


def test_watchers_that_never_rest_roll_back() -> None:
    state = State()
    Reactor(state).watch("n", lambda _old, new, s: s.set("n", new + 1))
    with pytest.raises(UnsettledError):
        state.set("n", 0)
    assert len(state) == 0
    assert state.dirty == {}


def test_a_predicate_of_ones_own_and_containers_that_stay_states_own() -> None:
    state = State()
    reactor, log = Reactor(state), []
    reactor.watch("ok", lambda *change: log.append(change[:2]), became_true)
    reactor.watch("items", lambda _old, new, _s: new.append("leak"))
    state.update({"ok": True, "items": [1]})
    assert log == [(None, True)]
    assert state["items"] == [1]


def test_signals_are_sent_after_the_commit_and_undo_nothing() -> None:
    state, reactor, _ = ordered()
    log: list[object] = []

    def hear(sender: State, value: object) -> None:
        log.append((sender is state, value, sender.cursor, sender.get("price")))
        raise ZeroDivisionError

    reactor.signals.connect("total", hear)
    with pytest.raises(ZeroDivisionError):
        state.update({"price": 3, "quantity": 2})
    assert log == [(True, 6, 3, 3)]
    assert state["total"] == 6


def test_signals_tell_the_net_change_alone_in_order_of_keys() -> None:
    state = State({"b": 1, "a": 1, "back": 1})
    reactor, log = Reactor(state), []
    reactor.computed("c", lambda s: s["a"])
    for key in ("a", "b", "back", "c"):
        reactor.signals.connect(key, lambda _, value, key=key: log.append((key, value)))
    with state.batch():
        state.set("back", 2)
        state.update({"b": 2, "a": 3})
        state.set("back", 1)
    assert log == [("a", 3), ("b", 2), ("c", 3)]
    with suppress(ZeroDivisionError), state.batch():
        state.set("a", 9)
        raise ZeroDivisionError
    assert len(log) == 3


def test_a_receiver_that_writes_starts_a_batch_of_its_own() -> None:
    state, reactor, log = ordered()
    reactor.signals.connect("total", lambda s, value: s.set("quantity", min(value, 3)))
    state.update({"price": 2, "quantity": 1})
    assert state["quantity"] == 3
    assert log == [(None, 2), (2, 4), (4, 6)]


def test_typed_keys_work_through_a_reaction() -> None:
    state = State(keys=KeyTable({"price": KeySpec(KEY_TYPES["decimal"])}))
    Reactor(state).computed("twice", lambda s: s["price"] * 2)
    state.set(StateKey("price", Decimal), "1.10")
    assert state["twice"] == "2.20"


VALUES = st.integers(-2, 3) | st.just("text")
BATCH = st.lists(st.tuples(st.sampled_from("abn"), VALUES), max_size=4)


@given(st.lists(BATCH, max_size=6))
def test_a_failed_batch_leaves_a_reacting_state_exactly_as_it_was(
    batches: list[list[tuple[str, object]]],
) -> None:
    """Writes fail (n takes integers), computed keys fail (text), watchers fail (a negative a)."""
    state = State(keys=KeyTable({"n": KeySpec(KEY_TYPES["integer"])}))
    reactor = Reactor(state)
    reactor.computed("sum", lambda s: s.get("a", 0) + s.get("b", 0), reads=("a", "b"))
    reactor.computed("twice", lambda s: s["sum"] * 2)
    reactor.watch("sum", lambda _old, new, s: s.set("n", 6 // (new + 1)))
    reactor.watch("n", lambda _old, new, s: s.set("log", [*s.get("log", []), new]))
    for writes in batches:
        before = (state.snapshot(), dict(state.evidence), dict(state.dirty), list(state.journal))
        cursor = state.cursor
        try:
            with state.batch():
                for key, value in writes:
                    state.set(key, value)
        except (FlowEngineError, ZeroDivisionError, TypeError):
            after = (state.snapshot(), state.evidence, state.dirty, state.journal)
            assert after == before
            assert state.cursor == cursor
        assert state.dirty == {}
        assert state["twice"] == 2 * state["sum"] == 2 * (state.get("a", 0) + state.get("b", 0))
