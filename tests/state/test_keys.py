"""What keys accept, how values are stored and read, and who may write them."""

import copy
import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.errors import OwnershipError, WrongTypeError
from flowengine.state import KEY_TYPES, KeySpec, KeyTable, State, StateKey
from flowengine.state.keys import LOOKUPS, bare
from flowengine.state.types import copied, parse_duration, same


def declared(**specs: KeySpec | str) -> State:
    table = {k: KeySpec(KEY_TYPES[s]) if isinstance(s, str) else s for k, s in specs.items()}
    return State(keys=KeyTable(table))


class Mood(Enum):
    CALM = "calm"


class Size(IntEnum):
    LARGE = 3


class Word(str):
    __slots__ = ()


STORED = [
    ("boolean", True, True),
    ("integer", 3, 3),
    ("integer", Size.LARGE, 3),
    ("number", 2.5, 2.5),
    ("number", 10**400, 10**400),
    ("string", "hi", "hi"),
    ("string", Word("hi"), "hi"),
    ("decimal", Decimal("12.50"), "12.50"),
    ("decimal", "12.50", "12.50"),
    ("decimal", 12, "12"),
    ("decimal", "1e3", "1000"),
    ("decimal", "-0.00", "0.00"),
    ("date", date(2026, 3, 4), "2026-03-04"),
    ("date", "20260304", "2026-03-04"),
    ("time", time(15, 30), "15:30"),
    ("time", "15:30:00", "15:30"),
    ("time", time(15, 30, 5), "15:30:05"),
    ("datetime", datetime(2026, 3, 4, 15, 30), "2026-03-04T15:30"),
    ("datetime", "2026-03-04 15:30:00", "2026-03-04T15:30"),
    ("datetime", datetime(2026, 3, 4, 15, 30, tzinfo=UTC), "2026-03-04T15:30+00:00"),
    ("duration", timedelta(days=1, hours=2, seconds=5), "P1DT2H5S"),
    ("duration", timedelta(milliseconds=500), "PT0.5S"),
    ("duration", timedelta(0), "PT0S"),
    ("duration", "PT90M", "PT1H30M"),
    ("duration", "P2W", "P14D"),
    ("duration", "P1M", "P1M"),
    ("object", {"a": (1, Decimal("0.5"))}, {"a": [1, "0.5"]}),
    ("array", (1, date(2026, 3, 4)), [1, "2026-03-04"]),
]


@pytest.mark.parametrize(("kind", "given_value", "stored"), STORED)
def test_each_type_has_one_stored_form(kind: str, given_value: object, stored: object) -> None:
    state = declared(k=kind)
    state.set("k", given_value)
    assert state.find("k") == stored
    assert type(state.find("k")) is type(stored)
    assert state.set("k", state.find("k")) is False


REFUSED = [
    ("boolean", 1), ("boolean", "true"),
    ("integer", True), ("integer", 3.0), ("integer", "3"),
    ("number", True), ("number", float("nan")), ("number", float("-inf")), ("number", "3"),
    ("string", 3), ("string", ["a"]),
    ("decimal", 12.5), ("decimal", True), ("decimal", "NaN"), ("decimal", "Infinity"),
    ("decimal", "1e999999"), ("decimal", "twelve"),
    ("date", "2026-02-30"), ("date", datetime(2026, 3, 4)), ("date", "2026-03-04T10:00"),
    ("time", "25:00"), ("time", 15),
    ("datetime", date(2026, 3, 4)), ("datetime", "2026-03-04"), ("datetime", "tomorrow"),
    ("duration", "P"), ("duration", "PT"), ("duration", "P1DT"), ("duration", "90 minutes"),
    ("duration", timedelta(seconds=-1)), ("duration", "P99999999999D"), ("duration", 90),
    ("object", [1]), ("object", {1: "a"}), ("object", {"a": {1, 2}}),
    ("array", "abc"), ("array", {"a": 1}), ("array", [float("nan")]), ("array", [object()]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), REFUSED)
