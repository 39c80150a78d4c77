"""Records in code: a class, a builder and a file say the same, and State reads back typed."""

from __future__ import annotations

import json
from datetime import date, time
from decimal import Decimal
from types import new_class
from typing import Annotated, Any, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from flowengine import Flow, FlowError, State, loads
from flowengine.effects import Resolve
from flowengine.errors import WrongTypeError
from flowengine.extract import (
    Interval,
    OnComplete,
    Part,
    Record,
    RecordSpec,
    field,
    kinds,
    records,
    resolve,
)
from flowengine.extract.kinds import fuzzy, integer_near, money, one_of, yes_no
from flowengine.extract.spec import Records
from flowengine.flow.dump import dumps
from flowengine.guards import custom, in_phase, key
from flowengine.inputs import Heard, Outcome, TurnEnded
from flowengine.kernel import Kernel
from flowengine.state.view import StateView


class Order(Record, window=2):
    quantity: Annotated[
        int | None, integer_near("want", "get"), field(valid=key("value").between(1, 20))
    ] = None
    item: Annotated[Literal["pizza", "small"] | None, one_of("pizza", small=["tiny"])] = None
    name: Annotated[str | None, fuzzy("Johnson", "Jackson"), field(confirm_below=0.8)] = None
    pickup: Annotated[dict[str, Any] | None, kinds.datetime(form="parts"), field(to="when")] = None
    day: Annotated[date | None, kinds.date(prefer="future")] = None
    price: Annotated[Decimal | None, money()] = None
    confirmed: Annotated[
        bool | None, yes_no(), field(when_asked="by_words", asks=["is that right"])
    ] = None
    available: Annotated[bool | None, resolve("availability", "item", ttl="30s")] = None


FILE = """
flow: orders
records:
  order:
    window: 2
    fields:
      quantity: {recognize: {integer_near: [want, get]}, valid: 1 <= value <= 20}
      item: {recognize: {one_of: {pizza: [], small: [tiny]}}}
      name: {recognize: {fuzzy: [Johnson, Jackson]}, confirm_below: 0.8}
      pickup: {recognize: datetime, form: parts, to: when}
      day: {recognize: date, prefer: future}
      price: {recognize: money}
      confirmed: {recognize: yes_no, when_asked: by_words, asks: [is that right]}
      available: {resolve: availability, args: [item], ttl: 30s}
phases: {talk: {initial: true}}
"""
BUILT = (
    Record.named("order")
    .window(2)
    .field("quantity", integer_near("want", "get"), valid="1 <= value <= 20")
    .field("item", one_of("pizza", small=["tiny"]))
    .field("name", fuzzy("Johnson", "Jackson"), confirm_below=0.8)
    .field("pickup", kinds.datetime(form="parts"), to="when")
    .field("day", kinds.date(prefer="future"))
    .field("price", money())
    .field("confirmed", yes_no(), when_asked="by_words", asks=["is that right"])
    .field("available", resolve("availability", "item", ttl="30s"))
)


def flow_of(record: Any) -> Flow:
    return Flow(flow="orders", records={"order": record}, phases={"talk": {"initial": True}})  # pyright: ignore[reportArgumentType]


def test_a_class_a_builder_and_a_file_are_equal_data() -> None:
    file = loads(FILE)
    assert Order.spec() == BUILT.spec() == file.records["order"]
    assert flow_of(Order) == flow_of(BUILT) == flow_of(Order.spec()) == file
    assert dumps(flow_of(Order)) == dumps(file)
    assert Kernel(flow_of(Order)).compiled.hash == Kernel(file).compiled.hash


def test_records_may_be_listed_each_under_its_own_name() -> None:
    read = TypeAdapter(Records).validate_python
    booking = Record.named("booking").field("slot", one_of("am", "pm"))
    assert read([Order, booking]) == {"order": Order.spec(), "booking": booking.spec()}
    assert records(Order, booking) == read([Order, booking])
    with pytest.raises(FlowError, match="two records have the name 'order'"):
        read([Order, BUILT])
    with pytest.raises(ValidationError, match="valid dictionary"):
        read([Order, 3])


# -- any record ------------------------------------------------------------------------------------

