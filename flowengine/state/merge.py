"""Merge policies: how a write combines with what its key, or its batch, already holds.

Writes combine in the order of the requests. `append`, `union` and `max` build on the present
value; `conflict` forbids two different values in one batch.
"""

from __future__ import annotations

from typing import Any

from flowengine.errors import ConflictError, WrongTypeError
from flowengine.inputs import Json
from flowengine.state.keys import KeySpec, checked
from flowengine.state.types import same


def combined(
    key: str, spec: KeySpec, present: Json, value: Any, given: dict[str, Json] | None
) -> Json:
    """What the key is to hold; `given` is what this batch gave `conflict` keys so far."""
    if spec.merge in ("append", "union"):
        several = isinstance(value, list | tuple)
        new = checked(key, spec, value if several else [value])
        return _extended(present, new, spec.merge == "union")
    new = checked(key, spec, value)
    if spec.merge == "max":
        return new if present is None or _exceeds(key, spec, new, present) else present
    if spec.merge == "conflict" and given is not None and not same(given.setdefault(key, new), new):
        raise ConflictError(f"key {key!r} was given two different values in one batch")
    return new


def _extended(present: Json, new: Json, once: bool) -> Json:
    items = list(present) if isinstance(present, list) else []
    for item in new if isinstance(new, list) else [new]:
        if not once or not any(same(item, known) for known in items):
            items.append(item)
    return items


def _exceeds(key: str, spec: KeySpec, new: Json, present: Json) -> bool:
    parse = spec.type.parse if spec.type is not None else None
    left: Any = parse(new) if parse else new
    right: Any = parse(present) if parse else present
    try:
        return left > right
    except TypeError:
        raise WrongTypeError(
            f"key {key!r} keeps the greatest value, and {type(new).__name__} does not compare "
            f"with {type(present).__name__}"
        ) from None