def test_a_value_of_another_type_is_refused_and_nothing_is_written(
    kind: str, value: object
) -> None:
    state = declared(k=kind)
    with pytest.raises(WrongTypeError, match=rf"key 'k' holds {kind}"):
        state.set("k", value)
    assert len(state) == 0
    assert state.cursor == 0
    assert not KEY_TYPES[kind].accepts(value)


def test_the_message_names_key_type_and_cure_but_never_the_value() -> None:
    state = declared(amount="decimal", note="object")
    with pytest.raises(WrongTypeError) as caught:
        state.set("amount", "my secret")
    assert str(caught.value) == (
        "key 'amount' holds decimal; this str has no such form: give a Decimal or a string such "
        "as '12.50'"
    )
    with pytest.raises(WrongTypeError, match="key 'note' holds object, not dict with set inside"):
        state.set("note", {"secret": {"a"}})


@pytest.mark.parametrize("value", [float("nan"), {1}, object(), Mood.CALM, {2: 3}, b"x"])
def test_an_undeclared_key_holds_json_alone(value: object) -> None:
    with pytest.raises(WrongTypeError, match="key 'free' holds JSON"):
        State().set("free", value)


def test_a_value_that_contains_itself_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(WrongTypeError, match="nested too deeply"):
        State().set("free", endless)


def test_an_enumeration_holds_with_and_without_a_type_and_true_is_not_one() -> None:
    state = declared(size=KeySpec(enum=(1, 2)), mood=KeySpec(KEY_TYPES["string"], ("calm",)))
    state.update({"size": 1, "mood": "calm"})
    for key, value in (("size", True), ("size", 3), ("mood", "angry")):
        with pytest.raises(WrongTypeError, match="takes one of"):
            state.set(key, value)


def test_values_are_read_as_their_declared_type_and_stored_as_json() -> None:
    state = declared(amount="decimal", due="date", at="time", slot="datetime", wait="duration")
    values = {
        "amount": Decimal("12.50"), "due": date(2026, 3, 4), "at": time(15, 30),
        "slot": datetime(2026, 3, 4, 15, 30), "wait": timedelta(hours=1),
    }  # fmt: skip
    state.update(values)
    assert {key: state[key] for key in values} == values
    assert json.loads(json.dumps(state.snapshot())) == state.snapshot()


def test_a_state_key_reads_what_it_wrote_without_a_declaration() -> None:
    state, amount, names = State(), StateKey("amount", Decimal), StateKey("names", list[str])
    state.set(amount, Decimal("9.90"))
    state.set(names, ("a", "b"))
    assert state.require(amount) == Decimal("9.90")
    assert state.get(names) == ["a", "b"]
    assert state["amount"] == "9.90"


@pytest.mark.parametrize(
    ("kind", "value"), [(int, True), (float, False), (int, 2.5), (date, "soon"), (str, 1)]
)
def test_a_state_key_refuses_what_it_could_not_read(kind: type, value: object) -> None:
    state = State()
    with pytest.raises(WrongTypeError):
        state.set(StateKey("k", kind), value)
    assert "k" not in state


def test_a_whole_number_reads_as_a_float_key() -> None:
    assert State({"score": 1}).require(StateKey("score", float)) == 1


def test_a_bare_key_falls_back_to_derived_and_a_prefixed_key_never_does() -> None:
    state = State({"derived:x": 1, "derived:app:y": 2})
    assert state.find("x") == state.get("x") == state["x"] == state.require("x") == 1
    assert "x" in state
    assert state.snapshot(["x"]) == state.pick(["x"]) == {"x": 1}
    assert state.diff({"x": 0}) == [("x", 0, 1)]
    assert "app:y" not in state
    state.set("x", 5)
    assert state["x"] == 5
    assert state["derived:x"] == 1


