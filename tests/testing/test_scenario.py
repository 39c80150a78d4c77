"""Scenario files: what they say, what is wrong with them, and how they differ from a call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flowengine import FlowError, Functions
from flowengine.flow.diagnostic import FlowFileError
from flowengine.flow.load import loads
from flowengine.testing import Report, load_scenarios, run_scenario
from flowengine.testing.scenario_file import read_scenarios

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, flow_text: str) -> Write:
    """Writes a scenario file beside a flow."""

    def write(text: str) -> Path:
        (tmp_path / "flow.yaml").write_text(flow_text)
        (tmp_path / "scenarios").mkdir(exist_ok=True)
        file = tmp_path / "scenarios" / "a.scenario.yaml"
        file.write_text(text)
        return file

    return write


@pytest.fixture
def run(write: Write) -> Callable[[str], tuple[Report, str]]:
    """Runs the only scenario of a text; its report, and what a person reads."""

    def run(text: str) -> tuple[Report, str]:
        file, flow, functions = load_scenarios(write(text))
        report = run_scenario(file.scenarios[0], flow, functions)
        return report, report.text(file, 0)

    return run


Run = Callable[[str], tuple[Report, str]]


def mistakes(file: Path) -> list[tuple[str, int | None, str, str]]:
    with pytest.raises(FlowFileError) as error:
        load_scenarios(file)
    return [(d.code, d.line, d.message, d.suggestion) for d in error.value.diagnostics]


# -- what a scenario can say ----------------------------------------------------------------------

WHOLE = """\
scenarios:
  - name: a promise needs both parts
    given:
      phase: negotiate
      state: {identity_verified: true}
      at: 2026-03-04T10:30
    repeat: 3
    turns:
      - expect: {said: How much, phase: negotiate, phases: [negotiate]}
      - user: I can pay two hundred dollars
        model: By when?
        extract: {Debtor: {mood: calm}}
        expect:
          phase: negotiate
          keys: {ptp_amount: "200", mood: calm, ptp_date: null}
          absent: [paid]
          unmet: [ptp_date]
          tools: [note, pay]
          context: [Agree on a sum, ptp date]
          said: []
          facts:
            - {fact: WordsHeard, turn: 1}
            - {fact: KeyWritten, key: ptp_amount, new: "200"}
          no_facts:
            - fact: PhaseEntered
          ended: false
          why_not: {confirm: [ptp_date]}
      - tool: {name: pay, args: {}, expect: {denied: arguments}}
      - restart: true
      - resolve: {name: account, value: {id: 1}}
        expect: {keys: {"account:result": {id: 1}}}
      - user: on Friday
        expect: {phase: confirm, keys: {ptp_date: "2026-03-06"}, tools: {allowed: [pay]}}
      - tool: {name: pay, args: {sum: 200}, result: {ok: true}, expect: {ran: {ok: true}}}
        expect: {ended: true, phase: closed, tools: {denied: [pay]}}
"""


def test_a_whole_conversation_passes(run: Run) -> None:
    report, text = run(WHOLE)
    assert text == ""
    assert report.passed
    assert len(report.facts) > 20


@pytest.mark.parametrize(
    "turns",
    [
        "[{advance: 29s, expect: {phase: negotiate}}, {advance: 1s, expect: {phase: silent}}]",
        "[{event: hang_up, expect: {ended: true}}]",
        "[{event: shout, expect: {facts: [{fact: EventOffered, taken: false}]}}]",
        "[{repeat: {times: 6, user: uh}, expect: {facts: [{fact: TurnClosed, turn: 6}]}}]",
        "[{values: {ptp_amount: '5'}, expect: {keys: {ptp_amount: '5'}}}]",
        "[{set: {ptp_amount: lots}, expect: {failed: wrong_type, absent: [ptp_amount]}}]",
        "[{set: {ptp_amount: '5'}}, {set: {ptp_amount: null}, expect: {absent: [ptp_amount]}}]",
        "[{user: hi, extract: {Debtor: timed_out}, expect: {keys: {'Debtor:status': timed_out}}}]",
        "[{resolve: {name: account, error: gone}, expect: {keys: {'account:error': gone}}}]",
        "[{tool: {name: note, expect: ran}}, {tool: {name: nte, expect: {denied: unknown_tool}}}]",
        "[{tool: {name: note, respond: true, expect: {ran: {noted: true}}}}]",
        "[{tool: {name: note, error: full, expect: {failed: full}}}]",
    ],
)
def test_each_kind_of_step_can_be_said_in_a_line(run: Run, turns: str) -> None:
    report, text = run(f"- name: a\n  given: {{phase: negotiate}}\n  turns: {turns}")
    assert report.passed, text


def test_a_pending_extractor_lands_in_a_step_of_its_own(run: Run) -> None:
    report, text = run("""\
