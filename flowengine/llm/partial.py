"""An incremental JSON scanner that never shows half a number, literal, key or escape.

Of a string still being written the part so far is shown; whatever `complete` names is final.
Fed the prefixes of a document, the value only ever grows towards the document's own.
"""

from __future__ import annotations

import json
import math
import re
from enum import Enum, auto
from typing import Any

from flowengine.llm.data import JSON, Path, is_array

_BLANK = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NUMBER_PREFIX = re.compile(r"-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?)?")
_LITERALS: dict[str, Any] = {"true": True, "false": False, "null": None}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_NOTHING: Any = object()
MAX_DIGITS = 4000


class _Next(Enum):
    """What the scanner expects next; the two texts are the inside of a string."""

    VALUE = auto()
    FIRST_ITEM = auto()
    FIRST_KEY = auto()
    KEY = auto()
    COLON = auto()
    AFTER = auto()
    TEXT = auto()
    KEY_TEXT = auto()
    END = auto()


class PartialJson:
    """Feed it text; read `value`, `complete` and `changed` (the paths since the last `feed`)."""

    def __init__(self) -> None:
        self.broken = False
        self.complete: list[Path] = []
        self.changed: list[Path] = []
        self._root: JSON = _NOTHING
        self._stack: list[Any] = []
        self._path: list[str | int] = []
        self._expect = _Next.VALUE
        self._rest = ""
        self._chars: list[str] = []

    @property
    def value(self) -> JSON:
        """The value so far, None before it began; the same object grows in place."""
        return None if self._root is _NOTHING else self._root

    @property
    def started(self) -> bool:
        return self._root is not _NOTHING or bool(self._rest.strip())

    @property
    def done(self) -> bool:
        """The document is whole (a bare number only is once something follows it)."""
        return self._expect == _Next.END

    def feed(self, text: str) -> None:
        """Take more text. After an error in it (`broken`) the value stays what it was."""
        self.complete, self.changed = [], []
        if self.broken:
            return
        text, at = self._rest + text, 0
        while at < len(text) and not self.broken:
            after = self._step(text, at)
            if after is None:
                break
            at = after
        self._rest = text[at:]
        if self._expect == _Next.TEXT and not self.broken:
            self._place("".join(self._chars))

    def _step(self, text: str, at: int) -> int | None:
        """Consume one token and return where the next begins; None when more text is needed."""
        if self._expect in (_Next.TEXT, _Next.KEY_TEXT):
            return self._string(text, at)
        match = _BLANK.match(text, at)
        start = match.end() if match else at
        if start == len(text):
            return start
        char = text[start]
        match self._expect:
            case _Next.VALUE:
                return self._begin(text, start)
            case _Next.FIRST_ITEM:
                return self._close(start) if char == "]" else self._begin(text, start)
            case _Next.FIRST_KEY if char == "}":
                return self._close(start)
            case _Next.FIRST_KEY | _Next.KEY if char == '"':
                self._expect, self._chars = _Next.KEY_TEXT, []
                return start + 1
            case _Next.COLON if char == ":":
                self._expect = _Next.VALUE
                return start + 1
            case _Next.AFTER:
                return self._separator(char, start)
            case _:
                return self._fail()

    def _begin(self, text: str, at: int) -> int | None:
        char = text[at]
        if self._expect == _Next.FIRST_ITEM:
            self._path.append(0)
        if char == '"':
            self._expect, self._chars = _Next.TEXT, []
            self._place("")
            return at + 1
        if char in "{[":
            self._expect = _Next.FIRST_KEY if char == "{" else _Next.FIRST_ITEM
            container: Any = {} if char == "{" else []
            self._place(container)
            self._stack.append(container)
            return at + 1
        self._expect = _Next.VALUE
        return self._number(text, at) if char in "-0123456789" else self._literal(text, at)

    def _number(self, text: str, at: int) -> int | None:
        prefix = _NUMBER_PREFIX.match(text, at)
        end = prefix.end() if prefix else at
        if end == len(text) and end - at < MAX_DIGITS:
            return None  # more digits may follow
        whole = _NUMBER.fullmatch(text, at, end)
        if whole is None or end - at >= MAX_DIGITS:
            return self._fail()
        number = json.loads(whole.group())
        if math.isinf(number):
            return self._fail()
        self._place(number)
        self._finish()
        return end

    def _literal(self, text: str, at: int) -> int | None:
        for word, value in _LITERALS.items():
            if text.startswith(word, at):
                self._place(value)
                self._finish()
                return at + len(word)
            if word.startswith(text[at:]):
                return None
        return self._fail()

    def _string(self, text: str, at: int) -> int | None:
        plain = _PLAIN.match(text, at)
        if plain:
            self._chars.append(plain.group())
            return plain.end()
        if text[at] == '"':
            self._end_string()
            return at + 1
        return self._escape(text, at) if text[at] == "\\" else self._fail()

    def _end_string(self) -> None:
        string = "".join(self._chars)
        if self._expect == _Next.TEXT:
            self._place(string)
            self._finish()
        elif string in self._stack[-1]:
            self._fail()  # a key twice: the first value was already shown as final
        else:
            self._path.append(string)
            self._expect = _Next.COLON

    def _escape(self, text: str, at: int) -> int | None:
        if at + 1 == len(text):
            return None
        if text[at + 1] != "u":
            char = _ESCAPES.get(text[at + 1])
            if char is None:
                return self._fail()
            self._chars.append(char)
            return at + 2
        return self._unicode(text, at)

    def _unicode(self, text: str, at: int) -> int | None:
        if len(text) < at + 6:
            return None
        if not _HEX.match(text, at + 2):
            return self._fail()
        code = int(text[at + 2 : at + 6], 16)
        end = at + 6
        if 0xD800 <= code < 0xDC00:  # half a pair: its other half may be on the way
            tail = text[end : end + 6]
            if len(tail) < 6 and r"\u".startswith(tail[:2]):
                return None
            if tail[:2] == r"\u" and _HEX.match(tail, 2):
                low = int(tail[2:], 16)
                if 0xDC00 <= low < 0xE000:
                    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                    end += 6
        self._chars.append(chr(code))
        return end

    def _separator(self, char: str, at: int) -> int | None:
        container = self._stack[-1]
        if char == "," and is_array(container):
            self._path.append(len(container))
            self._expect = _Next.VALUE
        elif char == ",":
            self._expect = _Next.KEY
        elif char == ("]" if is_array(container) else "}"):
            return self._close(at)
        else:
            return self._fail()
        return at + 1

    def _close(self, at: int) -> int:
        self._stack.pop()
        self._finish()
        return at + 1

    def _place(self, value: JSON) -> None:
        """Put a value where the path points; a string in progress is put there again and again."""
        path = tuple(self._path)
        holder: Any = self._stack[-1] if self._stack else None
        if holder is None:
            self._root = value
        elif isinstance(holder, list) and path[-1] == len(holder):  # pyright: ignore[reportUnknownArgumentType]
            self._stack[-1].append(value)
        else:
            self._stack[-1][path[-1]] = value
        if path not in self.changed[-1:]:
            self.changed.append(path)

    def _finish(self) -> None:
        self.complete.append(tuple(self._path))
        self._expect = _Next.AFTER if self._stack else _Next.END
        if self._path:
            self._path.pop()

    def _fail(self) -> None:
        self.broken = True
