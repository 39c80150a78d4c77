"""What a flow may say of a resolver."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from flowengine.resolve.spec import Resolver


def test_it_tells_every_name_of_state_that_its_value_rests_on() -> None:
    asked = Resolver.model_validate({"args": ["topic"], "prompt": "{topic} {caller.name?a:b}"})
    assert asked.reads == ("topic", "caller.name")
    http = {"url": "https://a.example/{args.id}", "query": {"q": "{state.plan}"}}
    assert Resolver.model_validate({"args": ["id"], "http": http}).reads == ("id", "plan")
    mcp = {"server": "desk", "tool": "slots", "args": {"day": "{state.day}"}}
    assert Resolver.model_validate({"mcp": mcp}).reads == ("day",)


def test_it_has_one_source() -> None:
    with pytest.raises(ValidationError, match="it has run and prompt"):
        Resolver.model_validate({"run": "a", "prompt": "b"})
