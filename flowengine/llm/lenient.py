"""Reads one JSON-like value from a text, noting every liberty it takes."""

from __future__ import annotations

import math
import re
from typing import Any

from flowengine.llm.data import JSON, Path, show_path
from flowengine.llm.jsontext import MAX_NESTING
from flowengine.llm.metadata import Repair

_SPACE = re.compile(r"\s*")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_STRICT_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_BARE_KEY = re.compile(r"[A-Za-z_$][\w$-]*(?=\s*:)")
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "`": "`"}
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: dict[str, tuple[Any, str | None]] = {
    "true": (True, None),
    "false": (False, None),
    "null": (None, None),
    "True": (True, "python_word"),
    "False": (False, "python_word"),
    "None": (None, "python_word"),
    "NaN": (None, "not_a_number"),
    "nan": (None, "not_a_number"),
    "Infinity": (None, "not_a_number"),
    "undefined": (None, "not_a_number"),
}
COSTS = {"unclosed": 3, "duplicate_key": 3, "not_a_number": 2, "missing_comma": 2}
MAX_DIGITS = 4000


class Unreadable(ValueError):
    """Not even leniently JSON."""


class Lenient:
    """One reading from `at`; afterwards `at` is behind the value and `repairs` is complete."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at
        self.repairs: list[Repair] = []
        self._path: Path = ()

    def read(self) -> JSON:
        """Raises `Unreadable`."""
        self._skip()
        if len(self._path) >= MAX_NESTING:
            raise Unreadable
        match self._peek():
            case "{":
                return self._object()
            case "[":
                return self._array()
            case char if char in _QUOTES and char:
                return self._string()
            case char if char and char in "+-.0123456789":
                return self._number()
            case _:
                return self._word()

    def at_end(self) -> bool:
        """Whether only space and comments are left."""
        self._skip()
        return self.at >= len(self.text)

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _note(self, code: str) -> None:
        repair = Repair(code=code, path=show_path(self._path), cost=COSTS.get(code, 1))
        if repair not in self.repairs:
            self.repairs.append(repair)

    def _skip(self) -> None:
        while True:
            space = _SPACE.match(self.text, self.at)
            self.at = space.end() if space else self.at
            comment = _COMMENT.match(self.text, self.at)
            if not comment:
                return
            self._note("comment")
            self.at = comment.end()

    def _object(self) -> dict[str, JSON]:
        self.at += 1
        value: dict[str, JSON] = {}
        while not self._closed("}", bool(value)):
            key = self._key()
            self._skip()
            if self._peek() != ":":
                raise Unreadable
            self.at += 1
            outer, self._path = self._path, (*self._path, key)
            if key in value:
                self._note("duplicate_key")
            value[key] = self.read()
            self._path = outer
        return value

    def _array(self) -> list[JSON]:
        self.at += 1
        value: list[JSON] = []
        while not self._closed("]", bool(value)):
            outer, self._path = self._path, (*self._path, len(value))
            value.append(self.read())
            self._path = outer
        return value

    def _closed(self, bracket: str, any_before: bool) -> bool:
        """Pass a comma and report False, or pass the closing bracket and report True."""
        self._skip()
        comma = any_before and self._peek() == ","
        if comma:
            self.at += 1
            self._skip()
        if self._peek() == bracket:
            if comma:
                self._note("trailing_comma")
            self.at += 1
            return True
        if self.at >= len(self.text):
            if comma or not any_before:
                raise Unreadable  # something was still to come
            self._note("unclosed")
            return True
        if any_before and not comma:
            if self._peek() in "}]":
                raise Unreadable
            self._note("missing_comma")
        return False

    def _key(self) -> str:
        if self._peek() in _QUOTES:
            return self._string()
        bare = _BARE_KEY.match(self.text, self.at)
        if not bare:
            raise Unreadable
        self._note("bare_key")
        self.at = bare.end()
        return bare.group()

    def _number(self) -> int | float:
        found = _NUMBER.match(self.text, self.at)
        if not found or found.end() - self.at > MAX_DIGITS:
            raise Unreadable
        number = found.group()
        self.at = found.end()
        if self.at == len(self.text) and self._path:
            raise Unreadable  # it may have been cut
        if not _STRICT_NUMBER.fullmatch(number):
            self._note("number_form")
        if not set(number) & set(".eE"):
            return int(number)
        if math.isinf(float(number)):
            raise Unreadable
        return float(number)

    def _word(self) -> JSON:
        found = _WORD.match(self.text, self.at)
        if not found or found.group() not in _WORDS:
            raise Unreadable
        value, code = _WORDS[found.group()]
        if code:
            self._note(code)
        self.at = found.end()
        return value

    def _string(self) -> str:
        opening = self._peek()
        closing = _QUOTES[opening]
        if opening != '"':
            self._note("quotes")
        self.at += 1
        chars: list[str] = []
        while (char := self._peek()) != closing or not char:
            if not char:
                raise Unreadable  # a cut string is not finished by guessing
            if char == "\\":
                chars.append(self._escape())
                continue
            if char < " ":
                self._note("control_character")
            chars.append(char)
            self.at += 1
        self.at += 1
        return _pairs("".join(chars))

    def _escape(self) -> str:
        code = self.text[self.at + 1 : self.at + 2]
        if not code:
            raise Unreadable
        if code == "u":
            digits = self.text[self.at + 2 : self.at + 6]
            if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                raise Unreadable
            self.at += 6
            return chr(int(digits, 16))
        self.at += 2
        return _ESCAPES.get(code, code)


def _pairs(text: str) -> str:
    """Two escaped halves of one character, joined; a lone half stays."""
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return text
