"""A folder imports only what stands above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "flowengine"

ROWS = (
    ("errors", "clock", "inputs", "lazy"),
    ("data", "facts", "transcript"),
    ("effects",),
    ("state",),
    ("guards",),
    ("llm",),
    ("sources",),
    ("extract", "resolve", "tools", "decide"),
    ("flow",),
    ("check",),
    ("chart",),
    ("kernel",),
    ("runtime",),
    ("render",),
    ("testing",),
    ("batch",),
    ("cli",),
    ("__main__",),
)
ROW = {name: number for number, names in enumerate(ROWS) for name in names}
ALONE = {"statemachine": "chart", "google": "llm/gemini.py"}
"""Libraries that one place alone may know."""

FILES = sorted(PACKAGE.rglob("*.py"))


def imports_of(file: Path) -> Iterator[tuple[str, bool]]:
    """(module, is it imported only for type checking) of every import in a file."""
    tree = ast.parse(file.read_text())
    typing_only = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in typing_only) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, id(node) in typing_only


def home(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_file_imports_only_rows_above_its_own(file: Path) -> None:
    if file == PACKAGE / "__init__.py":
        return
    here = home(file)
    for module, typing_only in imports_of(file):
        parts = module.split(".")
        if parts[0] == "flowengine" and len(parts) > 1 and parts[1] != here and not typing_only:
            assert ROW[parts[1]] < ROW[here], f"{here} imports {module}, which stands below it"


@pytest.mark.parametrize("library", ALONE)
def test_a_library_is_known_to_one_place_alone(library: str) -> None:
    users = {
        str(file.relative_to(PACKAGE))
        for file in FILES
        for module, _ in imports_of(file)
        if module.split(".")[0] == library
    }
    assert users
    assert all(user.startswith(ALONE[library]) for user in users), users


def test_every_folder_and_file_has_its_row() -> None:
    names = {home(file) for file in FILES} - {"__init__"}
    assert names == set(ROW)