SOURCES: list[tuple[Part, dict[str, Any], Any]] = [
    (kinds.integer(min=1, max=9), {"recognize": "integer", "min": 1, "max": 9}, int | None),
    (integer_near("want"), {"recognize": {"integer_near": ["want"]}}, int | None),
    (kinds.number(), {"recognize": "number"}, float | None),
    (kinds.ordinal(), {"recognize": "ordinal"}, int | None),
    (kinds.percent(), {"recognize": "percent"}, float | None),
    (money(currency="USD"), {"recognize": "money", "currency": "USD"}, Decimal | None),
    (yes_no(), {"recognize": "yes_no"}, bool | None),
    (one_of("a", "b"), {"recognize": {"one_of": ["a", "b"]}}, str | None),
    (one_of("a", b=["c"]), {"recognize": {"one_of": {"a": [], "b": ["c"]}}}, str | None),
    (fuzzy("Jo"), {"recognize": {"fuzzy": ["Jo"]}}, str | None),
    (kinds.regex("#(.)"), {"recognize": {"regex": "#(.)"}}, str | None),
    (
        kinds.datetime(prefer="past", hours=(9, 17)),
        {"recognize": "datetime", "prefer": "past", "hours": [9, 17]},
        str | None,
    ),
    (kinds.date(), {"recognize": "date"}, date | None),
    (kinds.time(), {"recognize": "time"}, time | None),
    (kinds.date_of_birth(), {"recognize": "date_of_birth"}, date | None),
    (kinds.duration(), {"recognize": "duration"}, str | None),
    (kinds.quantity(), {"recognize": "quantity"}, str | None),
    (kinds.digits(4), {"recognize": {"digits": 4}}, str | None),
    (kinds.letters(3), {"recognize": {"letters": 3}}, str | None),
    (kinds.phone(), {"recognize": "phone"}, str | None),
    (kinds.email(), {"recognize": "email"}, str | None),
    (kinds.postal_code(country="us"), {"recognize": "postal_code", "country": "us"}, str | None),
    (kinds.language(), {"recognize": "language"}, str | None),
    (resolve("look_up", "a", "b"), {"resolve": "look_up", "args": ["a", "b"]}, Any),
    (resolve("look_up", ttl="30s"), {"resolve": "look_up", "ttl": "30s"}, Any),
]
NAMES = st.sampled_from(["a", "b", "slot", "order:size", "turn:x"])
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "to": NAMES,
        "valid": st.sampled_from(["value > 3", "custom(is_open)", 'value in ["a", "b"]']),
        "policy": st.sampled_from(["correct", "keep_known", "overwrite", "true_only", "non_empty"]),
        "accept_when": st.sampled_from(["in_phase(talk)", "value == 3 and is_true(a)"]),
        "confirm_below": st.sampled_from([0, 0.5, 1]),
        "when_asked": st.sampled_from([True, False, "by_words"]),
        "asks": st.lists(st.sampled_from(["how many", "which one"]), max_size=2),
    },
).filter(lambda given: given.get("when_asked") != "by_words" or given.get("asks"))
FIELDS = st.dictionaries(
    st.sampled_from(["a", "b", "c", "slot"]),
    st.tuples(st.sampled_from(SOURCES), SETTINGS),
    min_size=1,
)
RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "window": st.integers(1, 50),
        "trigger": st.sampled_from(
            ["every_turn", "after_tool_call", "on_phase_change", "on_generation_complete"]
        )
        | st.builds(lambda n: {"interval": n}, st.integers(1, 9)),
        "on_complete": st.fixed_dictionaries(
            {"run": st.sampled_from(["router", "booked"])},
            optional={"mode": st.sampled_from(["call", "dispatch", "background"])},
        ),
    },
)


@given(FIELDS, RECORDS)
def test_any_record_is_the_same_from_a_file_a_class_and_a_builder(
    fields: dict[str, Any], given: dict[str, Any]
) -> None:
    file = from_file(fields, given)
    assert from_class(fields, given) == file
    assert from_builder(fields, given) == file


def from_file(fields: dict[str, Any], given: dict[str, Any]) -> RecordSpec:
    data = {name: {**source[1], **settings} for name, (source, settings) in fields.items()}
    records = {"made": {**given, "fields": data}}
    phases = {"talk": {"initial": True}}
    return loads(json.dumps({"flow": "f", "records": records, "phases": phases})).records["made"]