@pytest.mark.parametrize("spec", [KeySpec(trusted=True), KeySpec(writers=frozenset({"tool:id"}))])
def test_an_owned_key_never_falls_back(spec: KeySpec) -> None:
    state = State({"derived:x": True}, keys=KeyTable({"x": spec}))
    assert "x" not in state
    assert state.get("x") is None


@pytest.mark.parametrize("key", ["x", "derived:x", "Ext.x", "derived:Ext.x", "a.b.x"])
def test_ownership_covers_every_form_of_a_name(key: str) -> None:
    named = declared(x=KeySpec(writers=frozenset({"tool:id"})))
    with pytest.raises(OwnershipError, match="written by tool:id alone, not by extractor:E"):
        named.set(key, True, by="extractor:E")
    trusted = declared(x=KeySpec(trusted=True))
    for by in ("extractor:E", "decision:d"):
        with pytest.raises(OwnershipError, match="is trusted"):
            trusted.set(key, True, by=by)
    assert len(named) == len(trusted) == 0


def test_owners_write_and_only_owners_remove() -> None:
    state = declared(x=KeySpec(writers=frozenset({"tool:id"})))
    state.set("x", True, by="tool:id")
    for attempt in (state.remove, lambda key: state.modify(key, bool)):
        with pytest.raises(OwnershipError):
            attempt("x")
    assert state.remove("x", by="tool:id") is True


def test_a_name_with_a_dot_of_its_own_is_owned_too() -> None:
    state = State(keys=KeyTable({"identity.verified": KeySpec(trusted=True)}))
    for key in ("identity.verified", "Ext.identity.verified", "derived:identity.verified"):
        with pytest.raises(OwnershipError):
            state.set(key, True, by="extractor:E")


def test_another_prefix_is_another_key() -> None:
    state = declared(x=KeySpec(writers=frozenset({"tool:id"})))
    assert state.set("app:x", 1) is True


@pytest.mark.parametrize(
    ("key", "owner"), [("derived:x", "extractor:E"), ("derived:x", "computed"),
                       ("session:phase", "runtime")],
)  # fmt: skip
def test_runtime_prefixes_are_read_only_for_users(key: str, owner: str) -> None:
    state = State()
    for by in ("user", "tool:x"):
        with pytest.raises(OwnershipError, match="read-only"):
            state.set(key, 1, by=by)
    assert state.set(key, 1, by=owner) is True
    with pytest.raises(OwnershipError):
        state.remove(key)


def test_an_extractor_does_not_write_session_keys() -> None:
    with pytest.raises(OwnershipError):
        State().set("session:phase", "close", by="extractor:E")


def test_derived_and_bare_are_one_dependency() -> None:
    assert bare("derived:x") == bare("x") == "x"
    assert bare("app:x") == "app:x"


def test_names_made_at_run_time_do_not_pile_up() -> None:
    table = KeyTable()
    for n in range(2 * LOOKUPS):
        assert table.names[f"k{n}"]
    assert table.names["k1"] == ("k1", "derived:k1")
    assert len(table.names) <= LOOKUPS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, "a", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=1), inner),
    max_leaves=6,
)


@given(JSON, JSON)
def test_values_are_the_same_as_json_is(left: object, right: object) -> None:
    def spelled(value: object) -> str:
        text = json.dumps(value, sort_keys=True)
        return text.replace("1.0", "1")

    assert same(left, right) == (spelled(left) == spelled(right))  # type: ignore[arg-type]
    assert same(left, copy.deepcopy(left)) is True  # type: ignore[arg-type]
    assert copied(left) == left  # type: ignore[arg-type]


@given(st.timedeltas(timedelta(0), timedelta(days=400)))
def test_durations_read_back_to_the_microsecond(span: timedelta) -> None:
    text = KEY_TYPES["duration"].canonical(span)
    assert isinstance(text, str)
    assert parse_duration(text) == span


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-1e9, max_value=1e9))
def test_decimals_keep_every_digit(number: Decimal) -> None:
    state = declared(k="decimal")
    state.set("k", number)
    assert state["k"] == number
    assert "e" not in str(state.find("k")).lower()
