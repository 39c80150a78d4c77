"""The steps of a scenario: everything that may happen in a call, and what is expected of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowengine.flow.diagnostic import FlowFileError
from flowengine.testing import load_scenarios, run_scenario
from flowengine.testing.run import Report

FLOW = """\
flow: steps
state: {slot: string, date: string, agreed: boolean, paid: boolean}
records:
  booking:
    fields:
      slot: {resolve: availability, args: [date]}
decisions:
  agree: {question: Does the caller agree?, writes: agreed}
resolvers: {availability: {args: [date]}}
tools:
  book: {when: decided(agree), commit: true, respond: {id: 7}}
  pay: {confirm: Charge the card?, respond: {paid: true}, set: {paid: true}}
  look: {respond: {found: 1}}
  send: {background: when_idle}
phases:
  start:
    initial: true
    transitions:
      - {to: next, on: go}
    no_input:
      - {after: 10s, do: [{context: Ask again.}]}
      - {after: 5s, do: [{raise: go}]}
  next: {}
"""


def run(folder: Path, text: str) -> tuple[Report, str]:
    (folder / "flow.yaml").write_text(FLOW)
    path = folder / "a.scenario.yaml"
    path.write_text(text)
    file, flow, functions = load_scenarios(path)
    report = run_scenario(file.scenarios[0], flow, functions)
    return report, report.text(file, 0)


def one(turns: str, *more: str) -> str:
    lines = "\n".join(f"    {line}" for line in turns.strip().splitlines())
    return "\n".join(["- name: one", *(f"  {line}" for line in more), "  turns:", lines, ""])


@pytest.mark.parametrize(
    "turns",
    [
        """
- user: yes please
  decide: {agree: true}
- tool: {name: book, expect: {ran: {id: 7}}}
  expect: {keys: {agreed: true}}
- restart: true
- tool: {name: book, expect: {denied: spent}}""",
        """
- decide: {agree: 0.9}
- tool: {name: book, expect: ran}""",
        """
- user: well
- tool: {name: book, expect: {denied: guard}}
- user: yes
- tool: {name: book, expect: ran}
  decide: {agree: true}""",
        """
- user: yes
- tool: {name: book, expect: waits}
  decide: pending
  expect: {running: [decision]}
- decide: {agree: true}
  expect: {running: [], facts: [{fact: ToolDecided, admitted: true}]}""",
        """
- tool: {name: pay, confirm: true, expect: ran}
- tool: {name: pay, confirm: too dear, expect: {denied: declined}}
- tool: {name: pay, expect: waits}
  expect: {running: [pay]}
- confirm: false
  expect: {running: [], facts: [{fact: ToolDecided, kind: declined}]}""",
        """
- tool: {name: send, expect: accepted}
  expect: {running: [send], delivered: []}
- resolve: {name: send, value: {sent: 1}}
  expect: {delivered: [{tool: send, ran: {sent: 1}, manner: when_idle}]}
- tool: {name: send, error: timed_out, expect: accepted}
  expect: {delivered: [{tool: send, failed: timed_out}]}""",
        """
- hear: look it up
- tool: {name: look, pending: true, expect: waits}
- interrupt: Let me
  expect: {facts: [{fact: CallEnded, status: cancelled}], running: []}
- model: Yes?
  expect: {facts: [{fact: TurnClosed, turn: 1, spoke: true}]}""",
        """
- tool: {name: look, error: card_declined, expect: {failed: card_declined}}
- tool: {name: look, error: timed_out, expect: failed}
- tool: {name: look, error: cancelled, expect: cancelled}""",
        """
- set: {date: friday}
- user: when?
  expect: {running: [booking.slot]}
- resolve: {name: booking.slot, value: "19:00"}
  expect: {keys: {slot: "19:00"}}
- set: {date: monday}
- user: or on monday?
- resolve: {name: availability, value: "20:00"}
  expect: {keys: {slot: "20:00"}}""",
        """
- user: well
- advance: 10s
  expect: {told: [Ask again.], phases: [start], facts: [{fact: NoInput, rung: 0}]}
- advance: 5s
  expect: {phase: next}""",
    ],
    ids=["decided", "decided in a turn of its own", "decided at the call", "decided later",
         "confirmed", "in the background", "interrupted", "failing", "resolved field", "silence"],
)  # fmt: skip
def test_it_happens_as_it_is_written(tmp_path: Path, turns: str) -> None:
    report, text = run(tmp_path, one(turns))
    assert report.passed, text


def test_what_is_given_answers_every_step(tmp_path: Path) -> None:
    given = "given: {state: {date: friday}, resolve: {availability: 8}, decide: {agree: true}, "
    turns = """
