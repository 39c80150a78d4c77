"""The base of every stored value here: frozen, open to new fields, silent about its content."""

from __future__ import annotations

import json
from typing import Any, TypeAlias, TypeGuard

from pydantic import BaseModel, ConfigDict

JSON: TypeAlias = Any
Schema: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]


class Data(BaseModel):
    """Frozen; unknown fields are ignored, so that records of a newer version still load."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


def canonical(value: JSON) -> str:
    """One text for equal JSON values: sorted keys, no spaces, plain UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def compact(value: JSON) -> str:
    """JSON without spaces, keys in their own order."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def show_path(path: Path) -> str:
    """`("items", 2, "colour")` as `items[2].colour`; the root is `$`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.lstrip(".") or "$"


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """`isinstance(value, dict)`, with the key and value types JSON has."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """`isinstance(value, list)`, with the item type JSON has."""
    return isinstance(value, list)
