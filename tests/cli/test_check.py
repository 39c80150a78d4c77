"""`flowengine check`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any


def spoil(folder: Path, old: str, new: str) -> Path:
    file = folder / "flow.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    return folder


def test_an_error_is_shown_in_its_place_and_is_exit_code_1(run: Any, table: Path) -> None:
    done = run("check", spoil(table, "to: confirm", "to: confrim"))
    assert done.code == 1
    assert "error[unknown_phase]" in done.out
    assert "did you mean 'confirm'?" in done.out


def test_warnings_alone_are_findings_only_if_strict(run: Any, table: Path) -> None:
    done = run(
        "check", spoil(table, "when: captured(people)", "when: captured(people) or zip == 5")
    )
    assert done.code == 0
    assert done.out.startswith("warning[unwritten_key]")
    assert run("check", table, "--strict").code == 1


def test_json_is_one_object(run: Any, table: Path) -> None:
    done = run("check", spoil(table, "to: confirm", "to: confrim"), "--json")
    data = json.loads(done.out)
    assert data["flows"] == 1
    assert data["errors"] >= 1
    first = data["diagnostics"][0]
    assert (first["code"], first["severity"]) == ("unknown_phase", "error")
    assert first["path"] == "/phases/ask/transitions/0/to"
    assert run("check", table, "--format", "json").out == done.out


def test_annotations_for_github_stand_on_one_line_each(run: Any, table: Path) -> None:
    done = run("check", spoil(table, "to: confirm", 'to: "con%frim"'), "--format", "github")
    first = done.out.splitlines()[0]
    assert first.startswith("::error file=")
    assert ",title=unknown_phase::phase 'con%25frim' does not exist%0A" in first
    assert re.search(r"flow\.yaml,line=\d+,col=\d+,", first)


def test_certain_cures_are_applied_and_the_rest_of_the_file_stays(run: Any, table: Path) -> None:
    before = (table / "flow.yaml").read_text()
    done = run("check", spoil(table, "to: confirm\n", "to: confrim # here\n"), "--fix")
    assert done.code == 0
    assert (table / "flow.yaml").read_text() == before.replace(
        "to: confirm\n", "to: confirm # here\n"
    )
    assert "mended" in done.err


def test_a_folder_of_folders_is_checked_whole(run: Any, table: Path) -> None:
    other = table.with_name("other")
    other.mkdir()
    (other / "flow.yaml").write_text("flow: x\n")
    data = json.loads(run("check", table.parent, "--json").out)
    assert data["flows"] == 2
    assert data["diagnostics"][0]["file"] == str(other / "flow.yaml")


def test_functions_are_read_and_never_run(run: Any, table: Path) -> None:
    (table / "functions.py").write_text(
        "raise SystemExit('it ran')\nfunctions = Functions()\n@functions.tool\ndef cancel(): ...\n"
    )
    assert run("check", table).code == 0
    assert run("render", table).code == 0


def test_an_empty_folder_says_what_a_flow_is(run: Any, tmp_path: Path) -> None:
    done = run("check", tmp_path)
    assert done.code == 1
    assert "flow.yaml, flow.yml, flow.json" in done.out
