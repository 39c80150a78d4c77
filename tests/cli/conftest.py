"""The command line, run in this process; a small flow in a folder."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from flowengine.cli import main

TABLE = """
flow: table
timezone: America/New_York
state:
  zip: {type: string}
  people: {type: integer}
  name: {type: string, pii: true}
  agreed: {type: boolean}
  ticket: {type: object, writers: ["tool:book"]}
records:
  booking:
    fields:
      people: {recognize: {integer_near: [people, table for]}}
      agreed: {recognize: yes_no, when_asked: true, asks: [right]}
      name: {recognize: {regex: 'my name is (\\w+)'}}
tools:
  book:
    args: {people: integer}
    when: is_true(agreed) and args.people == people
    respond: {ticket: T-1}
    save_as: ticket
  cancel: {}
phases:
  ask:
    initial: true
    say: How many people?
    instruction: Ask how many people come.
    needs: [people]
    transitions:
      - to: confirm
        when: captured(people)
      - to: gone
        after: 1m
        on: hang_up
  confirm:
    instruction: Ask whether {people} is right.
    needs: [agreed]
    transitions:
      - to: booked
        when: is_set(ticket)
  booked: {final: true}
  gone: {final: true}
"""


class Done(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command: `run("check", path, stdin="...")`."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    for key in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(key, raising=False)

    def run(*args: object, stdin: str = "") -> Done:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = main([str(arg) for arg in args])
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A flow's folder."""
    folder = tmp_path / "table"
    folder.mkdir()
    (folder / "flow.yaml").write_text(TABLE)
    return folder
