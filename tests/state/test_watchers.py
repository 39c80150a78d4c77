"""Watchers: which changes set them off, and how they come to rest."""

from collections.abc import Callable
from decimal import Decimal
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.errors import FunctionError, UnsettledError
from flowengine.state import (
    KEY_TYPES,
    Computed,
    ComputedKeys,
    KeySpec,
    KeyTable,
    State,
    Watcher,
    WatchTable,
    settle,
)
from flowengine.state.watchers import (
    ROUNDS,
    Predicate,
    became_false,
    became_true,
    changed,
    changed_from,
    changed_to,
    crossed_above,
    crossed_below,
)

Log = list[tuple[object, ...]]


def watching(
    *watchers: Watcher, computed: tuple[Computed, ...] = ()
) -> Callable[[State], set[str]]:
    table, keys = WatchTable(watchers), ComputedKeys(computed)

    def rest(state: State) -> set[str]:
        return settle(state, keys, table, lambda w, old, new: w.action(old, new, state))

    return rest


def note(log: Log, key: str, predicate: Predicate = changed, position: int = 0) -> Watcher:
    return Watcher(
        key, predicate, lambda old, new, _: log.append((key, old, new)), position=position
    )


def write(key: str, work: Callable[[State], object], on: str, position: int = 0) -> Watcher:
    return Watcher(on, changed, lambda _o, _n, state: state.set(key, work(state)) and None,
                   position=position)  # fmt: skip


@pytest.mark.parametrize(
    ("predicate", "fires", "rests"),
    [
        (changed, [(None, 1), (1, None), (1, 2), (1, True)], [(1, 1.0), (None, None)]),
        (changed_to("x"), [(None, "x"), (1, "x")], [("x", "x"), ("x", None), (1, 2)]),
        (changed_to(1), [(True, 1), (None, 1.0)], [(None, True), (1, 1.0)]),
        (changed_from("x"), [("x", None), ("x", 1)], [(None, "x"), (1, 2)]),
        (crossed_above(0.7), [(0.6, 0.7), (0, 1)], [(None, 0.9), (0.7, 0.9), (0.9, None),
                                                   ("0", "1"), (False, True), (0.1, 0.2)]),
        (crossed_below(0.7), [(0.7, 0.6), (1, 0)], [(None, 0.1), (0.6, 0.1), (0.9, None),
                                                   (0.9, 0.7)]),
        (became_true, [(None, True), (False, True), ("yes", True), (1, True)],
         [(True, True), (None, 1), (None, "true")]),
        (became_false, [(True, False), (True, None), (True, "no"), (True, 1)],
         [(None, False), (False, None), (1, False)]),
    ],
)  # fmt: skip
def test_predicates_judge_the_old_and_the_new_value(
    predicate: Predicate, fires: list[tuple[object, object]], rests: list[tuple[object, object]]
) -> None:
    for number, (old, new) in enumerate([*fires, *rests]):
        log: Log = []
        state = State({"k": old})
        state.set("k", new)
        watching(note(log, "k", predicate))(state)
        assert log == ([("k", old, new)] if number < len(fires) else []), (old, new)


def test_decimals_are_judged_as_numbers() -> None:
    state = State({"k": "9.50"}, keys=KeyTable({"k": KeySpec(KEY_TYPES["decimal"])}))
    seen: list[object] = []
    log: Log = []
    rest = watching(
        note(log, "k", crossed_above(10)), note(log, "k", changed_to("10.1")),
        Watcher("k", lambda old, new: seen.append((old, new)) or False, lambda *_: None),
    )  # fmt: skip
    state.set("k", "10.10")
    rest(state)
    assert log == [("k", "9.50", "10.10")] * 2
    assert seen == [(Decimal("9.50"), Decimal("10.10"))]


def test_a_write_back_to_the_old_value_is_no_change() -> None:
    log: Log = []
    state = State({"k": 1})
    state.set("k", 2)
    state.set("k", 1)
    assert watching(note(log, "k"))(state) == set()
    assert log == []


def test_what_watchers_change_back_is_not_among_the_keys_that_ended_up_different() -> None:
    log: Log = []
    state = State({"a": 0})
    rest = watching(note(log, "a"), write("a", lambda _: 0, on="a", position=1))
    state.set("a", 1)
    assert rest(state) == set()
    assert log == [("a", 0, 1), ("a", 1, 0)]


def test_a_predicate_of_ones_own_is_asked_about_changes_only() -> None:
    log: Log = []
    state = State({"k": 1, "derived:k": 1})
    state.set("k", 2)
    state.set("k", 1)
    watching(note(log, "k", lambda *_: True), note(log, "derived:k", lambda *_: True))(state)
    assert log == []


def test_it_sees_the_net_of_all_writes_since_the_last_settling_whoever_wrote() -> None:
    log: Log = []
    state, rest = State(), watching(note(log, "k"))
    for by, value in (("extractor:E", 1), ("tool:t", 2), ("user", 3)):
        state.set("k", value, by=by)
    assert rest(state) == {"k"}
    assert rest(state) == set()
    assert log == [("k", None, 3)]


@pytest.mark.parametrize("key", ["risk", "derived:risk"])
def test_a_computed_key_is_watched_under_either_name(key: str) -> None:
    log: Log = []
    risk = Computed("risk", lambda view: view.get("x", 0) > 1, ("x",))
    state, rest = State(), watching(note(log, key, became_true), computed=(risk,))
    for value in (1, 2, 3, 0, 5):
        state.set("x", value)
        rest(state)
    assert log == [(key, False, True)] * 2


