"""Mends text that is almost JSON, and says what it mended.

It removes what surrounds the value (fences, prose) and reads what is unmistakable (comments,
trailing commas, other quotes, bare keys, Python's words, missing closing brackets). It never
finishes a string, number or word that was cut, and never chooses between two candidates.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from flowengine.llm.data import JSON, compact
from flowengine.llm.jsontext import NotJson, parse_strict
from flowengine.llm.lenient import Lenient, Unreadable
from flowengine.llm.metadata import Repair

MAX_CANDIDATES = 8
_FENCE = re.compile(r"```[ \t]*[\w+-]*[ \t]*\r?\n(.*?)(?:\n[ \t]*```|\Z)|```(.*?)```", re.DOTALL)
_BRACKET = re.compile(r"[{\[]")
_ANY_BRACKET = re.compile(r"[{}\[\]]")


@dataclass(frozen=True, slots=True)
class Mended:
    """A value and the fixes it took; none for text that was JSON already."""

    value: JSON = field(repr=False)
    repairs: tuple[Repair, ...] = ()


def mend(text: str) -> Mended | None:
    """The one value that the text means, or None when there is none or more than one."""
    try:
        return Mended(parse_strict(text))
    except NotJson:
        return _fenced(text) or _whole(text) or _bare(text)


def _fenced(text: str) -> Mended | None:
    blocks = [match.group(1) or match.group(2) or "" for match in _FENCE.finditer(text)]
    found = [mended for block in blocks[:MAX_CANDIDATES] if (mended := _whole(block))]
    return _only([Mended(m.value, (Repair(code="fence"), *m.repairs)) for m in found])


def _whole(text: str) -> Mended | None:
    """The value of a text that holds nothing else."""
    try:
        return Mended(parse_strict(text))
    except NotJson:
        pass
    reader = Lenient(text)
    try:
        value = reader.read()
    except (Unreadable, RecursionError):
        return None
    return Mended(value, tuple(reader.repairs)) if reader.at_end() else None


def _bare(text: str) -> Mended | None:
    """The value of a text with words before or after it; never a piece of a larger one."""
    found: list[Mended] = []
    at = 0
    while len(found) < MAX_CANDIDATES and (bracket := _BRACKET.search(text, at)):
        reader = Lenient(text, bracket.start())
        try:
            value = reader.read()
        except (Unreadable, RecursionError):
            at = _behind(text, bracket.start())
            continue
        at = reader.at
        around = text[: bracket.start()].strip() or not reader.at_end()
        prose = (Repair(code="prose"),) if around else ()
        found.append(Mended(value, (*prose, *reader.repairs)))
    return _only(found)


def _behind(text: str, start: int) -> int:
    """The place behind the bracket that closes the one at `start`, or the end of the text."""
    depth = 0
    for bracket in _ANY_BRACKET.finditer(text, start):
        depth += 1 if bracket.group() in "{[" else -1
        if depth == 0:
            return bracket.end()
    return len(text)


def _only(found: list[Mended]) -> Mended | None:
    """The candidate that stands alone; equal values are one, different ones are none."""
    if not found or len({compact(mended.value) for mended in found}) > 1:
        return None
    return found[0]