- name: late
  turns:
    - user: hello
      extract: {Debtor: pending}
      expect: {no_facts: [{fact: BarrierSettled}]}
    - advance: 5s
      expect: {facts: [{fact: BarrierSettled, reason: timed out}]}
    - extract: {Debtor: {mood: calm}}
      expect: {facts: [{fact: RunEnded, status: late}], keys: {mood: calm}}
""")
    assert report.passed, text


def test_a_pending_tool_is_answered_by_a_later_step(run: Run) -> None:
    report, text = run("""\
- name: slow
  given: {phase: confirm, state: {ptp_amount: "5"}}
  turns:
    - tool: {name: pay, args: {sum: 5}, pending: true, expect: waits}
    - user: hello?
    - resolve: {name: pay, value: {}}
      expect: {phase: closed}
""")
    assert report.passed, text


def test_answers_for_all_turns_are_given_once(run: Run) -> None:
    report, text = run("""\
- name: always calm
  given: {extract: {Debtor: {mood: calm}}}
  turns:
    - user: hello
      extract: {Debtor: {mood: tense}}
      expect: {keys: {mood: tense}}
    - {user: hello, expect: {keys: {mood: calm}}}
""")
    assert report.passed, text


def test_the_clock_and_the_zone_are_the_callers(run: Run) -> None:
    report, text = run("""\
- name: late at night in New York it is still Tuesday
  given: {phase: negotiate, at: 2026-03-04T03:00+00:00}
  turns:
    - {user: tomorrow, expect: {keys: {ptp_date: "2026-03-04"}}}
- name: in Berlin it is Wednesday
  given: {phase: negotiate, at: 2026-03-04T04:00, timezone: Europe/Berlin, locale: en-US}
  turns:
    - {user: tomorrow, expect: {keys: {ptp_date: "2026-03-05"}}}
""")
    assert report.passed, text


def test_functions_of_the_flow_run_if_the_scenario_asks_for_it(write: Write) -> None:
    file = write("""\
- name: itself
  given: {phase: negotiate, run_functions: true}
  turns:
    - expect: {keys: {"account:result": {id: 7}}}
""")
    (file.parent.parent / "functions.py").write_text(
        "from flowengine import Functions\n"
        "functions = Functions()\n"
        "@functions.resolver\n"
        "def account():\n"
        "    return {'id': 7}\n"
    )
    scenarios, flow, functions = load_scenarios(file)
    assert run_scenario(scenarios.scenarios[0], flow, functions).passed


def test_the_flow_can_be_named_or_lies_around_the_scenarios(write: Write, tmp_path: Path) -> None:
    file = write("flow: ..\nscenarios:\n  - {name: a, turns: [{user: hi}]}")
    assert read_scenarios(file).flow_path == tmp_path / "scenarios" / ".."
    beside = tmp_path / "b.scenario.yaml"
    beside.write_text("- {name: a, turns: [{user: hi}]}")
    assert read_scenarios(beside).flow_path == tmp_path
    assert read_scenarios(write(beside.read_text())).flow_path == tmp_path


# -- how a failure reads --------------------------------------------------------------------------


def test_a_wrong_phase_shows_its_line_and_why_the_call_is_not_there(run: Run) -> None:
    _, text = run("""\
- name: a
  given: {phase: negotiate}
  turns:
    - user: two hundred dollars
      expect:
        phase: confirm
    - user: never reached
      expect: {phase: verify}
""")
    assert "error[phase]: expected phase 'confirm', is 'negotiate'" in text
    assert "a.scenario.yaml:6:16" in text
    assert " 6 |         phase: confirm\n   |                ^^^^^^^" in text
    assert "captured([ptp_amount, ptp_date]) — ptp_date is missing" in text
    assert text.count("error[") == 1


def test_keys_stand_side_by_side(run: Run) -> None:
    _, text = run("""\
- name: a
  given: {phase: negotiate}
  turns:
    - user: two hundred dollars
      expect:
        keys: {ptp_amount: 200, ptp_date: null, mood: calm}