def test_a_watcher_sees_what_readers_see_and_fires_once() -> None:
    log: Log = []
    state, rest = State({"derived:k": 5}), watching(note(log, "k"))
    state.set("k", 5)
    rest(state)
    assert log == []
    state.write_derived("derived:k", 6, state.evidence["k"])
    rest(state)
    assert log == []
    state.remove("k")
    state.write_derived("derived:k", 7, state.evidence["derived:k"])
    rest(state)
    assert log == [("k", 5, 7)]


def test_a_watcher_of_a_derived_key_does_not_see_the_bare_one() -> None:
    log: Log = []
    state = State()
    state.set("k", 1)
    watching(note(log, "derived:k"))(state)
    assert log == []


def test_watchers_fire_in_declaration_order_whatever_the_order_of_writes() -> None:
    for order in permutations("abc"):
        log: Log = []
        watchers = [note(log, key, position=n) for n, key in enumerate("cabc")]
        state = State()
        for key in order:
            state.set(key, 1)
        watching(*watchers)(state)
        assert [key for key, *_ in log] == list("cabc")


def test_a_watcher_that_writes_sets_off_the_next_round_which_compares_with_this_one() -> None:
    log: Log = []
    state = State({"a": 0, "b": 0})
    rest = watching(
        note(log, "a", position=0),
        write("b", lambda s: s["a"] * 10, on="a", position=1),
        Watcher("b", changed, lambda *_: state.set("a", 2) and None, position=2),
        note(log, "b", position=3),
    )
    state.set("a", 1)
    assert rest(state) == {"a", "b"}
    assert log == [("a", 0, 1), ("b", 0, 10), ("a", 1, 2), ("b", 10, 20)]


def test_within_a_round_each_is_given_the_values_that_set_it_off() -> None:
    log: Log = []
    state = State()
    rest = watching(
        Watcher("a", changed_to(1), lambda *_: state.set("b", 9) and None, position=0),
        note(log, "b", position=1),
    )
    with state.batch():
        state.set("a", 1)
        state.set("b", 1)
    rest(state)
    assert log == [("b", None, 1), ("b", 1, 9)]


def test_computed_keys_are_at_rest_before_each_round() -> None:
    log: Log = []
    double = Computed("double", lambda view: view["a"] * 2, ("a",))
    state = State()
    rest = watching(
        write("a", lambda s: min(s["a"] + 1, 3), on="a"), note(log, "double"), computed=(double,)
    )
    state.set("a", 1)
    rest(state)
    assert log == [("double", None, 2), ("double", 2, 4), ("double", 4, 6)]


def test_a_chain_of_eight_rounds_settles_and_a_ninth_is_an_error_that_prints_it() -> None:
    def chain(length: int) -> Callable[[State], set[str]]:
        return watching(*(write(f"k{n + 1}", lambda _: 1, on=f"k{n}") for n in range(length)))

    state = State()
    state.set("k0", 1)
    assert chain(ROUNDS)(state) == {f"k{n}" for n in range(ROUNDS + 1)}
    state = State()
    state.set("k0", 1)
    with pytest.raises(UnsettledError, match=r"after 8 rounds: k0 -> k1 -> .* -> k7; let one"):
        chain(ROUNDS + 1)(state)


def test_two_watchers_that_undo_each_other_never_settle() -> None:
    state = State()
    state.set("a", True)
    flip = write("b", lambda s: not s.get("b"), on="a")
    flop = write("a", lambda s: not s.get("a"), on="b")
    with pytest.raises(UnsettledError, match="a -> b -> a -> b"):
        watching(flip, flop)(state)


def test_a_predicate_that_raises_is_named() -> None:
    def broken(old: object, new: object) -> bool:
        raise ValueError("secret words")

    state = State()
    state.set("k", 1)
    with pytest.raises(FunctionError, match=r"^watcher 'mine' raised ValueError$"):
        watching(Watcher("k", broken, lambda *_: None, name="mine"))(state)


@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 3), min_size=1),
    st.lists(st.tuples(*[st.sampled_from("abc")] * 2), max_size=4),
    st.randoms(use_true_random=False),
)
def test_the_order_of_writes_inside_a_batch_does_not_matter(
    values: dict[str, int], links: list[tuple[str, str]], random: object
) -> None:
    """Each watcher raises its target to its source, so every set of them comes to rest."""

    def outcome(writes: list[tuple[str, int]]) -> tuple[object, object]:
        log: Log = []
        watchers = [note(log, key, position=n) for n, key in enumerate("abc")]
        for n, (source, target) in enumerate(links):
            watchers.append(
                write(target, lambda s, a=source, b=target: max(s.get(a, 0), s.get(b, 0)),
                      on=source, position=n + 3)
            )  # fmt: skip
        state, total = State(), Computed("total", lambda v: sum(v.get(k, 0) for k in "abc"))
        with state.batch():
            for key, value in writes:
                state.set(key, value)
        watching(*watchers, computed=(total,))(state)
        return sorted(state.snapshot().items()), log

    writes = list(values.items())
    expected = outcome(writes)
    random.shuffle(writes)  # type: ignore[attr-defined]
    assert outcome(writes) == expected
