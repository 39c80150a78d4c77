"""Lists that several calls append to keep the order in which the calls were made."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

Begin = Callable[..., Any]

FLOW = """
flow: appending
state: {orders: {type: array, merge: append}}
tools: {order: {args: {item: string}, set: {orders: result.item}}}
phases: {a: {initial: true}}
"""


@pytest.mark.parametrize("done", list(permutations("abc")))
def test_three_at_once_stand_in_the_order_of_the_requests(begin: Begin, done: Any) -> None:
    call = begin(FLOW, orders=["first"])
    for name in "abc":
        call.tool("order", name, item=name)
    runs = {name: call.run(name) for name in "abc"}
    for name in done:
        call.answer(runs[name], {"item": name})
    assert call.values["orders"] == ["first", "a", "b", "c"]


def test_what_was_written_meanwhile_stays_in_front(begin: Begin) -> None:
    call = begin(FLOW)
    call.tool("order", "a", item="a")
    call.tool("order", "b", item="b")
    runs = {name: call.run(name) for name in "ab"}
    call.answer(runs["b"], {"item": "b"})
    call.set(orders=["desk"])
    call.answer(runs["a"], {"item": "a"})
    assert call.values["orders"] == ["b", "desk", "a"]
