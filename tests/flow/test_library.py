"""Fragments come from the flow, from files beside it, and from flowengine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flowengine.check import check, check_path
from flowengine.flow.diagnostic import Diagnostic, FlowFileError
from flowengine.flow.load import load, load_fragments, loads, read
from flowengine.flow.model import Flow, Phase

ASK = """\
fragments:
  ask:
    parameters:
      what: key
      question: text
      tries: {type: integer, default: 3}
    exits: [known, gave_up]
    state: {tried: integer}
    records:
      answer: {fields: {$what: {recognize: yes_no, accept_when: in_phase(first)}}}
    phases:
      first:
        say: $question
        collect: [answer]
        transitions:
          - {to: known, when: captured($what)}
          - {to: again, when: turns_in_phase >= $tries}
      again:
        instruction: 'Ask "$question" again, {tried?really:so}.'
        on_enter: [{set: {tried: 1}}]
        transitions:
          - {to: known, when: is_set($what) and tried == 1}
          - {to: gave_up, when: not in_phase(here) or done(first)}
"""
USES = """\
phases:
  consent:
    initial: true
    use: ask
    with: {what: agreed, question: Do you agree?}
    exits: {known: sure, gave_up: end}
  sure:
    use: ask
    with: {what: certain, question: Certain?, tries: 5}
    exits: {known: end, gave_up: end}
  end: {final: true}
"""


def flow(fragments: str, uses: str = USES) -> Flow:
    return loads("flow: x\n" + fragments + uses)


def caught(work: Callable[[], Any]) -> list[Diagnostic]:
    with pytest.raises(FlowFileError) as error:
        work()
    return list(error.value.diagnostics)


def test_fragments_are_read_from_files_beside_the_flow(tmp_path: Path) -> None:
    (tmp_path / "shared.yaml").write_text(ASK)
    (tmp_path / "flow.yaml").write_text("flow: x\nfragments: [shared.yaml]\n" + USES)
    assert load(tmp_path) == flow(ASK)
    assert not [d for d in check_path(tmp_path) if d.severity == "error"]


def test_a_mistake_in_a_file_of_fragments_is_told_there(tmp_path: Path) -> None:
    (tmp_path / "shared.yaml").write_text(ASK.replace("to: again", "to: agian"))
    (tmp_path / "flow.yaml").write_text("flow: x\nfragments: [shared.yaml]\n" + USES)
    found = caught(lambda: load(tmp_path))
    assert {(d.code, Path(d.file).name, d.line, d.column) for d in found} == {
        ("unknown_phase", "shared.yaml", 17, 18)
    }
    assert {d.suggestion for d in found} == {"did you mean 'again'?"}
    assert all(not d.fix for d in found)


def test_a_file_that_is_not_there_is_told_where_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "shared.yaml").write_text(ASK)
    (tmp_path / "flow.yaml").write_text("flow: x\nfragments:\n  - sharde.yaml\nphases: {a: {}}\n")
    [diagnostic] = caught(lambda: load(tmp_path))
    assert (diagnostic.code, diagnostic.line, diagnostic.column) == ("no_file", 3, 5)
    assert diagnostic.suggestion == "did you mean 'shared.yaml'?"


def test_the_flow_s_own_fragment_hides_a_motif_of_the_same_name() -> None:
    made = loads("flow: x\nfragments: {faq: {phases: {a: {}}}}\nphases: {p: {use: faq}}")
    assert [name for name, _, _ in made.walk()] == ["p", "p.a"]


def test_places_of_a_spliced_flow_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "flow.yaml"
    text = ASK.replace("state: {tried", "state: {unused: string, tried")
    path.write_text("flow: x\n" + text + USES)
    loaded = read(path)
    found = check(loaded.flow, source=loaded.source)
    assert all(d.line and d.file == str(path) for d in found)


def test_python_reads_a_file_of_fragments_itself(tmp_path: Path) -> None:
    path = tmp_path / "shared.yaml"
    path.write_text(ASK)
    end = Phase(final=True)
    uses = {"what": "agreed", "question": "Do you agree?"}
    exits = {"known": "end", "gave_up": "end"}
    phases = {"p": Phase(use="ask", initial=True, with_=uses, exits=exits), "end": end}
    made = Flow(flow="x", fragments=load_fragments(path), phases=phases)
    assert made.phase("p.first").say == "Do you agree?"
    [diagnostic] = caught(lambda: Flow(flow="x", fragments=("shared.yaml",), phases=phases))[:1]
    assert diagnostic.code == "no_file"
    assert "load_fragments" in diagnostic.suggestion


def test_keys_of_the_author_are_left_alone_in_a_fragment() -> None:
    made = loads("flow: x\nfragments: {f: {x-note: 1, phase: {x-a: 2}}}\nphases: {p: {use: f}}")
    assert made.phase("p") == Phase()


def test_fragments_that_multiply_are_bounded() -> None:
    doubled = "".join(
        f"  f{n}: {{phases: {{a: {{use: f{n + 1}}}, b: {{use: f{n + 1}}}}}}}\n" for n in range(15)
    )
    text = (
        f"flow: x\nfragments:\n{doubled}  f15: {{phases: {{c: {{}}}}}}\nphases: {{p: {{use: f0}}}}"
    )
    assert {d.code for d in caught(lambda: loads(text))} == {"too_large"}
