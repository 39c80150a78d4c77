"""Notices a model that repeats itself without end, while it is still writing."""

from __future__ import annotations

import re

MAX_BLANKS = 200
MAX_DIGITS = 40
MAX_REPEATS = 12
MAX_PERIOD = 40
_LONG_NUMBER = re.compile(rf"\d{{{MAX_DIGITS + 1},}}$")


class Repetition:
    """Feed it the text; `stuck` once the end is blanks, digits, or one piece over and over."""

    def __init__(self) -> None:
        self._tail = ""
        self.stuck = False

    def feed(self, text: str) -> None:
        self._tail = (self._tail + text)[-MAX_REPEATS * MAX_PERIOD :]
        blanks = len(self._tail) - len(self._tail.rstrip())
        self.stuck = blanks > MAX_BLANKS or bool(_LONG_NUMBER.search(self._tail)) or self._loops()

    def _loops(self) -> bool:
        # The tail repeats with some period when it equals itself shifted by that period.
        if len(self._tail) < MAX_REPEATS * MAX_PERIOD:
            return False
        end = self._tail[-MAX_PERIOD:]
        before = self._tail.rfind(end, 0, -1)
        period = len(self._tail) - MAX_PERIOD - before
        if before < 0 or period > MAX_PERIOD:
            return False
        return self._tail[period:] == self._tail[:-period]
