"""The words on a picture: short goals, guards in lines, and characters that cannot be drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import shorten, wrap

from flowengine.flow.action import Text
from flowengine.guards import Guard

LINE = 28
"""Lines are filled up to here, in characters, if there is a good place to break."""
LONGEST = 44
GOAL = 34


def goal_line(*texts: Text) -> str:
    """What a phase is for: the beginning of the first text that says something, in one line."""
    words = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    return shorten(_first_sentence(words), GOAL, placeholder=" …")


def condition_lines(
    *, on: str | None = None, after: str | None = None, when: Guard | None = None
) -> tuple[str, ...]:
    """An edge's event, time and guard; every character of the guard is there."""
    lines = [f"on: {on}"] if on is not None else []
    lines += [f"after {after}"] if after is not None else []
    return (*lines, *(guard_lines(str(when)) if when is not None else ()))


def guard_lines(text: str) -> tuple[str, ...]:
    """A guard's text, broken before `and` and `or`; only lines without these break elsewhere."""
    lines: list[str] = []
    for part in _operands(text):
        if lines and len(lines[-1]) + 1 + len(part) <= LINE:
            lines[-1] += " " + part
        else:
            lines.append(part)
    return tuple(short for line in lines for short in _fitting(line))


def description_lines(text: str) -> tuple[str, ...]:
    """A description in at most three lines."""
    return tuple(wrap(text, LINE, max_lines=3, placeholder=" …"))


def visible(text: str) -> str:
    """The text with a picture for each control character, but for line feeds.

    Neither XML nor C strings can hold them: a bell shows as U+2407, what has no picture as U+FFFD.
    """
    return _UNDRAWABLE.sub(_stand_in, text)


def name_lines(name: str) -> list[str]:
    """A name as it is drawn; one without ink is put in quotes."""
    return visible(name if name.strip() else f'"{name}"').split("\n")


_UNDRAWABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_JOINTS = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|(?<=\S) (?=(?:and|or) )')


def _stand_in(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 0x7F:
        return "\u2421"
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", " ".join(text.split()), maxsplit=1)[0].removesuffix(".")


def _operands(text: str) -> Iterator[str]:
    """The text cut before each `and` and `or` that is no part of a string or a key."""
    start = 0
    for joint in _JOINTS.finditer(text):
        if joint[0] == " ":
            yield text[start : joint.start()]
            start = joint.end()
    yield text[start:]


def _fitting(line: str) -> list[str]:
    if len(line) <= LONGEST:
        return [line]
    return wrap(line, LONGEST, replace_whitespace=False, expand_tabs=False, break_on_hyphens=False)
