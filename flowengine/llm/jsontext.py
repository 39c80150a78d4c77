"""JSON text to value, strictly: one value, no NaN, no key twice, no bottomless nesting."""

from __future__ import annotations

import json
from typing import Any

from flowengine.llm.data import JSON
from flowengine.llm.partial import PartialJson


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
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(error.msg, error.lineno, error.colno, cut=_is_cut(text)) from None
    except RecursionError:
        raise NotJson("nested too deeply", 1, 1, cut=False) from None
    except ValueError as error:
        message = str(error) if isinstance(error, _Forbidden) else "a number is out of range"
        raise NotJson(message, 1, 1, cut=False) from None


class _Forbidden(ValueError):
    pass


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Forbidden("a key occurs twice in one object")
    return value


def _constant(name: str) -> Any:
    raise _Forbidden(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


def _is_cut(text: str) -> bool:
    scan = PartialJson()
    scan.feed(text)
    return scan.started and not scan.broken and not scan.done
