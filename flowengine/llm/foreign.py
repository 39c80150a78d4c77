"""Reads JSON of a service's making: what has another shape than expected counts as absent.

A provider's oddity must end in a typed failure of the extraction, never in a fault of ours.
"""

from __future__ import annotations

from typing import Any

from flowengine.llm.data import is_array, is_object

MOST = 2**63 - 1


def an_object(value: Any) -> dict[str, Any]:
    return value if is_object(value) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """The members of a list that are objects."""
    return [member for member in value if is_object(member)] if is_array(value) else []


def first_object(value: Any) -> dict[str, Any]:
    """The first object in a list, empty when there is none."""
    return (objects(value) or [{}])[0]


def a_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def a_count(value: Any) -> int | None:
    """A whole number that can count tokens."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MOST else None