def from_class(fields: dict[str, Any], given: dict[str, Any]) -> RecordSpec:
    def body(namespace: dict[str, Any]) -> None:
        namespace["__annotations__"] = {
            name: Annotated[source[2], source[0], field(**settings)]
            for name, (source, settings) in fields.items()
        }
        namespace.update(dict.fromkeys(fields))

    made = cast("type[Record]", new_class("Made", (Record,), given, body))
    assert made.record_name == "made"
    return made.spec()


def from_builder(fields: dict[str, Any], given: dict[str, Any]) -> RecordSpec:
    made = Record.named("made")
    for name, (source, settings) in fields.items():
        made = made.field(name, source[0], **settings)
    if "window" in given:
        made = made.window(given["window"])
    if "trigger" in given:
        made = made.trigger(given["trigger"])
    if "on_complete" in given:
        made = made.on_complete(**given["on_complete"])
    return made.spec()


# -- the class -------------------------------------------------------------------------------------


def test_keywords_of_the_class_are_the_records_own() -> None:
    class HTTPBooking(
        Record, name="booking", window=5, trigger=Interval(interval=2),
        on_complete=OnComplete(run="router", mode="call"),
    ):  # fmt: skip
        slot: Annotated[str | None, one_of("am", "pm")] = None

    class TableBooking(HTTPBooking, window=1):
        size: Annotated[int | None, kinds.integer()] = None

    assert HTTPBooking.record_name == "booking"
    assert TableBooking.record_name == "table_booking"
    spec = TableBooking.spec()
    assert (spec.window, list(spec.fields)) == (1, ["slot", "size"])
    assert spec.trigger == HTTPBooking.spec().trigger == Interval(interval=2)
    assert spec.on_complete == OnComplete(run="router", mode="call")


def test_a_validator_may_be_named_or_given_itself() -> None:
    def is_open(day: date) -> bool:
        return day.weekday() < 5

    assert field(valid=is_open) == field(valid=custom("is_open"))
    assert field(valid="custom(is_open)").given == {"valid": "custom(is_open)"}


def test_guards_are_given_as_guards_or_as_text() -> None:
    class A(Record):
        x: Annotated[int | None, kinds.integer(), field(accept_when=in_phase("pay"))] = None

    class B(Record):
        x: Annotated[int | None, kinds.integer(), field(accept_when="in_phase(pay)")] = None

    assert A.spec() == B.spec()


EXECUTED = """
from __future__ import annotations
from typing import Annotated
from flowengine.extract import Record, kinds

def made():
    size = int
    class Inner(Record):
        x: Annotated[size | None, kinds.integer()] = None
    return Inner

class Outer(Record):
    x: Annotated[int | None, kinds.integer()] = None
"""


def test_annotations_kept_as_text_are_read_where_the_class_is_defined() -> None:
    names: dict[str, Any] = {"__name__": "nowhere"}
    exec(EXECUTED, names)
    assert names["Outer"].spec() == names["made"]().spec()
    assert names["made"]().of({"x": 3}).x == 3


def test_a_base_class_without_fields_is_no_record_yet() -> None:
    class Base(Record, window=7):
        pass

    class Made(Base):
        x: Annotated[int | None, kinds.integer()] = None

    assert Made.spec().window == 7
    with pytest.raises(FlowError, match="record Base has no fields"):
        Base.spec()


INTEGER = Annotated[int | None, kinds.integer()]
WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (Annotated[int | None, money()], {}, "money gives decimal: write `Decimal | None`"),
    (Annotated[int, kinds.integer()], {}, "write `int | None`, not `int`"),
    (Annotated[int | None, kinds.integer], {}, "write integer(), with brackets"),
    (int | None, {}, "nothing fills it; add a recognizer"),
    (Annotated[int | None, kinds.integer(), resolve("x")], {}, "either `recognize` or `resolve`"),
    (Annotated[INTEGER, field(to="a"), field(to="b")], {}, "to is given twice"),
    (Annotated[INTEGER, field(valid="value >")], {}, "valid: the guard ends"),
    (Annotated[INTEGER, field(confirm_below=3)], {}, "confirm_below: Input should be less"),
    (Annotated[INTEGER, field(when_asked="by_words")], {}, "needs `asks`"),
    (Annotated[INTEGER, field(policy=cast("Any", "corect"))], {}, "Did you mean 'correct'?"),
    (Annotated[Any, resolve("x", ttl="soon")], {}, "ttl: "),
    ("Annotated[Missing | None, kinds.integer()]", {}, "something that does not exist here"),
    (INTEGER, {"windw": 3}, "Did you mean 'window'?"),
    (INTEGER, {"window": 99}, "window: Input should be less than or equal to 50"),
    (INTEGER, {"trigger": "after_tol_call"}, "Did you mean 'after_tool_call'?"),
    (INTEGER, {"on_complete": {"mode": "call"}}, "on_complete.run: Field required"),
]


