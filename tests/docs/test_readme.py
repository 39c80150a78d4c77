"""The README says what is so: its conversation is run, its drawing is the flow's."""

from __future__ import annotations

import re
from pathlib import Path

from flowengine import load
from flowengine.check import check
from flowengine.render import to_svg

FIRST_SCREEN_LINKS = 4


def test_the_conversation_in_the_readme_goes_as_it_says(root, run_page) -> None:
    run_page(root / "README.md")


def test_the_flow_in_the_readme_is_short_and_checks_clean(root, run_page) -> None:
    file = run_page(root / "README.md").folder / "table.yaml"
    assert len(file.read_text("utf-8").splitlines()) <= 24
    assert check(load(file)) == []


def test_the_first_screen_has_one_sentence_the_two_commands_and_four_links(root) -> None:
    first_screen = (root / "README.md").read_text("utf-8").partition("\n## ")[0]
    sentence = first_screen.split("\n\n")[1]
    assert sentence.count(". ") == 0
    assert sentence.endswith(".")
    links = next(line for line in first_screen.splitlines() if line.startswith("[Tutorial"))
    assert links.count("](") == FIRST_SCREEN_LINKS
    targets = re.findall(r"^(\w+):", (root / "Makefile").read_text("utf-8"), re.MULTILINE)
    named = re.findall(r"^make (\w+)", first_screen, re.MULTILINE)
    assert named == ["demo", "test"]
    assert set(named) <= set(targets)


def test_the_drawing_in_the_readme_is_the_flow_as_it_is_now(root: Path) -> None:
    file = root / "docs" / "images" / "table_booking.svg"
    now = to_svg(load(root / "flows" / "table_booking"))
    assert _drawn(file.read_text("utf-8")) == _drawn(now), (
        "draw it again: flowengine render flows/table_booking -o docs/images/table_booking.svg"
    )


def _drawn(svg: str) -> tuple[list[str], str]:
    """What is on a drawing, wherever it stands: ids of parts, and all words."""
    ids = sorted(re.findall(r'<g id="([^"]+)"', svg))
    return ids, " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
