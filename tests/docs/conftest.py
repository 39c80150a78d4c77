"""Pages as programs: their blocks are run from top to bottom in a folder of their own.

What a block does follows from its info string: `yaml booking/flow.yaml` writes that file (a second
block with `+` after the name adds to it), `python` is executed, `console` runs its `$` lines. A
`text` block straight after `python` is what that printed; an unannounced print is a failure.
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\w*)[ ]?(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROGRAMS = {"flowengine": "flowengine.cli", "pytest": "pytest"}


class Block(NamedTuple):
    language: str
    title: str
    text: str
    line: int
    """The line of its first line on the page, from 1."""
    follows: bool
    """Nothing but blank lines stand between it and the block before."""


def blocks_of(page: Path) -> Iterator[Block]:
    text, end = page.read_text("utf-8"), 0
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start(3)) + 1
        yield Block(match[1], match[2], match[3], line, not text[end : match.start()].strip())
        end = match.end()


class Workshop:
    """The folder and the names that a page's blocks share."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed = ""

    def run(self) -> None:
        for block in blocks_of(self.page):
            if block.language == "text" and block.follows and self.printed:
                self.compare(block, self.printed)
                self.printed = ""
                continue
            assert not self.printed, f"{self.page.name}: printed, not shown: {self.printed}"
            self.do(block)
        assert not self.printed, f"{self.page.name}: printed, not shown: {self.printed}"

    def do(self, block: Block) -> None:
        if block.title:
            self.write(block)
        elif block.language == "python":
            self.execute(block)
        elif block.language == "console":
            self.command(block)

    def write(self, block: Block) -> None:
        name, _, how = block.title.partition(" ")
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_text("utf-8") if how == "+" else ""
        file.write_text(before + block.text, "utf-8")

    def execute(self, block: Block) -> None:
        code = compile("\n" * (block.line - 1) + block.text, str(self.page), "exec")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, self.names)
        self.printed = out.getvalue()

    def command(self, block: Block) -> None:
        for command, expected in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block.text, re.M):
            program, *args = shlex.split(command)
            self.compare(block._replace(text=expected), self.output(program, args))

    def output(self, program: str, args: list[str]) -> str:
        flags = ["-p", "no:cacheprovider"] if program == "pytest" else []
        start = f"import sys; from {_PROGRAMS[program]} import main; sys.exit(main())"
        done = subprocess.run(
            [sys.executable, "-c", start, *args, *flags],
            cwd=self.folder,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "80"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.stdout + done.stderr

    def compare(self, block: Block, got: str) -> None:
        want, got = _trimmed(block.text), _trimmed(got)
        if not doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS):
            lines = difflib.unified_diff(
                want.splitlines(), got.splitlines(), "on the page", "printed", lineterm=""
            )
            pytest.fail(f"{self.page.name}:{block.line}\n" + "\n".join(lines), pytrace=False)


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"


@pytest.fixture
def run_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Workshop]:
    """Run a page's blocks; gives the workshop with what they left behind."""
    monkeypatch.chdir(tmp_path)

    def run(page: Path) -> Workshop:
        workshop = Workshop(page, tmp_path)
        workshop.run()
        return workshop

    return run


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT
