"""Misspelt keys, writers and values are found where they stand, with the cure."""

from __future__ import annotations

from typing import Any

import pytest

FLOW = """\
flow: x
state:
  agreed: {type: boolean, writers: [channel, "tool:verify"]}
  amount: {type: number, writers: [channel]}
  due: {type: date, writers: [channel]}
  name: {type: string, writers: [channel]}
  promise_amount: {type: decimal, depends_on: [amount], writers: [action, channel]}
tools:
  verify: {set: {agreed: result.verified}, respond: {verified: true}}
phases:
  a:
    on_enter: [{clear: [promise_amount]}, {set: {promise_amount: "5"}}]
    on_exit: [{copy: {promise_amount: amount}}]
    done: agreed == true and amount > 3 and due < "2026-12-31" and name == "ann"
    show: [promise_amount]
"""


def test_a_flow_whose_names_and_values_fit_has_no_findings(codes: Any) -> None:
    assert codes(FLOW) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("depends_on: [amount]", "depends_on: [amonut]",
         "unknown_state_key /state/promise_amount/depends_on/0"),
        ("clear: [promise_amount]", "clear: [promis_amount]",
         "unknown_state_key /phases/a/on_enter/0/clear/0"),
        ("set: {promise_amount", "set: {promise_amuont",
         "misspelt_key /phases/a/on_enter/1/set/promise_amuont"),
        ("copy: {promise_amount", "copy: {promise_amoun",
         "misspelt_key /phases/a/on_exit/0/copy/promise_amoun"),
        ("name == \"ann\"", "name == 5", "never_equal /phases/a/done"),
        ("amount > 3", "amount > \"3\"", "never_equal /phases/a/done"),
        ("agreed == true", "agreed == \"yes\"", "never_equal /phases/a/done"),
    ],
)  # fmt: skip
def test_a_slip_is_found(codes: Any, old: str, new: str, expected: str) -> None:
    assert old in FLOW
    assert codes(FLOW.replace(old, new)) == [expected]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("depends_on: [amount]", "depends_on: [amonut]"),
        ("clear: [promise_amount]", "clear: [promis_amount]"),
        ("set: {promise_amount", "set: {promise_amuont"),
        ("amount > 3", 'amount > "3"'),
        ("agreed == true", 'agreed == "yes"'),
    ],
)
def test_the_cure_of_a_slip_is_certain(cured: Any, old: str, new: str) -> None:
    assert cured(FLOW.replace(old, new)) == FLOW


def test_a_key_that_two_places_name_is_no_slip(codes: Any) -> None:
    text = FLOW.replace("{set: {promise_amount", "{set: {promise_amounts")
    assert codes(text.replace("show: [", "show: [promise_amounts, ")) == []


def test_keys_that_differ_in_a_number_are_different(codes: Any) -> None:
    assert codes(FLOW.replace("set: {promise_amount", "set: {promise_amount2")) == []


def test_a_date_that_no_calendar_has_is_refused(parsed: Any) -> None:
    [diagnostic] = parsed(FLOW.replace("2026-12-31", "2026-13-45"))
    assert (diagnostic.code, diagnostic.path) == ("wrong_value", "/phases/a/done")
    assert "'2026-13-45' is not a date" in diagnostic.message


def test_a_misspelt_writer_is_told_at_the_writer(parsed: Any) -> None:
    [diagnostic] = parsed(FLOW.replace('"tool:verify"', '"tool:verfy"'))
    assert (diagnostic.code, diagnostic.path) == ("unknown_writer", "/state/agreed/writers/1")
    assert diagnostic.suggestion == "did you mean 'tool:verify'?"


def test_a_misspelt_response_is_told_with_its_cure(parsed: Any, codes: Any) -> None:
    [diagnostic] = parsed(FLOW.replace("result.verified", "results.verified"))
    assert (diagnostic.code, diagnostic.path) == ("wrong_value", "/tools/verify/set/agreed")
    assert diagnostic.suggestion == "did you mean 'result.verified'?"
    assert diagnostic.fix[0]["value"] == "result.verified"
    texts = FLOW.replace("set: {agreed: result.verified}", "set: {note: resutl.verified}")
    assert codes(texts) == ["literal_path /tools/verify/set/note"]
    assert codes(texts.replace("resutl.verified", "report.pdf")) == []


def test_a_word_that_should_be_text_is_told_to_be_quoted(found: Any, cured: Any) -> None:
    text = FLOW.replace('name == "ann"', "name == job")
    [diagnostic] = found(text)
    assert (diagnostic.code, diagnostic.path) == ("unknown_state_key", "/phases/a/done")
    assert diagnostic.suggestion == 'text is quoted: "job"'
    assert diagnostic.fix == ()
    options = text.replace("name: {type: string,", "name: {type: string, enum: [job, rent],")
    assert 'name == "job"' in cured(options)


def test_a_yes_that_yaml_takes_for_text_has_its_cure(parsed: Any) -> None:
    [asked] = parsed(FLOW.replace("respond:", "confirm: yes, respond:"))
    assert (asked.code, asked.path) == ("wrong_value", "/tools/verify/confirm")
    assert asked.fix[0]["value"] is True
    assert parsed(FLOW.replace("respond:", "confirm: Yes please?, respond:")) == []
    [written] = parsed(FLOW.replace("set: {agreed: result.verified}", "set: {agreed: yes}"))
    assert (written.path, written.suggestion) == ("/tools/verify/set/agreed", "write true")


CASES = FLOW.replace(
    "tools:", "decisions: {cross: {question: Is the caller cross?}}\ncomputed: {x: CASE}\ntools:", 1
).replace("done: ", "done: is_set(x) and decided(cross) and ")


@pytest.mark.parametrize(
    "asked",
    ["decided(cross)", "in_phase(a) and agreed == true", "called_ok(verify)", "done(a)",
     "turns_in_phase > 2", "elapsed > 3s", "caller_spoke"],
)  # fmt: skip
def test_a_computed_key_that_would_not_follow_what_its_case_asks_is_refused(
    parsed: Any, asked: str
) -> None:
    [found] = parsed(CASES.replace("CASE", f'{{cases: [{{when: "{asked}", value: 1}}]}}'))
    assert (found.code, found.path) == ("unfollowed_case", "/computed/x/cases/0/when")


@pytest.mark.parametrize(
    "asked", ["decision:cross.outcome == 'yes'", "grounded(name)", "amount > 3"]
)
def test_a_case_that_asks_keys_is_followed(codes: Any, asked: str) -> None:
    assert codes(CASES.replace("CASE", f'{{cases: [{{when: "{asked}", value: 1}}]}}')) == []