""")
    assert "error[keys]: ptp_amount, mood are not as expected" in text
    table = text.split("\n")[-4:]
    assert [line.split() for line in table] == [
        ["key", "expected", "is"],
        ["✗", "ptp_amount", "200", '"200"'],
        ["✓", "ptp_date", "absent", "absent"],
        ["✗", "mood", '"calm"', "absent"],
    ]


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ("phases: [verify]", "the active phases differ"),
        ("ended: true", "expected ended to be true, the call goes on in 'negotiate'"),
        ("absent: [ptp_amount]", "ptp_amount is not as expected"),
        ("unmet: []", "  + ptp_date\n(- expected, + there)"),
        ("said: [Hello]", "  - Hello"),
        ("said: Hello", "expected 'Hello' to be said"),
        ("told: Hello", "expected 'Hello' to be told"),
        ("context: Sing", "'Sing' is not in the context"),
        ("tools: [pay]", "  ✓ pay\n  + note"),
        ("tools: {allowed: [note], denied: [pay]}", "'pay' is available"),
        ("why_not: {confirm: []}", "expected nothing to be missing for 'confirm'"),
        ("why_not: {negotiate: []}", "expected not to be in 'negotiate', but it is active"),
        ("failed: wrong_type", "expected the input to fail (wrong_type), and it did not"),
        ("facts: [{fact: PhaseEntered}]", "expected the fact {fact: PhaseEntered}"),
        ("facts: [{fact: TurnClosed}, {fact: WordsHeard}]", "after those before it"),
        ("no_facts: [{fact: WordsHeard, turn: 1}]", "expected no fact {fact: WordsHeard, turn: 1}"),
    ],
)
def test_every_expectation_can_fail_and_says_how(run: Run, expect: str, words: str) -> None:
    report, text = run(f"""\
- name: a
  given: {{phase: negotiate}}
  turns:
    - user: two hundred dollars
      expect: {{{expect}}}
""")
    assert not report.passed
    assert words in text
    assert "a.scenario.yaml:5:" in text


def test_facts_are_shown_as_a_scenario_file_spells_them(run: Run) -> None:
    _, text = run("- {name: a, turns: [{user: hi, expect: {facts: [{fact: PatternFired}]}}]}")
    line = next(line for line in text.splitlines() if "WordsHeard" in line)
    report, text = run(f"- {{name: a, turns: [{{user: hi, expect: {{facts: [{line}]}}}}]}}")
    assert report.passed, text


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("tool: {name: pay, args: {sum: 1}, result: {}, expect: ran}", "it was denied"),
        ("tool: {name: note, expect: {denied: phase}}", "it ran"),
        ("tool: {name: pay, args: {sum: 1}, expect: {denied: guard}}", '"guard"   "phase"'),
        ("set: {ptp_amount: lots}", "the input failed (wrong_type)"),
        ("resolve: {name: account}", "'account' is not running"),
        ("extract: {Debtor: {}}", "'Debtor' is not running"),
        ("{model: Hello, extract: {Debtor: {}}}", "did not run on this turn"),
        ("{set: {paid: 5}, expect: {failed: wrong_type}}", "the input failed (ownership)"),
    ],
)
def test_a_step_that_goes_wrong_is_shown_at_its_line(run: Run, step: str, words: str) -> None:
    step = step.removeprefix("{").removesuffix("}") if step.startswith("{") else step
    report, text = run(f"- name: a\n  turns:\n    - {{{step}}}\n")
    assert not report.passed
    assert words in text
    assert "a.scenario.yaml:3:" in text


def test_a_start_that_cannot_be_is_shown_where_it_is_given(run: Run) -> None:
    _, text = run("- name: a\n  given: {state: {ptp_date: soon}}\n  turns: [{user: hi}]\n")
    assert "error[given]" in text
    assert "a.scenario.yaml:2:" in text


def test_runs_that_do_not_agree_are_a_failure(flow_text: str, write: Write) -> None:
    functions = Functions()
    answers = iter(range(9))

    @functions.resolver
    def account() -> int:
        return next(answers)

    text = """\
- name: a
  repeat: 2
  given: {phase: negotiate, run_functions: true}
  turns:
    - user: hi
"""
    file, flow, _ = load_scenarios(write(text))
    report = run_scenario(file.scenarios[0], flow, functions)
    assert "run 2 went another way than the first" in report.text(file, 0)
    assert '"new":0' in report.mismatches[0].body.split("\n")[0]
    assert '"new":1' in report.mismatches[0].body.split("\n")[1]


# -- what is wrong with a file --------------------------------------------------------------------


def test_all_mistakes_are_named_at_once_with_their_lines_and_cures(write: Write) -> None:
    file = write("""\
scenarios:
  - name: a
    gven: {phase: x}
    turns:
      - user: 5
        expct: {}
      - {user: a, advance: 3s}
      - advance: soon
      - {}
      - tool: {nme: pay}
      - expect: {facts: [{fact: PhaseEntred}]}
      - tool: {name: pay, expect: {denied: guard, mising: []}}
      - tool: {name: pay, expect: denid}
  - name: b
    given: {at: yesterday, timezone: Mars/One}
    turns: []
