"""Someone who must agree to a call."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine.errors import FlowError, SourceError
from flowengine.tools.confirm import Confirm, ScriptedConfirm, declined, require_confirm
from flowengine.tools.spec import Tool

pytestmark = pytest.mark.anyio


async def test_a_script_answers_in_order_and_remembers_what_it_was_asked() -> None:
    confirm: Confirm = ScriptedConfirm([True, "too much"])
    answers = [await confirm("pay", {"amount": n}, "Pay?") for n in (1, 2)]
    assert answers == [True, "too much"]
    assert isinstance(confirm, ScriptedConfirm)
    assert confirm.asked == [("pay", {"amount": 1}, "Pay?"), ("pay", {"amount": 2}, "Pay?")]
    with pytest.raises(SourceError, match="nobody answers confirmation 3"):
        await confirm("pay", {}, "")


@pytest.mark.parametrize(
    ("answer", "why"),
    [(True, None), (False, "it was not confirmed"), ("too much", "too much"),
     ("", "it was not confirmed"), (" ", "it was not confirmed"), (1, "it was not confirmed"),
     (None, "it was not confirmed")],
)  # fmt: skip
def test_only_true_agrees(answer: Any, why: str | None) -> None:
    assert declined(answer) == why


def test_a_tool_that_asks_is_refused_where_nobody_answers() -> None:
    tools = {"pay": Tool(confirm=True), "look": Tool(), "send": Tool(confirm="Send it?")}
    with pytest.raises(FlowError, match="pay, send: confirmation is asked for"):
        require_confirm(tools, None)
    require_confirm(tools, ScriptedConfirm([]))
    require_confirm({"look": Tool()}, None)
