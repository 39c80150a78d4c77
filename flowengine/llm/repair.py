"""Mends text that is almost JSON, and says what it mended.

It removes what surrounds the value (fences, prose) and reads what is unmistakable (comments,
trailing commas, other quotes, bare keys, Python's words, missing closing brackets). It never
finishes a string, number or word that was cut, and never chooses between two candidates.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from flowengine.llm.data import JSON, compact
from flowengine.llm.jsontext import NotJson, parse_strict
from flowengine.llm.lenient import Lenient, Unreadable
from flowengine.llm.metadata import Repair

MAX_CANDIDATES = 8
_FENCE = re.compile(r"```[ \t]*[\w+-]*[ \t]*\r?\n(.*?)(?:\n[ \t]*```|\Z)|```(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Mended:
    """A value and the fixes it took; none for text that was JSON already."""

    value: JSON
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
    """The value of a text with words before or after it."""
    found: list[Mended] = []
    at = 0
    while len(found) < MAX_CANDIDATES:
        starts = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
        if not starts:
            break
        mended, at = _from(text, min(starts))
        if mended:
            found.append(mended)
    return _only(found)


def _from(text: str, start: int) -> tuple[Mended | None, int]:
    reader = Lenient(text, start)
    try:
        value = reader.read()
    except (Unreadable, RecursionError):
        return None, start + 1
    around = text[:start].strip() or not reader.at_end()
    prose = (Repair(code="prose"),) if around else ()
    return Mended(value, (*prose, *reader.repairs)), max(reader.at, start + 1)


def _only(found: list[Mended]) -> Mended | None:
    """The candidate that stands alone; equal values are one, different ones are none."""
    if not found or len({compact(mended.value) for mended in found}) > 1:
        return None
    return found[0]
