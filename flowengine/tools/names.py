"""A tool's name for a model: providers take fewer names than a flow does.

OpenAI's take letters, digits, `_` and `-`, Gemini's must not begin with a digit, both at most 64.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection

LONGEST = 64
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")
_FIRST = re.compile(r"[A-Za-z_]")


def told_name(name: str) -> str:
    """The name under which a model knows the tool: its own, if every provider takes it.

    A dot is told as `__`, any other character that is refused as its code: `desk.transfer` is
    `desk__transfer`. What is too long is cut and ends in a number of its own.
    """
    told = _in_full(name)
    if len(told) <= LONGEST:
        return told
    mark = f"_{zlib.crc32(name.encode(errors='replace')):08x}"
    return told[: LONGEST - len(mark)] + mark


def named_by_model(called: str, tools: Collection[str]) -> str:
    """The tool that a model calls, by its own name or by the one that was told."""
    if called in tools:
        return called
    return next((name for name in tools if told_name(name) == called), called)


def is_too_long(name: str) -> bool:
    """Whether the model sees only the beginning of the name."""
    return len(_in_full(name)) > LONGEST


def _in_full(name: str) -> str:
    told = _REFUSED.sub(_spelled_out, name)
    return told if _FIRST.match(told) else f"_{told}"


def _spelled_out(found: re.Match[str]) -> str:
    return "__" if found[0] == "." else f"_{ord(found[0]):x}_"
