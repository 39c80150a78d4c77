"""Snapshots of a JSON value that grows, sharing with each other whatever did not change.

To copy the whole value each time would cost a long answer the square of its length.
"""

from __future__ import annotations

import copy
from typing import Any

from flowengine.llm.data import JSON, Path, is_array, is_object


class Snapshots:
    """`take` after every growth; what it returned before stays as it was."""

    def __init__(self) -> None:
        self._last: JSON = None

    def take(self, live: JSON, changed: list[Path]) -> JSON:
        """The value now; `changed` are the paths placed since the last time, outer ones first."""
        own: set[int] = set()
        for path in changed:
            self._last = _grown(self._last, path, _at(live, path), own)
        return self._last


def _grown(shown: JSON, path: Path, value: JSON, own: set[int]) -> JSON:
    """`shown` with a new value at `path`; only containers in `own` are changed in place."""
    if not path:
        return _begun(value, own)
    holder: Any = shown if id(shown) in own else copy.copy(shown)
    own.add(id(holder))
    step, rest = path[0], path[1:]
    appends = is_array(shown) and step == len(shown)
    child = _grown(holder[step] if rest else None, rest, value, own)
    if appends:
        holder.append(child)
    else:
        holder[step] = child
    return holder


def _begun(value: JSON, own: set[int]) -> JSON:
    """A scalar as it is, a container empty: what it holds comes under paths of its own."""
    if not is_object(value) and not is_array(value):
        return value
    empty: Any = {} if is_object(value) else []
    own.add(id(empty))
    return empty


def _at(value: JSON, path: Path) -> JSON:
    for step in path:
        value = value[step]
    return value
