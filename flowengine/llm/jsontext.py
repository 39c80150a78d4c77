"""JSON text to value, strictly: one value, no NaN, no key twice, no bottomless nesting."""

from __future__ import annotations

import json
import math
from typing import Any

from flowengine.llm.data import JSON, is_array, is_object
from flowengine.llm.partial import PartialJson

MAX_NESTING = 100


class NotJson(ValueError):
    """`cut`: the text so far was correct and simply stops; `line` and `col` start at 1."""

    def __init__(self, message: str, line: int, col: int, *, cut: bool) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.col = col
        self.cut = cut


def parse_strict(text: str) -> JSON:
    """Raises `NotJson`, whose message never quotes the text."""
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(error.msg, error.lineno, error.colno, cut=_is_cut(text)) from None
    except RecursionError:
        raise NotJson("nested too deeply", 1, 1, cut=False) from None
    except ValueError as error:
        message = str(error) if isinstance(error, _Forbidden) else "a number is out of range"
        raise NotJson(message, 1, 1, cut=False) from None
    if text.count("[") + text.count("{") > MAX_NESTING and _depth(value) > MAX_NESTING:
        raise NotJson("nested too deeply", 1, 1, cut=False)
    return value


class _Forbidden(ValueError):
    pass


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Forbidden("a key occurs twice in one object")
    return value


def _constant(name: str) -> Any:
    raise _Forbidden(f"{name} is not a JSON number")


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _Forbidden("a number is out of range")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float)


def _depth(value: JSON) -> int:
    """Levels of nesting, found without recursion."""
    depth, level = 0, [value]
    while any(isinstance(found, dict | list) for found in level):
        depth, level = depth + 1, _below(level)
    return depth


def _below(level: list[JSON]) -> list[JSON]:
    """All that lies one step inside these values."""
    below: list[JSON] = []
    for value in level:
        if is_object(value):
            below += value.values()
        elif is_array(value):
            below += value
    return below


def _is_cut(text: str) -> bool:
    scan = PartialJson()
    scan.feed(text)
    return scan.started and not scan.broken and not scan.done
