"""Cards, accounts, telephone numbers: long runs of digits, which no reader outside gets to see,
whether or not some key holds them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flowengine.extract.recognizers import Context, recognizer, utterance

LONG = 9
"""Digits from which a number is long; a date has eight at most, its time has four more."""
_WRITTEN = re.compile(rf"\d(?:[ .\-]?\d){{{LONG - 1},}}")
_AMOUNT = re.compile(r"\d,\d{3}")
_MOMENT = re.compile(r"(\d{4}-\d\d?-\d\d?|\d\d?[.-]\d\d?[.-]\d{4})( \d\d?([ .:]?\d\d)?)?")
"""A day with its time, which is no secret by itself."""


def long_numbers(text: str, locale: str) -> Iterator[tuple[int, int]]:
    """Where they stand, written or spoken: `4242 4242 4242 4242`, "five five five one two ..."."""
    for written in _WRITTEN.finditer(text):
        if not _MOMENT.fullmatch(written.group()):
            yield written.span()
    for said in recognizer("digits").recognize(utterance(text, locale), Context(locale=locale)):
        start, end = said.span
        is_other = _AMOUNT.search(text, start, end) or _MOMENT.fullmatch(text, start, end)
        if len(str(said.value)) >= LONG and not is_other:
            yield start, end
