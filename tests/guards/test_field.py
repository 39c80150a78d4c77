"""A pydantic field that holds a guard."""

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from flowengine import guards as g
from flowengine.guards import Guard


class Edge(BaseModel):
    model_config = ConfigDict(frozen=True)
    when: Guard
    others: tuple[Guard, ...] = ()


@pytest.mark.parametrize(
    "given", [g.captured("a"), "captured([a])", {"captured": ["a"]}, {"all": ["captured(a)"]}]
)
def test_a_field_takes_every_spelling(given):
    edge = Edge(when=given)
    assert edge.when == g.captured("a")
    assert hash(edge) == hash(Edge(when=g.captured("a")))


def test_true_is_always():
    assert Edge.model_validate({"when": True}).when == g.always()


def test_a_field_is_written_as_text_and_read_back():
    edge = Edge(when=g.captured("a") & ~(g.key("付款") >= 3), others=(g.always(),))
    assert edge.model_dump() == {
        "when": "captured(a) and not (付款 >= 3)",
        "others": ("always",),
    }
    assert Edge.model_validate_json(edge.model_dump_json()) == edge


def test_a_guard_too_long_for_text_is_written_as_json():
    edge = Edge(when=g.captured(*(f"key_number_{n}" for n in range(300))))
    assert isinstance(edge.model_dump()["when"], dict)
    assert Edge.model_validate_json(edge.model_dump_json()) == edge


@pytest.mark.parametrize("bad", ["captrued(a)", False, None, 3, ["captured(a)"], {"captured": 1}])
def test_a_bad_guard_is_a_validation_error_at_its_place(bad):
    with pytest.raises(ValidationError) as caught:
        Edge.model_validate({"when": "always", "others": ["always", bad]})
    (error,) = caught.value.errors()
    assert error["loc"] == ("others", 1)
    assert error["type"] == "guard"
    assert {"offset", "length"} <= error["ctx"].keys()


def test_the_error_says_where_in_the_text():
    with pytest.raises(ValidationError) as caught:
        Edge.model_validate({"when": "is_set(a) and captrued(b)"})
    (error,) = caught.value.errors()
    assert (error["ctx"]["offset"], error["ctx"]["length"]) == (14, 8)
    assert "'captured'" in error["msg"]


def test_the_json_schema_is_text_an_object_or_true():
    schema = Edge.model_json_schema()["properties"]["when"]
    assert schema["anyOf"] == [{"type": "string"}, {"type": "object"}, {"const": True}]
