"""Every page is true: its blocks run, its links lead somewhere, its tables equal the code."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NEEDS_A_MODEL = {"typed-extraction.md"}
"""Its examples talk to a live service; the tests of `llm` run the same calls on the loopback."""
PAGES = sorted(page for page in DOCS.rglob("*.md") if page.name not in NEEDS_A_MODEL)
LINKED = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def rows(page: Path, heading: str) -> list[list[str]]:
    """The cells of the table whose first column has this heading."""
    found: list[list[str]] = []
    for table in re.findall(rf"^\| {heading} \|.*\n\|[-|]+\n((?:\|.*\n)+)", page.read_text(), re.M):
        found += [[c.strip() for c in line.strip("|").split(" | ")] for line in table.splitlines()]
    return found


def codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_blocks_of_a_page_run_and_print_what_it_shows(page: Path, run_page) -> None:
    run_page(page)


@pytest.mark.parametrize(
    "block",
    [
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python\nprint(1)\n```\n",
        "```python\nraise ValueError\n```\n",
        "```console\n$ flowengine check nowhere\n0 found\n```\n",
    ],
    ids=["another output", "output not shown", "an error", "a command that says otherwise"],
)
def test_a_page_that_is_not_true_fails(block: str, tmp_path: Path, run_page) -> None:
    page = tmp_path / "page.md"
    page.write_text(block, "utf-8")
    with pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
        run_page(page)


@pytest.mark.parametrize("page", LINKED, ids=name)
def test_the_file_of_a_block_is_named_on_the_line_above_it(page: Path) -> None:
    """Readers see no info strings."""
    text = page.read_text("utf-8")
    for block in re.finditer(r"^```\w+ ([\w/.-]+\.\w+)( \+)?$", text, re.MULTILINE):
        caption = f"Add to the end of `{block[1]}`:" if block[2] else f"`{block[1]}`:"
        assert text[: block.start()].endswith(f"\n\n{caption}\n\n"), block[0]


@pytest.mark.parametrize("page", LINKED, ids=name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("https://", "http://")):
            assert (page.parent / target.partition("#")[0]).exists(), target


def test_the_index_names_every_page() -> None:
    linked = set(re.findall(r"\]\(([^)#]+\.md)\)", (DOCS / "index.md").read_text("utf-8")))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - {"index.md"}
    assert pages <= linked


def test_the_layers_on_the_page_are_those_that_the_layer_test_holds() -> None:
    source = ast.parse((ROOT / "tests" / "test_layers.py").read_text("utf-8"))
    held = next(
        ast.literal_eval(node.value)
        for node in source.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ROWS"
    )
    shown = rows(DOCS / "layers.md", "row")
    assert [int(row[0]) for row in shown] == list(range(1, len(held) + 1))
    assert [tuple(codes(row[1])) for row in shown] == list(held)


WORDS = [(row[0], codes(row[2])[0]) for row in rows(DOCS / "words.md", "word")]


@pytest.mark.parametrize(("word", "where"), WORDS, ids=[word for word, _ in WORDS])
def test_a_word_lives_where_the_page_says(word: str, where: str) -> None:
    assert found(where) is not None


def test_the_words_are_more_than_a_handful_and_each_stands_once() -> None:
    words = [word for word, _ in WORDS]
    assert len(words) > 30
    assert len(words) == len(set(words))


CHANGES = rows(ROOT / "CONTRIBUTING.md", "to change")


@pytest.mark.parametrize(("change", "where"), CHANGES, ids=[row[0] for row in CHANGES])
def test_what_contributing_says_to_open_is_there(change: str, where: str) -> None:
    assert codes(where)
    for path in codes(where):
        assert (ROOT / path).exists(), f"{change}: {path}"


def test_the_commands_in_contributing_are_targets_of_the_makefile() -> None:
    named = set(re.findall(r"make (\w+)", (ROOT / "CONTRIBUTING.md").read_text("utf-8")))
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert "check" in named
    assert named <= targets


def found(dotted: str) -> Any:
    """The module, class or attribute of this name."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            value = getattr(value, part)
        return value
    return None
