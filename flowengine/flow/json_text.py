"""JSON text into a tree: the same tree as YAML gives, with the same bounds."""

from __future__ import annotations

import json
import re

from flowengine.flow.source import Span
from flowengine.flow.tree import TreeBuilder, Unreadable

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s{}\[\],:"]+')


def build(text: str) -> TreeBuilder:
    """The tree of one JSON value.

    Raises:
        Unreadable: the text is not JSON, or goes beyond the bounds.
    """
    _check(text)
    builder = TreeBuilder()
    for token in _TOKEN.finditer(text):
        _take(builder, token.group(), Span(*token.span()))
    return builder


def _take(builder: TreeBuilder, token: str, span: Span) -> None:
    match token[0]:
        case "{":
            builder.open("map", span)
        case "[":
            builder.open("list", span)
        case "}" | "]":
            builder.close(span.end)
        case '"':
            value = _text(json.loads(token), span)
            builder.scalar(value, span, text=value, style='"')
        case _:
            builder.scalar(json.loads(token), span, text=token)


def _text(value: str, span: Span) -> str:
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise Unreadable("json_syntax", "half of a surrogate pair is not text", *span)
    return value


def _check(text: str) -> None:
    """After this the text is known to be JSON, so that its tokens need no checking."""
    try:
        json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_integer)
    except json.JSONDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        raise Unreadable("json_syntax", message, error.pos, error.pos + 1) from None
    except ValueError as error:
        at = max(text.find(str(error)), 0)
        message = "JSON has no such number"
        raise Unreadable("json_syntax", message, at, at + len(str(error))) from None
    except RecursionError:
        raise Unreadable("too_deep", "brackets nest too deep", 0, 1) from None


def _refuse(word: str) -> float:
    raise ValueError(word)


def _finite(digits: str) -> float:
    number = float(digits)
    return number if number - number == 0 else _refuse(digits)


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= 40 else _refuse(digits)
