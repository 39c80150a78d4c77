"""A good flow as text, and what loading says of a broken one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flowengine.flow.diagnostic import Diagnostic, FlowFileError
from flowengine.flow.load import Format, loads

GOOD = """\
# yaml-language-server: $schema=flow.schema.json
flow: refill
x-shared: &needs [name, dob]
state:
  name: string
  dob: date
  on: {type: string, default: no}
  at: {type: string, default: 12:30}
tools:
  lookup: {args: {dob: string}, save_as: patient}
phases:
  ask:
    initial: true
    needs: *needs
    tools: [lookup]
    x-colour: blue
    transitions:
      - to: bye
        when: captured([name, dob])
  bye: {final: true}
"""


@pytest.fixture(scope="session")
def good() -> str:
    return GOOD


@pytest.fixture(scope="session")
def broken() -> Callable[..., list[Diagnostic]]:
    def broken(text: str, format: Format = "yaml") -> list[Diagnostic]:
        with pytest.raises(FlowFileError) as caught:
            loads(text, name="f.yaml", format=format)
        return list(caught.value.diagnostics)

    return broken


@pytest.fixture(scope="session")
def found(
    broken: Callable[..., list[Diagnostic]],
) -> Callable[..., list[tuple[str, int | None, int | None]]]:
    def found(text: str, format: Format = "yaml") -> list[tuple[str, int | None, int | None]]:
        return [(d.code, d.line, d.column) for d in broken(text, format)]

    return found
