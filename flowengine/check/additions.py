"""A new entry in a mapping of a file, where the schema's own order would have it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from flowengine.flow.diagnostic import Path
from flowengine.flow.shape import keys_of, model_at
from flowengine.flow.source import Node

Spell = Callable[[Any], str]
"""A key or a plain value as the file's format writes it."""


class Edit(NamedTuple):
    """Text in place of what stands from `start` to `end`."""

    start: int
    end: int
    text: str


def added(parent: Node, path: Path, value: Any, text: str, spell: Spell) -> Edit | None:
    """The edit that adds an entry at `path` to its mapping; None where it cannot be placed."""
    key = str(path[-1])
    if parent.kind != "map" or key in parent.keys or not parent.keys:
        return None
    before, is_first = _follower(parent, path)
    at = parent.keys[before].start
    if parent.style == "flow" or text[parent.span.start] == "{":
        entry = f"{spell(key)}: {_inline(value, spell)},"
        return Edit(at, at, entry + _gap(text, at))
    indent = at - _line_start(text, at)
    entry = _block(key, value, indent, spell)
    if text[at - indent : at].strip() or is_first:
        return Edit(at, at, f"{entry}\n{' ' * indent}")
    start = _above_comments(text, at - indent)
    is_apart = isinstance(value, dict) and text[:start].endswith("\n\n")
    return Edit(start, start, f"{' ' * indent}{entry}\n" + "\n" * is_apart)


def _follower(parent: Node, path: Path) -> tuple[str | int, bool]:
    """The entry that the new one stands before, and whether it is the mapping's first."""
    model = model_at(path[:-1])
    order = keys_of(model) if model else []
    rank: Mapping[str, int] = {name: at for at, name in enumerate(order)}
    own = rank.get(str(path[-1]), 0)
    keys = list(parent.keys)
    later = (key for key in keys if rank.get(str(key), -1) > own)
    found = next(later, keys[0])
    return found, found == keys[0]


def _inline(value: Any, spell: Spell) -> str:
    if not isinstance(value, dict):
        return spell(value)
    entries = cast("dict[str, Any]", value).items()
    return "{" + ", ".join(f"{spell(key)}: {spell(item)}" for key, item in entries) + "}"


def _block(key: str, value: Any, indent: int, spell: Spell) -> str:
    if not isinstance(value, dict):
        return f"{spell(key)}: {spell(value)}"
    inner = " " * (indent + 2)
    entries = cast("dict[str, Any]", value).items()
    return "\n".join([f"{spell(key)}:", *(f"{inner}{spell(k)}: {spell(v)}" for k, v in entries)])


def _gap(text: str, at: int) -> str:
    """What stands before an entry on its line: a line of its own, or a space."""
    start = _line_start(text, at)
    return f"\n{text[start:at]}" if not text[start:at].strip() else " "


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _above_comments(text: str, start: int) -> int:
    """The start of the comment lines that belong to the entry on the line at `start`."""
    while start:
        above = _line_start(text, start - 1)
        if not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start
