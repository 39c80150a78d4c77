"""Functions are registered by kind and name, read as text, and imported when a flow runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from flowengine.errors import FlowError
from flowengine.flow.functions import KINDS, Functions, declared_functions, load_functions

SOURCE = """
from flowengine.flow.functions import Functions
functions = Functions()

@functions.guard(name="late", reads=["due"])
def is_late(state): return True

@functions.resolver
async def account(phone): return {}

@functions.tool(name="pay")
@functions.watcher
def pay_now(**args): return 1

def helper(): ...
"""


def test_a_decorator_works_bare_and_with_a_name() -> None:
    functions = Functions()

    @functions.resolver
    def account() -> int:
        return 1

    @functions.guard(name="late", reads=["due"])
    def is_late(state: object) -> bool:
        return True

    assert functions.lookup("resolver", "account") is account
    assert functions.lookup("guard", "late") is is_late
    assert is_late.reads == ("due",)  # pyright: ignore[reportFunctionMemberAccess]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_decorator(kind: str) -> None:
    functions = Functions()
    getattr(functions, kind)(name="f")(lambda: 1)
    assert list(functions.of(kind)) == ["f"]


def test_an_unknown_name_suggests_the_near_one_or_the_other_kind() -> None:
    functions = Functions()
    functions.resolver(name="account")(lambda: 1)
    with pytest.raises(FlowError, match="Did you mean 'account'"):
        functions.lookup("resolver", "acount")
    with pytest.raises(FlowError, match="registered as a resolver"):
        functions.lookup("tool", "account")
    with pytest.raises(FlowError, match="Did you mean 'resolver'"):
        functions.of("resolvr")


def test_a_name_in_the_place_of_the_function_is_told_how_to_write_it() -> None:
    functions: Any = Functions()
    with pytest.raises(FlowError, match=r"@functions\.tool\(name='desk\.pay'\)"):
        functions.tool("desk.pay")


def test_a_name_is_taken_once_in_a_kind() -> None:
    functions = Functions()
    functions.tool(name="pay")(lambda: 1)
    functions.guard(name="pay")(lambda: True)
    with pytest.raises(FlowError, match="registered twice"):
        functions.tool(name="pay")(lambda: 2)


def test_the_source_hash_knows_names_and_bodies_but_not_the_order() -> None:
    def one() -> int:
        return 1

    def two() -> int:
        return 2

    def registry(*named: tuple[str, object]) -> str:
        functions = Functions()
        for name, function in named:
            functions.add("tool", name, function)  # pyright: ignore[reportArgumentType]
        return functions.source_hash()

    assert registry(("a", one), ("b", two)) == registry(("b", two), ("a", one))
    assert registry(("a", one)) != registry(("a", two))
    assert registry(("a", one)) != registry(("b", one))


def test_names_are_read_without_running_the_file(tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text("raise SystemExit\n" + SOURCE)
    found = declared_functions(tmp_path)
    assert found == {
        **{kind: frozenset() for kind in KINDS},
        "guard": {"late"},
        "resolver": {"account"},
        "tool": {"pay"},
        "watcher": {"pay_now"},
    }
    assert declared_functions(tmp_path / "functions.py") == found


def test_reading_as_text_and_importing_agree(tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text(SOURCE)
    assert load_functions(tmp_path).declared() == declared_functions(tmp_path)


def test_a_folder_without_functions_has_none(tmp_path: Path) -> None:
    assert not any(declared_functions(tmp_path).values())
    assert not any(load_functions(tmp_path).declared().values())


def test_a_folder_that_does_not_exist_is_no_empty_one(tmp_path: Path) -> None:
    (tmp_path / "booking").mkdir()
    with pytest.raises(FlowError, match=r"no such folder.*'booking'"):
        load_functions(tmp_path / "bookng")
    with pytest.raises(FlowError, match="no such folder"):
        load_functions(tmp_path / "nowhere" / "functions.py")
    assert not any(load_functions(tmp_path / "booking" / "functions.py").declared().values())


def test_two_folders_never_share_a_module(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        text = SOURCE.replace("is_late", f"late_{name}").replace('"late"', f'"late_{name}"')
        (tmp_path / name / "functions.py").write_text(text)
    assert list(load_functions(tmp_path / "a").of("guard")) == ["late_a"]
    assert list(load_functions(tmp_path / "b").of("guard")) == ["late_b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ny = 1 / 0\n", r"functions\.py:2: importing it raised ZeroDivisionError"),
        ("import nowhere_at_all\n", r"functions\.py:1: importing it raised ModuleNotFoundError"),
        ("x = 1\ndef f(:\n", r"functions\.py:2: importing it raised SyntaxError"),
        ("x = 1\n", "no registry"),
    ],
)
def test_a_file_that_cannot_be_imported_is_a_flow_error(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "functions.py").write_text(text)
    before = set(sys.modules)
    with pytest.raises(FlowError, match=message):
        load_functions(tmp_path)
    if "raised" in message:
        assert not {m for m in set(sys.modules) - before if m.startswith("flowengine_functions")}


@pytest.mark.parametrize("content", [b"def f(:\n", b"\xff\xfe", b"x = '\x00'", b"(" * 500])
def test_a_file_that_is_not_python_is_a_flow_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "functions.py").write_bytes(content)
    with pytest.raises(FlowError, match=r"functions\.py"):
        declared_functions(tmp_path)
