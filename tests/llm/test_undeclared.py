"""The walk for keys that nobody declares."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Generic, Literal, NotRequired, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from typing_extensions import TypedDict

from flowengine.llm.schema import target
from flowengine.llm.undeclared import find_undeclared

T = TypeVar("T")


class Contact(BaseModel):
    email: str
    phone: str | None = None


class Item(BaseModel):
    colour: str = ""


class Node(BaseModel):
    value: int
    children: list[Node] = []


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    tricks: list[str] = []


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    known: int = 0


class Aliased(BaseModel):
    full_name: str = Field(alias="fullName")


class Place(TypedDict):
    city: str
    zip: NotRequired[str]


@dataclasses.dataclass
class Point:
    x: int = 0
    y: int = 0


class Everything(BaseModel):
    contact: Contact
    items: list[Item] = []
    node: Node | None = None
    pet: Cat | Dog | None = Field(default=None, discriminator="kind")
    either: Contact | Item | None = None
    opened: Open | None = None
    aliased: Aliased | None = None
    place: Place | None = None
    point: Point | None = None
    counts: dict[str, int] = {}
    anything: Any = None
    pair: tuple[Item, Contact] | None = None


SCHEMA = target(Everything).schema
GOOD: dict[str, Any] = {"contact": {"email": "a@b"}}


@pytest.mark.parametrize(
    ("extra", "path"),
    [
        ({"contact": {"email": "a", "e_mail": 1}}, "contact.e_mail"),
        ({"items": [{}, {"colour": ""}, {"color": ""}]}, "items[2].color"),
        ({"node": {"value": 1, "children": [{"value": 2, "kids": []}]}}, "node.children[0].kids"),
        ({"pet": {"kind": "cat", "tricks": []}}, "pet.tricks"),
        ({"pet": {"kind": "cow", "milk": 1}}, "pet.milk"),
        ({"either": {"email": "a", "fax": "2"}}, "either.fax"),
        ({"either": {"phone": "1"}}, "either.phone"),
        ({"aliased": {"full_name": "A"}}, "aliased.full_name"),
        ({"place": {"city": "x", "town": "y"}}, "place.town"),
        ({"point": {"z": 1}}, "point.z"),
        ({"pair": [{}, {"email": "", "colour": ""}]}, "pair[1].colour"),
    ],
)
def test_the_offender_is_named_by_its_path(extra: dict[str, Any], path: str) -> None:
    found = find_undeclared(SCHEMA, {**GOOD, **extra})
    assert found is not None
    assert found.path == path


@pytest.mark.parametrize(
    "extra",
    [
        {"opened": {"known": 1, "unknown": 2}},
        {"counts": {"whatever": 1}},
        {"anything": {"deep": {"er": 1}}},
        {"aliased": {"fullName": "A"}},
        {"place": {"city": "x", "zip": "1"}},
        {"either": {"colour": "red"}},
        {"pet": None},
        {"either": {"email": "a", "colour": "red"}},
    ],
)
def test_what_some_applying_schema_allows_is_declared(extra: dict[str, Any]) -> None:
    assert find_undeclared(SCHEMA, {**GOOD, **extra}) is None


def test_the_report_lists_what_is_declared_there_in_order() -> None:
    found = find_undeclared(SCHEMA, {"contact": {"mail": "x", "email": "y"}})
    assert found is not None
    assert (found.key, found.declared) == ("mail", ("email", "phone"))


def test_the_outer_object_comes_before_the_inner_one_and_document_order_holds() -> None:
    value = {"contact": {"email": "", "inner": 1}, "outer": 2, "later": 3}
    found = find_undeclared(SCHEMA, value)
    assert found is not None
    assert found.path == "outer"


def test_all_of_and_one_of_and_references_are_followed() -> None:
    schema = {
        "type": "object",
        "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"b": {}}}],
        "oneOf": [{"properties": {"c": {"const": 1}}}, {"properties": {"d": {}}}],
        "properties": {"a": {}},
        "$defs": {"base": {"properties": {"z": {}}}},
    }
    assert find_undeclared(schema, {"a": 1, "b": 1, "z": 1, "c": 1}) is None
    found = find_undeclared(schema, {"a": 1, "x": 1})
    assert found is not None
    assert found.declared == ("a", "b", "c", "d", "z")


def test_a_reference_to_itself_ends() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert find_undeclared(schema, {"a": {"b": 1}}) is None


def test_a_missing_additional_properties_counts_as_closed() -> None:
    schema = {"type": "object", "properties": {"a": {}}}
    assert find_undeclared(schema, {"b": 1}) is not None
    assert (
        find_undeclared({**schema, "additionalProperties": {"type": "integer"}}, {"b": 1}) is None
    )
    assert find_undeclared({"type": "object"}, {"b": 1}) is None


def test_keys_of_a_map_do_not_reach_the_printed_place() -> None:
    schema = {
        "type": "object",
        "properties": {"map": {"additionalProperties": {"properties": {"known": {}}}}},
    }
    found = find_undeclared(schema, {"map": {"Jane Smith": {"knwon": 1}}})
    assert found is not None
    assert found.path == "map.Jane Smith.knwon"
    assert "Jane" not in found.place
    assert "known" in found.place


def items() -> st.SearchStrategy[Item]:
    return st.builds(Item)


@settings(max_examples=200, deadline=None)
@given(
    st.builds(
        Everything,
        contact=st.builds(Contact),
        items=st.lists(items(), max_size=3),
        node=st.none() | st.builds(Node, children=st.lists(st.builds(Node), max_size=2)),
        pet=st.none() | st.builds(Cat) | st.builds(Dog),
        either=st.none() | st.builds(Contact) | items(),
        opened=st.none() | st.builds(Open),
        aliased=st.none() | st.builds(Aliased, fullName=st.text()),
        place=st.none() | st.fixed_dictionaries({"city": st.text()}, optional={"zip": st.text()}),
        point=st.none() | st.builds(Point),
        counts=st.dictionaries(st.text(), st.integers(), max_size=3),
        anything=st.none() | st.dictionaries(st.text(), st.integers(), max_size=2),
        pair=st.none() | st.tuples(items(), st.builds(Contact)),
    )
)
def test_what_the_type_itself_dumps_is_never_flagged(value: Everything) -> None:
    dumped = TypeAdapter(Everything).dump_python(value, mode="json", by_alias=True)
    assert find_undeclared(SCHEMA, dumped) is None


class Box(BaseModel, Generic[T]):
    item: T
    more: dict[str, list[T]] = {}


@pytest.mark.parametrize(
    "wanted",
    [
        Place,
        Point,
        Box[int],
        Box[Contact],
        Box[Cat | Dog],
        list[Item],
        dict[str, Contact | Item],
        tuple[Item, Contact | None],
        Contact | list[Item] | None,
        Annotated[Cat | Dog, Field(discriminator="kind")],
    ],
)
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_value_of_any_type_is_flagged(wanted: Any, data: st.DataObject) -> None:
    found, adapter = target(wanted), TypeAdapter(wanted)
    dumped = adapter.dump_python(data.draw(st.from_type(wanted)), mode="json", by_alias=True)
    assert find_undeclared(found.schema, {"value": dumped} if found.wrapped else dumped) is None


def test_parts_that_lead_back_to_themselves_end_quickly() -> None:
    again = {"$ref": "#/$defs/a"}
    schema = {
        "properties": {"x": again},
        "$defs": {"a": {"properties": {"k": {}}, "allOf": [again, again], "anyOf": [again, again]}},
    }
    assert find_undeclared(schema, {"x": {"k": 1}}) is None
    assert find_undeclared(schema, {"x": {"q": 1}}) is not None
