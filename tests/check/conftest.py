"""Flows as text, and what `check` finds in them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flowengine.check import Diagnostic, FlowFileError, apply_fixes, check
from flowengine.flow.functions import Functions
from flowengine.flow.load import parse

Found = Callable[..., list[Diagnostic]]
Codes = Callable[..., list[str]]
Cured = Callable[[str], str]


@pytest.fixture
def found() -> Found:
    """`found(text)`: the findings; whatever stops a flow from being loaded is raised."""

    def found(text: str, functions: Functions | None = None) -> list[Diagnostic]:
        loaded = parse(text, file="f.yaml")
        return check(loaded.flow, functions=functions or {}, source=loaded.source)

    return found


@pytest.fixture
def codes(found: Found) -> Codes:
    """`codes(text)`: each finding as `code path`."""

    def codes(text: str, functions: Functions | None = None) -> list[str]:
        return [f"{d.code} {d.path}" for d in found(text, functions)]

    return codes


@pytest.fixture
def parsed() -> Found:
    """`parsed(text)`: what stops it from being loaded; nothing if it can be."""

    def parsed(text: str) -> list[Diagnostic]:
        try:
            parse(text, file="f.yaml")
        except FlowFileError as error:
            return list(error.diagnostics)
        return []

    return parsed


@pytest.fixture
def cured(found: Found) -> Cured:
    """`cured(text)`: the text with every certain cure, after which nothing is left to cure."""

    def cured(text: str) -> str:
        text = apply_fixes(text, found(text))
        assert [d.code for d in found(text) if d.fix] == []
        return text

    return cured
