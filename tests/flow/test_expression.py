"""Computed keys as data: strict numbers, total logic, decimals that stay decimals."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from flowengine.flow.expression import Expression

VALUES: dict[str, Any] = {
    "two": 2, "half": 0.5, "yes": True, "no": False, "word": "hi", "price": Decimal("2.50"),
    "list": [1, True],
}  # fmt: skip


def value(data: dict[str, Any]) -> Any:
    return Expression.model_validate(data).evaluate(VALUES.get)


def key(name: str) -> dict[str, str]:
    return {"key": name}


@pytest.mark.parametrize(
    ("data", "result"),
    [
        ({"key": "two"}, 2),
        ({"key": "missing"}, None),
        ({"const": 3}, 3),
        ({"const": None}, None),
        ({"add": [1, key("two"), 0.5]}, 3.5),
        ({"add": [0.5, key("half")]}, 1),
        ({"sub": [key("two"), 5]}, -3),
        ({"mul": [key("two"), {"add": [1, 2]}]}, 6),
        ({"div": [1, key("two")]}, 0.5),
        ({"div": [4, 2]}, 2),
        ({"min": [3, key("half")]}, 0.5),
        ({"max": [3, key("half")]}, 3),
        ({"gt": [key("two"), 1]}, True),
        ({"gte": [2, 2]}, True),
        ({"lt": [key("two"), 1]}, False),
        ({"lte": [2, 1]}, False),
        ({"eq": [key("word"), "hi"]}, True),
        ({"eq": [1, 1.0]}, True),
        ({"eq": [True, 1]}, False),
        ({"eq": [key("missing"), 1]}, None),
        ({"all": [key("yes"), True]}, True),
        ({"all": [key("yes"), key("missing")]}, False),
        ({"all": [key("two")]}, False),
        ({"any": [key("missing"), key("yes")]}, True),
        ({"any": []}, False),
        ({"not": key("missing")}, True),
        ({"not": key("yes")}, False),
        ({"if": {"when": key("yes"), "then": 1, "else": 2}}, 1),
        ({"if": {"when": key("two"), "then": 1, "else": 2}}, 2),
        ({"if": {"when": key("no"), "then": 1}}, None),
        ({"coalesce": [key("missing"), False, 3]}, False),
        ({"coalesce": [key("missing")]}, None),
        ({"concat": [key("word"), " ", key("missing"), key("two"), key("yes")]}, "hi 2true"),
        ({"concat": [key("price"), "/", key("list")]}, "2.50/[1,true]"),
        ({"count_true": [key("yes"), True, key("two"), key("missing")]}, 2),
    ],
)  # fmt: skip
def test_every_operation(data: dict[str, Any], result: Any) -> None:
    got = value(data)
    assert got == result
    assert type(got) is type(result)


@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div", "min", "max", "gt", "lte"])
@pytest.mark.parametrize("name", ["missing", "word", "yes", "list"])
def test_numbers_are_strict_about_what_is_missing_or_none(operation: str, name: str) -> None:
    assert value({operation: [1, key(name)]}) is None


@pytest.mark.parametrize(
    "data",
    [{"div": [1, 0]}, {"div": [1, {"sub": [2, 2]}]}, {"div": [key("price"), 0]}, {"add": []},
     {"mul": [1e308, 10]}, {"div": [10**400, 3]}, {"add": [10**400, 0.5]},
     {"sub": [float("inf"), 1]}],
)  # fmt: skip
def test_what_has_no_finite_result_has_no_value(data: dict[str, Any]) -> None:
    assert value(data) is None


def test_text_leaves_out_what_is_no_finite_number() -> None:
    assert value({"concat": ["a", float("inf"), float("nan"), 1.5]}) == "a1.5"


@pytest.mark.parametrize(
    ("data", "result"),
    [
        ({"mul": [key("price"), 3]}, "7.50"),
        ({"add": [key("price"), 0.1]}, "2.60"),
        ({"max": [key("price"), key("two")]}, "2.50"),
        ({"div": [key("price"), key("two")]}, "1.25"),
    ],
)
def test_decimals_stay_decimals_and_never_become_floats(data: dict[str, Any], result: str) -> None:
    got = value(data)
    assert isinstance(got, Decimal)
    assert got == Decimal(result)


def test_decimals_compare_as_numbers() -> None:
    assert value({"gt": [key("price"), 2.4]}) is True
    assert value({"eq": [key("price"), 2.5]}) is True
    assert value({"eq": [key("price"), "2.50"]}) is False


def test_it_knows_what_it_reads() -> None:
    data = {"if": {"when": {"gt": [key("a"), 1]}, "then": key("b"), "else": {"not": key("c")}}}
    assert list(Expression.model_validate(data).reads()) == ["a", "b", "c"]
    assert list(Expression.model_validate({"const": 1}).reads()) == []


@pytest.mark.parametrize(
    "data",
    [{}, {"add": [1], "mul": [2]}, {"pow": [1, 2]}, {"sub": [1]}, {"gt": [1, 2, 3]},
     {"key": None}, {"add": None}, {"if": None}, {"if": {"then": 1}}, {"add": [[1]]}],
)  # fmt: skip
def test_anything_else_is_a_load_error(data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Expression.model_validate(data)


def expressions() -> st.SearchStrategy[Any]:
    leaves = st.one_of(
        st.sampled_from([key(name) for name in [*VALUES, "missing"]]),
        st.booleans(), st.integers(-5, 5), st.floats(allow_nan=False), st.text("ab", max_size=2),
    )  # fmt: skip
    pair = ["sub", "div", "eq", "gt", "gte", "lt", "lte"]
    many = ["add", "mul", "min", "max", "all", "any", "coalesce", "concat", "count_true"]

    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(
            st.builds(lambda op, a, b: {op: [a, b]}, st.sampled_from(pair), inner, inner),
            st.builds(lambda op, items: {op: items}, st.sampled_from(many),
                      st.lists(inner, max_size=3)),
            st.builds(lambda a, b, c: {"if": {"when": a, "then": b, "else": c}},
                      inner, inner, inner),
        )  # fmt: skip

    return deeper(st.recursive(leaves, deeper, max_leaves=6))


@given(expressions())
def test_no_expression_raises_and_each_round_trips_through_its_data(data: dict[str, Any]) -> None:
    expression = Expression.model_validate(data)
    result = expression.evaluate(VALUES.get)
    assert result is None or isinstance(result, bool | int | float | str | Decimal | list)
    dumped = expression.model_dump(by_alias=True, exclude_unset=True)
    assert Expression.model_validate(dumped) == expression
