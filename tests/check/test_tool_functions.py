"""A tool's function is registered under its name, and takes what the tool declares."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flowengine.check import Diagnostic, check_path
from flowengine.flow.functions import Functions

FLOW = """\
flow: x
tools:
  pay: {args: {amount: number, to: string}}
phases: {a: {}}
"""
CODE = """\
from flowengine import Functions, ToolContext
functions = Functions()

@functions.tool
async def pay(amount: float, to: str, context: ToolContext, note: str = ""): ...
"""

Checked = Callable[..., list[Diagnostic]]


@pytest.fixture
def checked(tmp_path: Path) -> Checked:
    """`checked(code)`: what is found in the flow with this functions.py beside it."""

    def checked(code: str, flow: str = FLOW) -> list[Diagnostic]:
        (tmp_path / "flow.yaml").write_text(flow)
        (tmp_path / "functions.py").write_text("raise SystemExit\n" + code)
        return check_path(tmp_path)

    return checked


def test_a_function_that_fits_its_tool_has_no_findings(checked: Checked) -> None:
    assert checked(CODE) == []


def test_a_function_under_a_misspelt_name_is_found(checked: Checked) -> None:
    [diagnostic] = checked(CODE.replace("def pay(", "def payy("))
    assert (diagnostic.code, diagnostic.path) == ("unknown_function", "/tools/pay")
    assert "write `run: payy`" in diagnostic.suggestion
    assert (
        checked(CODE.replace("def pay(", "def payy("), FLOW.replace("{args", "{run: payy, args"))
        == []
    )


def test_a_function_of_another_kind_is_told(checked: Checked) -> None:
    [diagnostic] = checked(CODE.replace("@functions.tool", "@functions.resolver"))
    assert "registered as a resolver" in diagnostic.suggestion


@pytest.mark.parametrize("source", ["respond: {}", 'http: {url: "https://x.example"}'])
def test_a_tool_with_a_source_needs_no_function(checked: Checked, source: str) -> None:
    assert checked("functions = Functions()\n", FLOW.replace("{args", f"{{{source}, args")) == []


@pytest.mark.parametrize(
    ("old", "new", "path", "cure"),
    [
        ("amount: float", "sum: float", "/tools/pay/args/amount", "did you mean 'sum'?"),
        ("amount: float", "amuont: float", "/tools/pay/args/amount", "did you mean 'amuont'?"),
        ("to: str, ", "", "/tools/pay/args/to", "there are: amount, note"),
        (
            'note: str = ""',
            "note",
            "/tools/pay/args",
            "declare it, or give the parameter a default",
        ),
    ],
)
def test_a_function_that_takes_something_else_is_found(
    checked: Checked, old: str, new: str, path: str, cure: str
) -> None:
    [diagnostic] = checked(CODE.replace(old, new))
    assert (diagnostic.code, diagnostic.path) == ("unfit_function", path)
    assert diagnostic.suggestion == cure


@pytest.mark.parametrize("signature", ["**args", "amount, **rest", "amount, to"])
def test_a_function_may_take_whatever_comes(checked: Checked, signature: str) -> None:
    code = "functions = Functions()\n@functions.tool\ndef pay(" + signature + "): ...\n"
    assert checked(code) == []


def test_a_live_registry_is_asked_itself(codes: Any) -> None:
    functions = Functions()
    functions.tool(name="pay")(lambda amount: None)
    assert codes(FLOW, functions) == ["unfit_function /tools/pay/args/to"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("@functions.tool\ndef pay(amount, to): ...\n", ["no_registry"]),
        ("from datetime import date\ndef helper(): ...\n", ["no_registry", "unknown_function"]),
        ("from shared import functions\n@functions.tool\ndef pay(amount, to): ...\n", []),
        ("import flowengine as f\nreg = f.Functions()\n@reg.tool\ndef pay(amount, to): ...\n", []),
    ],
)
def test_a_file_without_a_registry_is_found(
    checked: Checked, code: str, expected: list[str]
) -> None:
    assert sorted(d.code for d in checked(code)) == expected
