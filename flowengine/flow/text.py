"""Text of a flow filled from State: `{key}`, `{key.field}`, or by truth `{key?yes:no}`.

An absent key shows nothing, a line that shows nothing is dropped, a lone brace stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from flowengine.facts import canonical_json
from flowengine.guards.lookup import look_up
from flowengine.inputs import Json

Find: TypeAlias = Callable[[str], Json]
Template: TypeAlias = Callable[[Find], str]

_SLOT = re.compile(r"\{([^{}?\n]+)(?:\?([^{}\n]*?):([^{}\n]*))?\}")


def template(text: str) -> Template:
    """The text as a function of a look-up; compiled once."""
    if "{" not in text:
        return lambda _: text
    lines = [_line(line) for line in text.splitlines()]

    def fill(find: Find) -> str:
        filled = (line(find) for line in lines)
        return "\n".join(line for line in filled if line is not None)

    return fill


def template_keys(text: str) -> Iterator[str]:
    """The keys that a template shows or asks."""
    yield from (match[1].strip() for match in _SLOT.finditer(text))


def shown(value: Json) -> str:
    """A value as words: strings bare, nothing for null, other JSON compact."""
    if value is None:
        return ""
    return value if isinstance(value, str) else canonical_json(value)


def _line(line: str) -> Callable[[Find], str | None]:
    if not _SLOT.search(line):
        return lambda _: line

    def fill(find: Find) -> str | None:
        text = _SLOT.sub(lambda match: _filled(match, find), line)
        return text if text.strip() else None

    return fill


def _filled(match: re.Match[str], find: Find) -> str:
    value = look_up(match[1].strip(), find)
    if match[2] is None:
        return shown(value)
    truthy = value is not None and value is not False and value not in (0, "")
    return match[2] if truthy else match[3]
