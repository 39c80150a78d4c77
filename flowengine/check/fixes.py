"""Cures that are certain, applied to a file's text: only what is wrong changes, comments stay."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from typing import Any

from flowengine.check.additions import Edit, Spell, added
from flowengine.flow import json_text, yaml
from flowengine.flow.diagnostic import Diagnostic, Path, steps
from flowengine.flow.load import Format
from flowengine.flow.source import Node
from flowengine.flow.tree import Unreadable


def apply_fixes(text: str, diagnostics: Iterable[Diagnostic], *, format: Format = "yaml") -> str:
    """The text with every fix that renames a key, replaces a value on one line, or adds an entry.

    Of fixes that overlap the first is taken; check again for what remains. Text that cannot be
    read at all comes back as it is.
    """
    try:
        root = (json_text if format == "json" else yaml).build(text).root
    except Unreadable:
        return text
    operations = [op for diagnostic in diagnostics for op in diagnostic.fix]
    found = [edit for op in operations if root and (edit := _edit(root, op, text, format))]
    edits: list[Edit] = []
    for edit in dict.fromkeys(found):
        if not any(edit.start < other.end and other.start < edit.end for other in edits):
            edits.append(edit)
    # from the end of the text; of several at one place the last first, so that they keep order
    for _, _, edit in sorted(((e.start, at, e) for at, e in enumerate(edits)), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _edit(root: Node, op: dict[str, Any], text: str, format: Format) -> Edit | None:
    if op["op"] == "move":
        return _renamed(root, op, format)
    path = steps(op["path"])
    if op["op"] == "add":
        parent = _at(root, path[:-1])
        spell: Spell = partial(_spelled, style="", format=format)
        return added(parent, path, op["value"], text, spell) if parent else None
    node = _at(root, path)
    if op["op"] != "replace" or node is None or node.kind != "scalar":
        return None
    if "\n" in text[slice(*node.span)] or node.style in ("|", ">"):
        return None
    return Edit(*node.span, _spelled(op["value"], node.style, format))


def _renamed(root: Node, op: dict[str, Any], format: Format) -> Edit | None:
    *holder, old = steps(op["from"])
    *target, new = steps(op["path"])
    parent = _at(root, tuple(holder))
    if parent is None or holder != target or old not in parent.keys or new in parent.keys:
        return None
    return Edit(*parent.keys[old], _spelled(str(new), "", format))


def _at(root: Node, path: Path) -> Node | None:
    here: Node | None = root
    for step in path:
        found = (here.step(step) or here.step(str(step))) if here else None
        here = found[1] if found else None
    return here


def _spelled(value: Any, style: str, format: Format) -> str:
    """Quotes as they were, and quotes where the text would be read as something else."""
    if not isinstance(value, str) or format == "json" or style == '"':
        return json.dumps(value, ensure_ascii=False)
    if style == "'" or not _is_plain(value):
        return "'" + value.replace("'", "''") + "'"
    return value


def _is_plain(value: str) -> bool:
    """Whether YAML reads the bare words back as this very text, inside braces too."""
    try:
        root = yaml.build(f"{{x: {value}}}").root
    except Unreadable:
        return False
    return root is not None and root.plain() == {"x": value}
