"""`flowengine render`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flowengine.render.engine import engine

draws = pytest.mark.skipif(engine() is None, reason="no Graphviz is installed")


def test_text_goes_to_stdout_as_mermaid_unless_told_otherwise(run: Any, table: Path) -> None:
    assert run("render", table).out.startswith("stateDiagram-v2\n    direction TB\n")
    assert "direction LR" in run("render", table, "--direction", "LR").out
    assert run("render", table, "--format", "dot").out.startswith("digraph flow {")


@pytest.mark.parametrize(
    ("name", "begins"),
    [("a.mmd", b"stateDiagram"), ("a.gv", b"digraph"), ("a.DOT", b"digraph")],
)
def test_a_file_s_suffix_is_its_format(
    run: Any, table: Path, tmp_path: Path, name: str, begins: bytes
) -> None:
    done = run("render", table, "-o", tmp_path / name)
    assert (done.code, done.out) == (0, "")
    assert (tmp_path / name).read_bytes().startswith(begins)


@draws
def test_pictures_are_drawn(run: Any, table: Path, tmp_path: Path) -> None:
    assert run("render", table, "-o", tmp_path / "a.png").code == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in run("render", table, "--format", "svg").out


def test_a_phase_can_stand_out(run: Any, table: Path) -> None:
    plain = run("render", table).out
    assert run("render", table, "--highlight", "ask").out != plain
    done = run("render", table, "--highlight", "aks")
    assert done.code == 1
    assert "is not the name of a phase" in done.err


def test_a_png_without_a_file_and_an_unknown_suffix_are_wrong_usage(run: Any, table: Path) -> None:
    assert run("render", table, "--format", "png").code == 2
    done = run("render", table, "-o", "flow.pgn")
    assert done.code == 2
    assert "Did you mean '.png'?" in done.err
