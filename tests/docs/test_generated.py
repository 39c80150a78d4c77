"""What is generated on the pages is up to date, with a sentence for each key, word and option."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from flowengine.flow.schema import flow_schema
from flowengine.flow.sentences import SENTENCES
from flowengine.guards import Guard, meanings
from flowengine.guards.words import ATOMS, OPERATORS, TERMS

DOCS = Path(__file__).parents[2] / "docs"
GENERATE: dict[str, Any] = runpy.run_path(str(DOCS / "generate.py"))
PAGES = ("commands.md", "guards.md", "reference.md")
MEANINGS = {
    **meanings.QUESTIONS, **meanings.TERMS, **meanings.OPERATORS, **meanings.JOINED
}  # fmt: skip


def parts() -> dict[str, Any]:
    """The properties of each part of a flow file, as the schema has them."""
    schema = flow_schema()
    forms = {"Flow": schema, **schema["$defs"]}
    full = {
        name: next((f for f in (form, *form.get("anyOf", ())) if "properties" in f), {})
        for name, form in forms.items()
    }
    return {name: form["properties"] for name, form in full.items() if form}


def test_these_pages_have_generated_parts() -> None:
    assert tuple(page.name for page in GENERATE["pages"]()) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_as_it_would_be_generated_now(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    assert GENERATE["up_to_date"](text) == text, "run: python docs/generate.py"


def test_every_part_of_a_flow_file_has_its_section_and_every_key_its_row() -> None:
    text = (DOCS / "reference.md").read_text("utf-8")
    for name, properties in parts().items():
        section = text.split(f"\n## {name.removesuffix('Spec')}\n")[1].split("\n## ")[0]
        for key in properties:
            assert f"\n| `{key}` | " in section, f"{name}.{key}"


def test_every_key_of_a_flow_file_has_a_sentence() -> None:
    silent = [
        f"{name}.{key}" for name, properties in parts().items()
        for key, node in properties.items() if not node.get("description")
    ]  # fmt: skip
    assert silent == []


def test_no_sentence_is_about_a_key_that_says_its_own_or_is_none() -> None:
    shown = parts()
    assert [
        f"{name}.{key}" for name, sentences in SENTENCES.items()
        for key, said in sentences.items() if shown[name].get(key, {}).get("description") != said
    ] == []  # fmt: skip


def test_every_word_of_the_guard_language_has_a_meaning() -> None:
    assert meanings.QUESTIONS.keys() == {*ATOMS, "decided", "eq", "one_of"}
    assert meanings.TERMS.keys() == set(TERMS)
    assert meanings.OPERATORS.keys() == set(OPERATORS)


@pytest.mark.parametrize("word", MEANINGS)
def test_an_example_of_a_word_is_a_guard_that_uses_it(word: str) -> None:
    example = MEANINGS[word].example
    assert str(Guard.parse(str(Guard.parse(example)))) == str(Guard.parse(example))
    assert ("args." if word == "arg" else "people" if word == "key" else word) in example


def test_every_option_of_a_command_says_what_it_is() -> None:
    text = (DOCS / "commands.md").read_text("utf-8")
    assert "|  |\n" not in text
    for command in ("new", "check", "replay", "probe", "recognize", "schema"):
        assert f"\n## {command}\n" in text
    assert "`--reveal`" in text
