"""Texts filled from State."""

from __future__ import annotations

import pytest

from flowengine.flow.text import template
from flowengine.inputs import Json

VALUES: dict[str, Json] = {
    "name": "Ada",
    "account:result": {"balance": "12.50", "parts": [3, {"x": True}]},
    "a.b": "whole",
    "a": {"b": "part"},
    "no": False,
}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Hello {name}", "Hello Ada"),
        ("You owe {account:result.balance}.", "You owe 12.50."),
        ("{account:result.parts.0} of {account:result.parts.7}", "3 of "),
        ("{account:result.parts.1.x?yes:no}", "yes"),
        ("{no?yes:no} {absent?yes:no}", "no no"),
        ("{a.b}", "whole"),
        ("a lone { brace, and {} too", "a lone { brace, and {} too"),
        ("kept\n{absent.field}\nkept", "kept\nkept"),
    ],
)
def test_a_text_shows_keys_and_fields_below_them(text: str, filled: str) -> None:
    assert template(text)(VALUES.get) == filled