- user: yes
  expect: {absent: [paid]}
- tool: {name: book, expect: ran}
- tool: {name: pay, expect: ran}"""
    report, text = run(tmp_path, one(turns, given + "confirm: true}"))
    assert report.passed, text


@pytest.mark.parametrize(
    ("turns", "message", "at"),
    [
        ("- decide: {agree: true}", "decision 'agree' was not asked about its turn", 3),
        ("- user: a\n  decide: {agree: true}\n- user: b", "decision 'agree' was not asked", 3),
        ("- confirm: true", "no confirmation is open, so it cannot answer", 3),
        ("- user: a\n  expect: {running: [look]}", "the runs that have not answered differ", 4),
        ("- tool: {name: send}\n  expect: {delivered: [{tool: send}]}",
         "other results were delivered", 4),
        ("- decide: pending", "no question was asked in this step", 3),
    ],
)  # fmt: skip
def test_what_does_not_happen_is_told_in_its_place(
    tmp_path: Path, turns: str, message: str, at: int
) -> None:
    report, text = run(tmp_path, one(turns))
    assert not report.passed
    assert message in text


@pytest.mark.parametrize(
    ("never", "message"),
    [
        ("admitted: [look]", "a call of 'look' was admitted in step 1, which must never happen"),
        ("denied: [look, book]", "a call of 'book' was denied (guard) in step 2"),
        ("phases: [next]", "'next' was entered in step 3, which must never happen"),
        ("phases: [start]", "'start' was entered in step 1"),
    ],
)
def test_what_must_never_happen_is_looked_for_in_every_step(
    tmp_path: Path, never: str, message: str
) -> None:
    turns = "- tool: {name: look}\n- tool: {name: book}\n- event: go"
    report, text = run(tmp_path, one(turns, f"never: {{{never}}}"))
    assert [each.code for each in report.mismatches] == ["never"]
    assert message in text
    assert never.partition(":")[0] in text


def test_what_never_happens_is_no_failure(tmp_path: Path) -> None:
    turns = "- tool: {name: look}\n- event: go"
    never = "never: {admitted: [pay], denied: [look], phases: []}"
    assert run(tmp_path, one(turns, never))[0].passed


@pytest.mark.parametrize(
    ("text", "message", "suggestion"),
    [
        (one("- decide: {agre: true}"), "decision 'agre' does not exist", "agree"),
        (one("- user: a", "given: {decide: {agre: 1}}"), "decision 'agre' does not exist", "agree"),
        (one("- user: a", "given: {resolve: {availabilty: 1}}"), "does not exist", "availability"),
        (one("- user: a", "never: {admitted: [pai]}"), "tool 'pai' does not exist", "pay"),
        (one("- user: a", "never: {phases: [nex]}"), "phase 'nex' does not exist", "next"),
        (one("- user: a\n  expect: {running: [lok]}"), "run 'lok' does not exist", "look"),
        (one("- user: a\n  expect: {delivered: [{tool: sent}]}"), "'sent' does not", "send"),
        (one("- user: a", "never: {admit: [pay]}"), "'admit' is not a key of `never`", "admitted"),
        (one("- user: a", "outcomes: [{because: x, phase: nex}]"), "phase 'nex'", "next"),
        (one("- user: a", "outcomes: [{because: x, calls: {lok: ran}}]"), "tool 'lok'", "look"),
        (one("- user: a", "outcomes: [{because: x, keys: {slott: a}}]"), "key 'slott'", "slot"),
        (one("- user: a", "outcomes: [{because: x}]"), "name what is so in this end", ""),
        (one("- user: a", "outcomes: [{phase: next}]"), "needs `because`", ""),
        (one("- user: a", "interleave: {behnd: 1}"), "'behnd' is not a key", "behind"),
        (one("- confirn: true"), "'confirn' is not a key of a step", "confirm"),
        (one("- hear: a\n  confirm: true"), "a step does one thing, not hear and confirm", ""),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place_and_what_was_meant(
    tmp_path: Path, text: str, message: str, suggestion: str
) -> None:
    with pytest.raises(FlowFileError) as error:
        run(tmp_path, text)
    (diagnostic,) = error.value.diagnostics
    assert message in diagnostic.message
    assert suggestion in diagnostic.suggestion
    assert diagnostic.line is not None