""")
    found = mistakes(file)
    assert [(code, line) for code, line, _, _ in found] == [
        ("unknown_key", 3), ("wrong_type", 5), ("unknown_key", 6), ("wrong_shape", 7),
        ("wrong_value", 8), ("wrong_shape", 9), ("missing", 10), ("unknown_key", 10),
        ("wrong_shape", 11), ("unknown_key", 12), ("wrong_value", 13), ("wrong_value", 15),
        ("wrong_value", 15), ("empty", 16),
    ]  # fmt: skip
    assert found[0][2:] == ("'gven' is not a key of a scenario", "did you mean 'given'?")
    assert found[3][2] == "a step does one thing, not turn and advance"
    assert "Did you mean 'PhaseEntered'?" in found[8][2]
    assert found[9][2:] == ("'mising' is not a key of `expect`", "did you mean 'missing'?")


def test_names_that_the_flow_does_not_have_are_mistakes(write: Write) -> None:
    found = mistakes(
        write("""\
- name: a
  given: {phase: negotaite}
  turns:
    - user: x
      extract: {Debtr: {}}
      expect:
        phase: confrim
        keys: {ptp_amout: null}
        absent: [ptp_dat]
        tools: {denied: [pai]}
        why_not: {clsed: []}
    - event: hangup
    - tool: {name: pya}
    - resolve: {name: acount}
    - repeat: {times: 2, user: x, extract: {Dbtor: {}}}
    - expect: {phases: [negotiate, x], unmet: [ptp_dte]}
""")
    )
    assert [line for _, line, _, _ in found] == [2, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16]
    assert {code for code, *_ in found} == {"unknown_name"}
    assert found[0][2:] == ("phase 'negotaite' does not exist", "did you mean 'negotiate'?")
    assert found[7][3] == "did you mean 'hang_up'?"


def test_fields_that_no_run_could_bring_are_mistakes(write: Write) -> None:
    found = mistakes(
        write("""\
- name: a
  given: {extract: {Debtor: {mood: 5}}}
  turns:
    - user: x
      extract: {Debtor: {moood: calm}}
    - {user: y, extract: {Debtor: {mood: null, verified: true}}}
""")
    )
    assert [(code, line) for code, line, _, _ in found] == [("wrong_value", 2), ("unknown_name", 5)]
    assert found[1][3] == "did you mean 'mood'?"


def test_keys_that_only_the_scenario_or_a_function_writes_are_no_mistakes(run: Run) -> None:
    report, text = run("""\
- name: a
  given: {state: {ptp_dates: 2}}
  turns:
    - expect: {keys: {ptp_dates: 2}, absent: [elsewhere, "session:locale"]}
""")
    assert report.passed, text


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "empty_file", 1),
        ("just words", "empty_file", 1),
        ("- a\n- b", "wrong_type", 1),
        ("- name: a\n  turns: [{user: x}]\n- name: a\n  turns: [{user: x}]", "duplicate_name", 3),
        ("flw: x\nscenarios:\n- {name: a, turns: [{user: x}]}", "unknown_key", 1),
        ("scenarios: []", "empty", 1),
        ("- name: a\n  name: b\n  turns: [{user: x}]", "duplicate_key", 2),
        ("- name: [", "yaml_syntax", 1),
        ("- name: a\n  turns:\n    - restart: false", "wrong_value", 3),
        ("- name: a\n  tags: [not a tag]\n  turns: [{user: x}]", "wrong_value", 2),
        ("- name: a\n  turns:\n    - repeat: {times: 3}", "wrong_shape", 3),
        ("- name: a\n  turns:\n    - expect: {}", "wrong_shape", 3),
        ("- name: a\n  turns:\n    - tool: {name: pay, expect: {}}", "wrong_shape", 3),
        ("- name: a\n  turns: [{expect: {facts: [{phase: x}]}}]", "wrong_shape", 2),
        ("- name: a\n  turns: [{expect: {facts: [{fact: PhaseDone, fase: x}]}}]", "wrong_shape", 2),
    ],
)
def test_a_file_that_cannot_be_read_says_where_and_why(
    write: Write, text: str, code: str, line: int
) -> None:
    assert mistakes(write(text))[0][:2] == (code, line)


def test_a_flow_that_is_missing_or_wrong_is_an_error_of_its_own(write: Write) -> None:
    assert (
        mistakes(write("flow: ../x\nscenarios: [{name: a, turns: [{user: x}]}]"))[0][0] == "no_file"
    )
    file = write("- {name: a, turns: [{user: x}]}")
    (file.parent.parent / "flow.yaml").write_text("flow: x\n")
    assert mistakes(file)[0][0] == "missing"


def test_functions_that_cannot_be_imported_are_an_error(write: Write) -> None:
    file = write("- {name: a, turns: [{user: x}]}")
    (file.parent.parent / "functions.py").write_text(
        "from flowengine import Functions\n"
        "functions = Functions()\n"
        "@functions.resolver\n"
        "def account(): ...\n"
        "boom\n"
    )
    with pytest.raises(FlowError, match=r"functions.py:5: .*NameError"):
        load_scenarios(file)


def test_the_flow_of_these_tests_has_no_mistake(flow_text: str) -> None:
    assert loads(flow_text).flow == "collect"
