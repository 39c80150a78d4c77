"""A flow is found in its folder; a file that cannot be read says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowengine.flow.diagnostic import FlowFileError
from flowengine.flow.load import load, loads, read

GOOD = "flow: refill\nphases:\n  ask: {initial: true}\n  bye: {final: true}\n"


def test_a_folder_and_its_file_give_the_same_flow(tmp_path: Path) -> None:
    (tmp_path / "flow.yml").write_text(GOOD, encoding="utf-8")
    assert load(tmp_path) == load(tmp_path / "flow.yml") == loads(GOOD)


def test_a_byte_order_mark_is_read_over(tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_bytes(b"\xef\xbb\xbf" + b"flow: x\nphases: {a: {sy: 1}}\n")
    with pytest.raises(FlowFileError) as caught:
        load(tmp_path)
    assert [(d.line, d.column) for d in caught.value.diagnostics] == [(2, 14)]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("flow.yaml", b"flow: x\nname: \xff\xfe\n", "not_utf8"),
        ("flow.yaml", "flow: x".encode("utf-16"), "not_utf8"),
        ("flow.yaml", b"#" * 4_000_001, "too_large"),
        ("other.yaml", b"flow: x", "no_file"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(
    tmp_path: Path, name: str, content: bytes, code: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FlowFileError) as caught:
        load(tmp_path)
    assert [d.code for d in caught.value.diagnostics] == [code]


def test_a_folder_with_two_flows_is_an_error(tmp_path: Path) -> None:
    for name in ("flow.yaml", "flow.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(FlowFileError, match="many_files"):
        load(tmp_path)


@pytest.mark.parametrize("path", ["nope", "nope/flow.yaml", "a\0b"])
def test_what_does_not_exist_is_a_flow_error(tmp_path: Path, path: str) -> None:
    with pytest.raises(FlowFileError, match="no_file"):
        load(tmp_path / path)


def test_a_misspelt_file_is_suggested(tmp_path: Path) -> None:
    (tmp_path / "debt.yaml").write_text(GOOD)
    with pytest.raises(FlowFileError, match=r"did you mean 'debt\.yaml'"):
        load(tmp_path / "dept.yaml")


def test_functions_beside_the_file_are_known_by_name(tmp_path: Path) -> None:
    text = "flow: x\nphases:\n  a:\n    on_enter:\n      - resolve: acount\n      - run: note\n"
    (tmp_path / "flow.yaml").write_text(text)
    assert read(tmp_path).functions is None
    (tmp_path / "functions.py").write_text(
        "raise SystemExit\n@functions.resolver\nasync def account(): ...\n"
    )
    with pytest.raises(FlowFileError) as caught:
        load(tmp_path)
    assert [(d.code, d.line) for d in caught.value.diagnostics] == [
        ("unknown_resolver", 5),
        ("unknown_function", 6),
    ]
    assert caught.value.diagnostics[0].suggestion == "did you mean 'account'?"
