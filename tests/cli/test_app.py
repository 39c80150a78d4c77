"""What all commands share: help, exit codes, messages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flowengine.cli import app, main

COMMANDS = ("new", "check", "render", "chat", "replay", "probe", "test", "recognize", "schema")


def test_help_lists_every_command_and_the_exit_codes(run: Any) -> None:
    done = run("--help")
    assert done.code == 0
    assert all(f"│ {name}" in done.out for name in COMMANDS)
    assert "2 wrong usage" in done.out


def test_help_waits_for_no_heavy_library() -> None:
    code = (
        "import sys; from flowengine.cli import main; main(['--help']);"
        "heavy = {'google.genai', 'statemachine', 'pydantic', 're2', 'yaml'} & {*sys.modules};"
        "print(sorted(heavy), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_of_its_own(run: Any, command: str) -> None:
    done = run(command, "--help")
    assert done.code == 0
    assert f"flowengine {command}" in done.out


def test_the_version_is_that_of_the_package(run: Any) -> None:
    import flowengine

    assert run("--version").out == f"flowengine {flowengine.__version__}\n"


def test_python_runs_the_commands_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flowengine", "--help"], capture_output=True, text=True, check=True
    )
    assert "recognize" in done.stdout


@pytest.mark.parametrize(
    "args",
    [
        ["no-such-command"],
        ["replay"],
        ["render", "x", "--format", "bmp"],
        ["render", "x", "--direction", "UP"],
        ["recognize", "time", "x", "--prefer", "both"],
        ["replay", "x", "y", "--jobs", "0"],
    ],
)
def test_wrong_usage_is_exit_code_2(run: Any, args: list[str]) -> None:
    done = run(*args)
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err


@pytest.mark.parametrize("command", ["check", "render", "chat"])
def test_a_flow_that_is_not_there_is_named_with_its_near_miss(
    run: Any, table: Path, command: str
) -> None:
    done = run(command, table.with_name("tabel"))
    assert done.code == 1
    assert "did you mean 'table'?" in done.out + done.err
    assert "Traceback" not in done.err


def test_a_file_that_cannot_be_written_is_a_message(run: Any, tmp_path: Path, table: Path) -> None:
    done = run("render", table, "-o", tmp_path / "no" / "flow.dot")
    assert done.code == 1
    assert done.err == f"{tmp_path / 'no' / 'flow.dot'}: no such file or directory\n"


def test_the_schema_is_for_editors_and_its_reference_for_people(run: Any, tmp_path: Path) -> None:
    assert run("schema").out.startswith("{")
    page = run("schema", "--markdown").out
    assert "\n## Phase\n" in page
    assert "| `needs` | list of text |" in page
    assert run("schema", "--markdown", "--out", tmp_path / "page.md").out == ""
    assert (tmp_path / "page.md").read_text("utf-8") == page


def test_ctrl_c_is_exit_code_130_and_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("flowengine.cli.schema.print_schema", interrupted, raising=True)
    assert main(["schema"]) == 130
    assert capsys.readouterr() == ("", "")


def test_a_terminal_that_knows_only_ascii_gets_escapes(table: Path) -> None:
    flow = table / "flow.yaml"
    flow.write_text(flow.read_text().replace("How many people?", "¿Cuántos?"))
    code = "import sys; from flowengine.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "chat", str(table)],
        input="", capture_output=True, text=True, check=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
    )  # fmt: skip
    assert r"\xbfCu\xe1ntos?" in done.stdout


def test_the_app_is_the_entry_point_s_own() -> None:
    assert {command.name for command in app.registered_commands} <= {None, *COMMANDS}
