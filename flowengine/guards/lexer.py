"""Guard text cut into tokens; the first character that fits none is an error with a cure."""

from __future__ import annotations

import json
import re
from typing import Literal, NamedTuple, NoReturn, TypeAlias

from flowengine.clock import duration_ms
from flowengine.errors import GuardError
from flowengine.guards.spelling import MAX_TEXT, is_dunder, word_end

Kind: TypeAlias = Literal["word", "name", "value", "symbol", "end"]

_SYMBOL = re.compile(r"<=|>=|==|!=|[<>=()\[\]{},:]")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMERIC = re.compile(r"-?[0-9.][\w.]*")
_NAME = re.compile(r"`((?:[^`]|``)+)`")
_PATTERN = {
    quote: re.compile(rf"{quote}((?:\\.|{quote}{quote}|[^{quote}\\])*){quote}", re.DOTALL)
    for quote in "\"'"
}
_STRING = {
    quote: re.compile(rf"{quote}((?:\\.|[^{quote}\\])*){quote}", re.DOTALL) for quote in "\"'"
}
_ESCAPE = re.compile(r'\\u[0-9a-fA-F]{4}|\\.|"|[\x00-\x1f]', re.DOTALL)
_CURES = {
    "&": "write and", "|": "write or", "!": "write not", "~": "write not",
    ";": "separate names with a comma", "+": "guards do no arithmetic: use a computed key",
    "*": "guards do no arithmetic: use a computed key",
    "/": "guards do no arithmetic: use a computed key",
    "`": "close the backquote; an empty name is none",
}  # fmt: skip


class Token(NamedTuple):
    """A piece of the text; `value` is the word, name or symbol, or the JSON value it stands for."""

    kind: Kind
    value: object
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """All tokens, the last of kind `end`."""
    if len(text) > MAX_TEXT:
        raise GuardError(
            f"a guard has at most {MAX_TEXT:,} characters; "
            "name parts of it as computed keys, or use custom(name)",
            text=text, offset=MAX_TEXT,
        )  # fmt: skip
    tokens: list[Token] = []
    at = _skip_space(text, 0)
    while at < len(text):
        after_matches = bool(tokens) and tokens[-1][:2] == ("word", "matches")
        tokens.append(_token(text, at, after_matches))
        at = _skip_space(text, tokens[-1].end)
    return [*tokens, Token("end", "", len(text), len(text))]


def _token(text: str, at: int, after_matches: bool) -> Token:
    first = text[at]
    if first in "\"'":
        return _pattern(text, at) if after_matches else _string(text, at)
    if first == "-" or (first.isascii() and first.isdecimal()):
        return _number(text, at)
    if found := _NAME.match(text, at):
        return Token("name", found[1].replace("``", "`"), at, found.end())
    if found := _SYMBOL.match(text, at):
        return Token("symbol", found[0], at, found.end())
    return _word(text, at)


def _word(text: str, at: int) -> Token:
    end = word_end(text, at)
    word = text[at:end]
    if end == at:
        cure = _CURES.get(text[at], "write names with such characters in backquotes: `a b`")
        _fail(f"{text[at]!r} has no meaning here; {cure}", text, at, at + 1)
    if is_dunder(word):
        _fail(f"{word!r} is no key; write `{word}` in backquotes if it is one", text, at, end)
    return Token("word", word, at, end)


def _number(text: str, at: int) -> Token:
    whole = _NUMERIC.match(text, at)
    end = whole.end() if whole else at + 1
    piece = text[at:end]
    exponent = _NUMBER.match(text, at)
    if exponent and exponent.end() >= end:
        return Token("value", json.loads(exponent[0]), at, exponent.end())
    try:
        duration_ms(piece)
    except (ValueError, OverflowError):
        _fail(f"{piece!r} is neither a number (3, -0.5) nor a duration (30s)", text, at, end)
    return Token("value", piece, at, end)


def _string(text: str, at: int) -> Token:
    found = _STRING[text[at]].match(text, at)
    if found is None:
        _fail("this text is not closed; end it with the quote it began with", text, at, at + 1)
    try:
        value = json.loads('"' + _ESCAPE.sub(_json_escape, found[1]) + '"')
    except ValueError:
        _fail(
            r"a backslash in text is followed by one of \ ' \" / b f n r t uXXXX; "
            r"write \\ for the backslash itself", text, at, found.end(),
        )  # fmt: skip
    return Token("value", value, at, found.end())


def _json_escape(found: re.Match[str]) -> str:
    piece = found[0]
    if piece == r"\'":
        return "'"
    if piece == '"':
        return r"\""
    return piece if piece.startswith("\\") else f"\\u{ord(piece):04x}"


def _pattern(text: str, at: int) -> Token:
    quote = text[at]
    found = _PATTERN[quote].match(text, at)
    if found is None:
        _fail(f"this pattern is not closed; end it with {quote}", text, at, at + 1)
    pieces = re.findall(rf"\\.|{quote}{quote}|.", found[1], re.DOTALL)
    pattern = "".join(quote if piece == quote * 2 else piece for piece in pieces)
    return Token("value", pattern, at, found.end())


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _fail(message: str, text: str, start: int, end: int) -> NoReturn:
    raise GuardError(message, text=text, offset=start, length=max(1, end - start))
