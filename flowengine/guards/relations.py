"""How two values compare: equality is total, order and difference are unknown across types."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

Relation: TypeAlias = "Callable[[Any, Any], bool | None]"


def equal(left: Any, right: Any) -> bool:
    """Equality of whole JSON values: 1 is 1.0, true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list):
        return _same_items(cast("list[Any]", left), right)
    if isinstance(left, dict):
        return _same_fields(cast("dict[str, Any]", left), right)
    return left == right


def _same_items(left: list[Any], right: Any) -> bool:
    return (
        isinstance(right, list)
        and len(left) == len(cast("list[Any]", right))
        and all(map(equal, left, cast("list[Any]", right)))
    )


def _same_fields(left: dict[str, Any], right: Any) -> bool:
    if not isinstance(right, dict):
        return False
    fields = cast("dict[str, Any]", right)
    return left.keys() == fields.keys() and all(equal(left[name], fields[name]) for name in left)


def _equals(left: Any, right: Any) -> bool:
    return left is not None and right is not None and equal(left, right)


def _differs(left: Any, right: Any) -> bool | None:
    if left is None or right is None or _sort(left) is not _sort(right):
        return None
    return not equal(left, right)


def _among(left: Any, right: Any) -> bool:
    if left is None or not isinstance(right, list):
        return False
    return any(equal(left, choice) for choice in cast("list[Any]", right))


def _ordering(compare: Callable[[Any, Any], bool]) -> Relation:
    def ordered(left: Any, right: Any) -> bool | None:
        sort = _sort(left)
        if sort is not _sort(right) or sort in _UNORDERED:
            return None
        try:
            return compare(left, right)
        except (TypeError, ArithmeticError):  # a naive and an aware time; a decimal NaN
            return None

    return ordered


_UNORDERED = frozenset({type(None), bool, list, dict})


def _sort(value: object) -> type:
    """The type under which values compare; integers and floats are one."""
    return float if type(value) is int else type(value)


COMPARES: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
RELATIONS: Mapping[str, Relation] = {
    "==": _equals,
    "!=": _differs,
    "in": _among,
    **{op: _ordering(compare) for op, compare in COMPARES.items()},
}
"""None stands for a missing value on either side, and for unknown as the answer."""