@pytest.mark.parametrize(("annotation", "keywords", "cure"), WRONG, ids=[w[2] for w in WRONG])
def test_a_mistake_is_told_where_the_class_is_defined(
    annotation: Any, keywords: dict[str, Any], cure: str
) -> None:
    def body(namespace: dict[str, Any]) -> None:
        namespace.update(__annotations__={"x": annotation}, x=None)

    with pytest.raises(FlowError) as raised:
        new_class("Made", (Record,), keywords, body)
    assert cure in str(raised.value)
    assert "record Made" in str(raised.value)


def test_a_default_that_nobody_said_is_refused() -> None:
    with pytest.raises(FlowError, match="field 'x': what nobody said is not known"):

        class Made(Record):  # pyright: ignore[reportUnusedClass]
            x: Annotated[int | None, kinds.integer()] = 5


@pytest.mark.parametrize("name", ["of", "spec", "named", "record_name"])
def test_words_of_every_record_are_no_names_of_fields(name: str) -> None:
    def body(namespace: dict[str, Any]) -> None:
        namespace.update({"__annotations__": {name: INTEGER}, name: None})

    with pytest.raises(FlowError, match=f"{name!r} is a word of every record"):
        new_class("Made", (Record,), {}, body)


def test_a_misspelt_setting_has_its_near_miss() -> None:
    with pytest.raises(FlowError, match=r"no setting 'vaild'.*Did you mean 'valid'\?"):
        field(vaild="value > 3")  # pyright: ignore[reportCallIssue]


# -- reading back ----------------------------------------------------------------------------------

KNOWN = {
    "quantity": 3,
    "item": "small",
    "when": {"time": "18:00"},
    "day": "2026-03-04",
    "price": "12.50",
    "derived:name": "Johnson",
}


def test_state_reads_back_as_a_typed_instance() -> None:
    order = Order.of(State(KNOWN))
    assert (order.quantity, order.item, order.pickup) == (3, "small", {"time": "18:00"})
    assert (order.day, order.price) == (date(2026, 3, 4), Decimal("12.50"))
    assert order.name == "Johnson"
    assert order.confirmed is None
    assert order == Order.of(StateView(State(KNOWN)))
    assert Order.of({}) == Order()


def test_an_instance_shows_what_is_known_and_not_what_it_is() -> None:
    order = Order.of(State(KNOWN))
    assert repr(order) == "Order(known=['quantity', 'item', 'name', 'pickup', 'day', 'price'])"
    assert "Johnson" not in f"{order} {order!r}"


def test_a_key_that_holds_something_else_is_named_and_not_shown() -> None:
    with pytest.raises(WrongTypeError, match="key 'when' does not hold") as raised:
        Order.of({"when": "at six", "quantity": "three"})
    assert "key 'quantity' does not hold int | None" in str(raised.value)
    assert "six" not in str(raised.value)
    assert raised.value.__suppress_context__


def test_a_moment_reads_back_as_what_was_said_of_it() -> None:
    class Visit(Record):
        at: Annotated[date | time | None, kinds.date()] = None

    assert Visit.of({"at": "2026-03-04"}).at == date(2026, 3, 4)


def test_a_call_fills_the_record_and_reads_back() -> None:
    kernel = Kernel(flow_of(Order))
    said = "I want four tiny ones for 12 dollars"
    step = kernel.step(kernel.start(0).snapshot, Heard("1", 0, said))
    step = kernel.step(step.snapshot, TurnEnded("2", 0))
    (asked,) = [effect for effect in step.effects if isinstance(effect, Resolve)]
    step = kernel.step(step.snapshot, Outcome("3", 0, asked.id, "ok", True))
    order = Order.of(step.snapshot.values)
    assert (order.quantity, order.item, order.price) == (4, "small", Decimal(12))
