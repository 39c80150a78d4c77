"""Computed keys: order, cycles, tracked reads, and what is written when."""

from collections.abc import Callable
from decimal import Decimal
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.errors import CycleError, FunctionError, WrongTypeError
from flowengine.state import KEY_TYPES, Computed, ComputedKeys, KeySpec, KeyTable, State


def total(name: str, *reads: str, log: list[str] | None = None, tracked: bool = False) -> Computed:
    """The sum of what it reads, absent counting as 0; each run is logged."""

    def work(view: State) -> int:
        if log is not None:
            log.append(name)
        return sum(view.get(key, 0) for key in reads)

    return Computed(name, work, None if tracked else reads)


DIAMOND = [("top", "x"), ("left", "top"), ("right", "top"), ("bottom", "left", "derived:right")]
JAGGED = [("a", "x"), ("b", "a"), ("c", "b"), ("end", "a", "c", "x")]


@pytest.mark.parametrize("tracked", [False, True], ids=["listed", "tracked"])
@pytest.mark.parametrize("shape", [DIAMOND, JAGGED], ids=["diamond", "jagged diamond"])
def test_each_key_runs_once_a_pass_after_what_it_reads_however_declared(
    shape: list[tuple[str, ...]], tracked: bool
) -> None:
    for declaration in permutations(shape):
        log: list[str] = []
        keys = ComputedKeys(total(*node, log=log, tracked=tracked) for node in declaration)
        state = State({"x": 1})
        keys.recompute(state)
        assert sorted(log) == sorted(name for name, *_ in shape)
        log.clear()
        state.set("x", 2)
        keys.recompute(state, ["x"])
        assert sorted(log) == sorted(name for name, *_ in shape)
        assert state[shape[-1][0]] == (4 if shape is DIAMOND else 6)


def test_the_order_is_by_dependency_and_then_as_declared() -> None:
    keys = ComputedKeys([total("z"), total("b", "derived:c"), total("a"), total("c")])
    assert keys.order == ("z", "c", "b", "a")


def test_only_what_depends_on_a_change_runs() -> None:
    log: list[str] = []
    keys = ComputedKeys(
        [total("a", "x", log=log), total("b", "a", log=log), total("c", "y", log=log)]
    )
    keys.recompute(State({"x": 1}), ["x"])
    assert log == ["a", "b"]


def test_a_change_is_the_same_whichever_way_the_key_is_spelled() -> None:
    keys = ComputedKeys([total("double", "derived:score", "score")])
    for changed in ("score", "derived:score"):
        state = State({"derived:score": 2})
        keys.recompute(state, [changed])
        assert state["double"] == 4


def test_none_clears_the_derived_key() -> None:
    keys = ComputedKeys([Computed("seen", lambda view: view.get("x"), ("x",))])
    state = State({"x": 1})
    keys.recompute(state)
    assert state["derived:seen"] == 1
    state.remove("x")
    keys.recompute(state, ["x"])
    assert "seen" not in state
    assert state.dirty == {"x": 1, "derived:seen": None}


@pytest.mark.parametrize("reads", [("x",), None], ids=["listed", "tracked"])
def test_a_strict_read_of_nothing_gives_no_value(reads: tuple[str, ...] | None) -> None:
    keys = ComputedKeys([Computed("twice", lambda view: view["x"] * 2, reads)])
    state = State()
    keys.recompute(state)
    assert len(state) == 0
    state.set("x", 4)
    keys.recompute(state)
    assert state["twice"] == 8


def test_it_is_written_only_on_change_and_true_is_a_change_from_one() -> None:
    results = iter([1, 1.0, True, True])
    keys = ComputedKeys([Computed("k", lambda _: next(results), ())])
    state = State()
    for expected in (1, 1, 2, 2):
        keys.recompute(state)
        assert state.cursor == expected
    assert state["k"] is True


def test_a_result_is_checked_against_the_declared_type() -> None:
    table = KeyTable({"k": KeySpec(KEY_TYPES["decimal"]), "price": KeySpec(KEY_TYPES["decimal"])})
    state = State({"price": "2.50"}, keys=table)
    ComputedKeys([Computed("k", lambda view: view["price"] * 3, ("price",))]).recompute(state)
    assert state["k"] == Decimal("7.50")
    with pytest.raises(WrongTypeError, match="key 'k' holds decimal"):
        ComputedKeys([Computed("k", lambda _: 0.5, ())]).recompute(state)


