"""What is wrong with fragments and their uses is told where it was written, all at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flowengine.check import check
from flowengine.flow.diagnostic import Diagnostic, FlowFileError
from flowengine.flow.load import loads, parse
from flowengine.flow.model import Flow, Phase


def caught(work: Callable[[], Any]) -> list[Diagnostic]:
    with pytest.raises(FlowFileError) as error:
        work()
    return list(error.value.diagnostics)


USE = "  p: {use: f, with: {n: 1, k: a}, exits: {out: q}}\n  q: {initial: true}\n"
F = """\
flow: x
fragments:
  f:
    parameters: {n: integer, k: key, g: {type: guard, default: null}, o: {type: key, default: null}}
    exits: [out]
    phases:
      a: {transitions: [{to: out, when: is_set($k)}]}
phases:
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("use: f", "use: ff", [("unknown_fragment", 9, 12)]),
        ("n: 1", "n: 1, m: 2", [("unknown_parameter", 9, 28)]),
        ("n: 1, ", "", [("missing_parameter", 9, 12)]),
        ("n: 1", "n: one", [("wrong_type", 9, 25)]),
        ("k: a", "k: [a]", [("wrong_type", 9, 31)]),
        ("k: a", "k: a, g: is_tru(x)", [("guard", 9, 37)]),
        ("out: q", "out: q, oot: q", [("unknown_exit", 9, 51)]),
        ("{out: q}", "{}", [("missing_exit", 9, 12)]),
        ("out: q", "out: r", [("unknown_phase", 9, 48)]),
        ("is_set($k)", "is_set($kk)", [("unknown_parameter", 7, 48)]),
        ("to: out", "to: ot", [("unknown_phase", 7, 30)]),
        ("is_set($k)", "is_st($k)", [("guard", 7, 41)]),
        ("is_set($k)", "is_set($o)", [("missing_parameter", 7, 41)]),
        ("exits: [out]", "exits: [out, a]", [("name_taken", 4, 5), ("missing_exit", 9, 12)]),
        ("phases:\n      a", "phasis:\n      a", [("unknown_key", 6, 5)]),
        ("n: integer", "n: int", [("wrong_value", 4, 21)]),
        ("    exits", "    digression: {}\n    exits", [("wrong_place", 10, 12)]),
        ("a: {tr", "a: {use: f}\n      b: {tr", [("fragment_cycle", 7, 16)]),
        ("q: {in", "p.a: {}\n  q: {in", [("duplicate_phase", 10, 3)]),
    ],
)  # fmt: skip
def test_a_mistake_is_told_by_code_line_and_column(
    old: str, new: str, expected: list[tuple[str, int, int]]
) -> None:
    text = F + USE
    assert old in text
    found = caught(lambda: loads(text.replace(old, new, 1)))
    assert [(d.code, d.line, d.column) for d in found] == expected


@pytest.mark.parametrize("more", ["", ", when: is_set(x)", ", with: {tool: t}"])
def test_a_fragment_in_the_wrong_place_is_one_mistake(more: str) -> None:
    text = f"flow: x\ndigressions: {{human: {{use: handoff{more}}}}}\nphases: {{a: {{sya: hi}}}}\n"
    first, other = caught(lambda: loads(text))
    assert (first.code, first.line, first.suggestion) == (
        "wrong_place", 2, "use it under `phases:`",
    )  # fmt: skip
    assert (other.code, other.line) == ("unknown_key", 3)


def test_near_misses_are_suggested() -> None:
    text = "flow: x\nphases: {p: {use: confirm_then_comit}}"
    [diagnostic] = caught(lambda: loads(text))
    assert diagnostic.suggestion == "did you mean 'confirm_then_commit'?"
    text = "flow: x\ndigressions: {p: {use: faq, with: {wrods: [a], answer: b}}}\nphases: {a: {}}"
    assert "did you mean 'words'?" in [d.suggestion for d in caught(lambda: loads(text))]


def test_all_mistakes_are_told_at_once_beside_those_of_the_flow() -> None:
    text = (F + USE).replace("n: 1, ", "").replace("out: q", "oot: q").replace("initial", "initail")
    assert [d.code for d in caught(lambda: loads(text))] == [
        "missing_parameter", "missing_exit", "unknown_exit", "unknown_key",
    ]  # fmt: skip


def test_what_was_given_wrongly_is_told_where_it_was_given() -> None:
    text = """\
flow: x
fragments:
  f: {parameters: {tool: tool}, phase: {done: called_ok($tool)}}
tools: {send: {respond: 1}}
phases:
  p: {use: f, with: {tool: sned}}
"""
    [diagnostic] = caught(lambda: loads(text))
    assert (diagnostic.code, diagnostic.line, diagnostic.column) == ("unknown_tool", 6, 28)


def test_a_name_in_a_condition_is_told_where_the_condition_was_given() -> None:
    text = "flow: x\nphases:\n  p:\n    use: handoff\n    with: {tool: t, wanted: is_true(angry)}\n"
    text += "    exits: {done: e}\n  e: {initial: true, final: true}\ntools: {t: {respond: 1}}\n"
    loaded = parse(text, file="f.yaml")
    [found] = [d for d in check(loaded.flow, source=loaded.source) if "angry" in d.message]
    assert (found.code, found.file, found.line) == ("unknown_state_key", "f.yaml", 5)


def test_a_name_that_a_fragment_would_take_is_told(tmp_path: Path) -> None:
    text = "flow: x\nfragments: {f: {state: {k: boolean}, phase: {}}}\n"
    text += "state: {p.k: string}\nphases: {p: {use: f}}\n"
    [diagnostic] = caught(lambda: loads(text))
    assert (diagnostic.code, diagnostic.line, diagnostic.column) == ("name_taken", 3, 9)


def test_python_is_told_all_mistakes_at_once_without_lines() -> None:
    found = caught(lambda: Flow(flow="x", phases={"p": Phase(use="ask"), "q": Phase(use="faq")}))
    assert [(d.code, d.path) for d in found] == [
        ("unknown_fragment", "/phases/p/use"), ("wrong_place", "/phases/q/use"),
    ]  # fmt: skip
    assert all(d.line is None and not d.file for d in found)
