"""Placeholders: what they read, and what they leave alone."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.errors import SourceError
from flowengine.inputs import Json
from flowengine.sources.address import address
from flowengine.sources.allow import climbs
from flowengine.sources.template import (
    Values,
    argument_reads,
    fill,
    fill_prompt,
    filled,
    prompt_keys,
    state_reads,
)

VALUES = Values({"n": 4, "order": {"id": "o-1", "tags": ["a", "b"]}}, {"day": "friday", "n": 9})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{args.n} on {state.day}", "4 on friday"),
        ("{args.order.id}/{args.order.tags.1}", "o-1/b"),
        ("{args.order}", '{"id":"o-1","tags":["a","b"]}'),
        ("{n} {arg.n} {args.} {} {{args.n}}", "{n} {arg.n} {args.} {} {4}"),
    ],
)
def test_placeholders_are_filled_and_other_braces_stay(text: str, told: str) -> None:
    assert fill(text, VALUES) == told


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{args.n}", 4),
        (" {args.n}", " 4"),
        ({"a": ["{args.order.tags}", 1, None, True], "{args.n}": "{state.n}"},
         {"a": [["a", "b"], 1, None, True], "{args.n}": 9}),
    ],
)  # fmt: skip
def test_a_text_that_is_one_placeholder_keeps_the_values_type(template: Json, value: Json) -> None:
    assert filled(template, VALUES) == value


def test_reads_are_told_without_filling() -> None:
    template: Json = {"a": ["{state.plan.name} {args.x.y}", "{state.day}"], "b": "{args.x.z}"}
    assert state_reads(template) == ("plan.name", "day")
    assert argument_reads(template) == ("x",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{day} {order.id} {n}", "friday o-1 4"),
        ("{gone?yes:no} {day?it is {:}", "no {day?it is {:}"),
        ("{day?set:not set}", "set"),
        ('{"a": 1, "b": {}} {two words}', '{"a": 1, "b": {}} {two words}'),
    ],
)
def test_a_prompt_is_filled_from_arguments_before_state(text: str, told: str) -> None:
    assert fill_prompt(text, VALUES) == told


def test_a_prompt_names_its_keys_and_what_is_missing() -> None:
    text = "{turn:words} {day} {day?a:b} {naïve.x}"
    assert prompt_keys(text) == ("turn:words", "day", "naïve.x")
    with pytest.raises(SourceError, match=r"\{turn:words\} has no value"):
        fill_prompt(text, VALUES)


@given(st.text(min_size=1))
def test_a_value_is_one_step_of_a_path_and_one_value_of_a_query(value: str) -> None:
    values = Values({"v": value})
    template, query = "https://a.example/x/{args.v}/y?q={args.v}", {"r": "{args.v}"}
    if climbs(f"/{value}/"):
        with pytest.raises(SourceError):
            address(template, query, values)
        return
    url = address(template, query, values)
    path, _, asked = url.raw_path.decode().partition("?")
    plain = value.encode(errors="replace").decode()
    assert [unquote(step) for step in path.split("/")] == ["", "x", plain, "y"]
    assert [unquote(part) for part in asked.split("&")] == [f"q={plain}", f"r={plain}"]
    assert url.host == "a.example"


@pytest.mark.parametrize(
    "url",
    ["https://{args.v}/x", "{args.v}://a.example", "https://a.example:{args.v}/", "a.example/x",
     "/x", "https://a.example/{v}", "https://a.example/?q={arg.v}"],
)  # fmt: skip
def test_a_host_is_never_filled_and_no_brace_is_left(url: str) -> None:
    with pytest.raises(SourceError) as caught:
        address(url, {}, Values({"v": "b.example"}))
    assert caught.value.code == "bad_url"


def test_values_are_spelled_as_json_where_they_are_no_text() -> None:
    values: Any = Values({"flag": True, "list": [1, "a"], "amount": 1.5})
    query = {name: f"{{args.{name}}}" for name in values.args}
    url = address("https://a.example", query, values)
    assert unquote(url.query.decode()) == 'flag=true&list=[1,"a"]&amount=1.5'
