"""Every code is documented, with its meaning and its cure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = re.compile(r"^\| \*?`(\w+)`\*? \| (.+) \| (.+) \|$", re.MULTILINE)
POSITION = {
    "Finding": 0, "warning": 0, "unknown": 0, "Unreadable": 0, "_error": 0, "misnamed": 1,
    "_asked": 2,
}  # fmt: skip


def documented() -> list[str]:
    text = (ROOT / "docs" / "check-codes.md").read_text(encoding="utf-8")
    return [match[1] for match in TABLE.finditer(text)]


def in_source() -> Iterator[str]:
    for folder in ("flow", "check"):
        for file in (ROOT / "flowengine" / folder).glob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    yield from codes_of(node, node.func.id)


def codes_of(call: ast.Call, name: str) -> Iterator[str]:
    at = POSITION.get(name)
    given = [call.args[at]] if at is not None and len(call.args) > at else []
    if name == "Diagnostic":
        given = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
    for argument in given:
        for node in ast.walk(argument):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_the_table_lists_exactly_the_codes_there_are() -> None:
    assert sorted(documented()) == sorted(set(in_source()))