@pytest.mark.parametrize(
    ("nodes", "path"),
    [
        ([("a", "derived:a")], "a -> a"),
        ([("a", "b"), ("b", "c"), ("c", "derived:b")], "b -> c -> b"),
        ([("x", "a"), ("a", "b"), ("b", "a")], "a -> b -> a"),
    ],
)
def test_a_cycle_prints_itself(nodes: list[tuple[str, ...]], path: str) -> None:
    with pytest.raises(CycleError, match=rf": {path}$"):
        ComputedKeys(total(*node) for node in nodes)
    tracked = ComputedKeys(total(*node, tracked=True) for node in nodes)
    with pytest.raises(CycleError, match=rf": {path}$"):
        tracked.recompute(State())


def test_a_cycle_that_only_some_values_close_is_found_when_they_do() -> None:
    a = Computed("a", lambda view: view.get("b") if view.get("flip") else 1)
    b = Computed("b", lambda view: view.get("a"))
    keys, state = ComputedKeys([a, b]), State()
    keys.recompute(state)
    assert state["b"] == 1
    state.set("flip", True)
    with pytest.raises(CycleError, match="a -> b -> a"):
        keys.recompute(state, ["flip"])


def test_a_tracked_key_never_lags_behind_a_listed_one_that_reads_a_tracked_one() -> None:
    nodes = [
        Computed("first", lambda view: view.get("middle")),
        Computed("middle", lambda view: view.get("last"), ("last",)),
        Computed("last", lambda view: view.get("x")),
    ]
    for declaration in permutations(nodes):
        keys, state = ComputedKeys(declaration), State({"x": 1})
        keys.recompute(state)
        state.set("x", 2)
        keys.recompute(state, ["x"])
        assert [state["first"], state["middle"], state["last"]] == [2, 2, 2]


def test_a_tracked_view_reads_by_the_one_rule_and_cannot_write() -> None:
    seen: list[object] = []

    def work(view: State) -> None:
        seen.extend([view.find("x"), view["x"], view.get("y", 7), "x" in view, "y" in view])
        assert not hasattr(view, "set")

    ComputedKeys([Computed("k", work)]).recompute(State({"derived:x": [1]}))
    assert seen == [[1], [1], 7, True, False]


def test_a_function_that_raises_is_named_and_its_message_is_not_repeated() -> None:
    def work(_: object) -> None:
        raise ValueError("my card is 4242")

    with pytest.raises(FunctionError) as caught:
        ComputedKeys([Computed("risk", work, ())]).recompute(State())
    assert str(caught.value) == "computed key 'risk' raised ValueError"
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_long_ladder_of_diamonds_is_ordered_at_once() -> None:
    rungs = [total(f"k{n}", f"k{n - 1}", f"derived:k{n - 1}", f"k{n - 2}") for n in range(2, 60)]
    keys, state = ComputedKeys(rungs), State({"k0": 1, "k1": 1})
    keys.recompute(state, ["k1"])
    assert state["k3"] == 2 * state["k2"] + 1


@st.composite
def graphs(draw: Callable[..., object]) -> list[tuple[str, ...]]:
    """Keys c0, c1, ... in any order; each reads inputs and keys of a lower number."""
    count = draw(st.integers(1, 6))
    nodes = []
    for n in range(count):  # type: ignore[arg-type]
        sources = ["x", "y", *(f"c{i}" for i in range(n)), *(f"derived:c{i}" for i in range(n))]
        nodes.append((f"c{n}", *draw(st.lists(st.sampled_from(sources), max_size=3))))  # type: ignore[misc]
    return draw(st.permutations(nodes))  # type: ignore[return-value]


@given(
    graphs(),
    st.lists(st.booleans(), min_size=6, max_size=6),
    st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 3)), max_size=4),
)
def test_a_partial_pass_gives_what_working_everything_out_afresh_would(
    nodes: list[tuple[str, ...]], tracked: list[bool], writes: list[tuple[str, int]]
) -> None:
    log: list[str] = []
    keys = ComputedKeys(
        total(*node, log=log, tracked=flag) for node, flag in zip(nodes, tracked, strict=False)
    )
    state = State()
    keys.recompute(state)
    inputs: dict[str, int] = {}
    for key, value in writes:
        log.clear()
        if state.set(key, value):
            keys.recompute(state, [key])
        assert len(log) == len(set(log))
        inputs[key] = value
        assert state.snapshot() == inputs | naive(nodes, inputs)


def naive(nodes: list[tuple[str, ...]], inputs: dict[str, int]) -> dict[str, int]:
    values = dict(inputs)
    for name, *reads in sorted(nodes):
        values[name] = sum(values.get(read.removeprefix("derived:"), 0) for read in reads)
    return {f"derived:{name}": values[name] for name, *_ in nodes}
