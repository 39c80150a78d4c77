"""Brings what is generated on the pages up to date: `python docs/generate.py`.

A page marks its parts by `<!-- generated: name -->` and `<!-- end -->`; a test holds them equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import typer

from flowengine.cli.app import app
from flowengine.flow.reference import flow_reference
from flowengine.guards import meanings

DOCS = Path(__file__).parent
_BAR = "\\|"
_PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> None:
    for page in pages():
        text = page.read_text("utf-8")
        if (now := up_to_date(text)) != text:
            page.write_text(now, "utf-8")
            print(page)


def pages() -> list[Path]:
    """The pages that have generated parts."""
    return [page for page in sorted(DOCS.glob("*.md")) if _PART.search(page.read_text("utf-8"))]


def up_to_date(text: str) -> str:
    """A page with its generated parts as they are now."""
    return _PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n{part[3]}", text)


def words_of(table: Mapping[str, meanings.Meaning]) -> Callable[[], str]:
    rows = "".join(f"| `{m.example}` | {m.sentence} |\n" for m in table.values())
    return lambda: f"| for example | |\n|---|---|\n{rows}"


def commands() -> str:
    """Every command with what it takes, as its `--help` says."""
    group = typer.main.get_command(app)
    return "\n".join("\n".join(_command(name, each)) for name, each in group.commands.items())


def _command(name: str, command: typer.core.TyperCommand) -> Iterator[str]:
    context = typer.Context(command, info_name=f"flowengine {name}")
    taken = [each.metavar for each in command.params if each.param_type_name == "argument"]
    yield f"## {name}\n\n{command.help}\n"
    yield f"```text\n{' '.join(['flowengine', name, *taken])} [OPTIONS]\n```\n"
    yield "| | |\n|---|---|"
    for parameter in command.params:
        spelt, said = parameter.get_help_record(context)
        spelt = parameter.metavar if parameter.param_type_name == "argument" else spelt
        said = said.replace("  [required]", "").replace("  [", " [")
        yield f"| `{spelt.replace('|', _BAR)}` | {said} |"
    yield ""


PARTS: Mapping[str, Callable[[], str]] = {
    "flow": flow_reference,
    "questions": words_of(meanings.QUESTIONS),
    "terms": words_of(meanings.TERMS),
    "operators": words_of(meanings.OPERATORS),
    "joined": words_of(meanings.JOINED),
    "commands": commands,
}


if __name__ == "__main__":
    main()
