"""What stands between a model and a tool that cannot be undone."""

from __future__ import annotations

from typing import Any

import pytest

FLOW = """\
flow: x
models: {extraction: m}
state:
  confirmed: {type: boolean, writers: ["record:answer"]}
  verified: {type: boolean, trusted: true, writers: ["tool:check"]}
records:
  answer: {fields: {confirmed: {recognize: yes_no}}}
extract:
  - name: choice
    schema: {type: object, properties: {drug: {type: string}, agreed: {type: boolean}}}
decisions:
  sure: {question: Is the caller sure?}
computed:
  chosen: {value: {key: drug}}
constraints:
  - {never: order, until: is_true(verified)}
tools:
  check: {respond: {ok: true}, set: {verified: result.ok}}
  order:
    args: {drug: string}
    commit: true
    when: WHEN
    respond: {}
phases: {a: {show: [drug, agreed, chosen, confirmed], done: decided(sure)}}
"""


def flow(when: str) -> str:
    return FLOW.replace("WHEN", when)


@pytest.mark.parametrize(
    "when",
    [
        "is_true(confirmed)",
        "args.drug == drug and grounded(drug)",
        "args.drug == drug and decided(sure)",
        "is_true(verified) and not is_true(agreed)",
    ],
    ids=["heard by a record", "grounded", "decided", "a model only keeps it shut"],
)
def test_commits_that_rest_on_what_was_said_or_is_trusted_pass(codes: Any, when: str) -> None:
    assert codes(flow(when)) == []


def test_a_model_s_value_that_opens_a_commit_is_told_and_cured(found: Any, cured: Any) -> None:
    text = flow("is_true(confirmed) and args.drug == drug")
    [diagnostic] = found(text)
    assert (diagnostic.code, diagnostic.severity) == ("ungrounded_commit", "warning")
    assert diagnostic.path == "/tools/order/when"
    assert cured(text) == flow("is_true(confirmed) and args.drug == drug and grounded(drug)")


def test_the_value_is_followed_through_computed_keys(found: Any) -> None:
    [diagnostic] = found(flow("args.drug == chosen"))
    assert diagnostic.suggestion == "ask `grounded(drug)` too"


def test_what_a_model_judges_has_no_cure_in_one_place(found: Any) -> None:
    [diagnostic] = found(flow("is_true(agreed)"))
    assert diagnostic.code == "ungrounded_commit"
    assert diagnostic.fix == ()


def test_a_read_back_that_was_agreed_to_bears_a_value_out(codes: Any) -> None:
    text = flow("is_true(confirmed) and args.drug == drug")
    assert codes(text.replace('["record:answer"]', '["record:answer"], depends_on: [drug]')) == []


def test_a_rule_that_is_only_watched_guards_nothing(codes: Any) -> None:
    text = flow("always").replace("is_true(verified)}", "is_true(verified), mode: observe}")
    assert codes(text) == ["unguarded_commit /tools/order"]


@pytest.mark.parametrize(
    "more",
    ["confirm: true", "when: is_true(verified)"],
    ids=["someone agrees", "a guard"],
)
def test_a_commit_needs_something_that_guards_it(codes: Any, more: str) -> None:
    text = flow("always").replace(
        "  - {never: order, until: is_true(verified)}\n", "  - once: order\n"
    )
    text = text.replace("is_true(confirmed)", "always").replace("    when: always\n", "")
    assert "unguarded_commit /tools/order" in codes(text)
    assert "unguarded_commit /tools/order" not in codes(
        text.replace("    commit: true\n", f"    commit: true\n    {more}\n")
    )
    assert "unguarded_commit /tools/order" not in codes(
        text.replace("- once: order", "- before: [check, order]")
    )


def test_tools_that_make_up_for_each_other_never_end(found: Any) -> None:
    text = flow("is_true(confirmed)").replace(
        "respond: {}", "respond: {}\n    compensate_with: order"
    )
    [diagnostic] = found(text)
    assert (diagnostic.code, diagnostic.path) == (
        "compensation_cycle",
        "/tools/order/compensate_with",
    )


def test_what_makes_up_for_a_tool_gets_its_arguments_and_no_more(codes: Any) -> None:
    cancel = "  cancel: {args: {drug: string, why: string}, respond: {}}\n"
    text = flow("is_true(confirmed)").replace(
        "respond: {}\n", "respond: {}\n    compensate_with: cancel\n" + cancel
    )
    text = text.replace("phases: {a: {", "phases: {a: {tools: [check, order], ")
    assert codes(text) == ["unknown_argument /tools/order/compensate_with"]
    assert codes(text.replace("why: string", "why: {type: string, default: ''}")) == []


OPEN = """\
flow: x
state: {agreed: {type: boolean, writers: [channel]}}
tools:
  look: {respond: {}}
  pay: {commit: true, when: is_true(agreed), respond: {}}
phases:
  a: {initial: true, transitions: [{to: b}]}
  b: {tools: [pay, look], transitions: [{to: c, when: is_true(agreed)}]}
  c: {final: true}
"""


def test_a_phase_that_lists_no_tools_opens_commits_too(found: Any) -> None:
    [diagnostic] = found(OPEN)
    assert (diagnostic.code, diagnostic.severity) == ("open_commit", "warning")
    assert diagnostic.path == "/phases/a"
    assert "pay" in diagnostic.message
    assert "look" not in diagnostic.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a: {initial", "a: {tools: [look], initial"),
        ("a: {initial", "a: {tools: {deny: [pay]}, initial"),
        ("when: is_true(agreed), respond", "when: is_true(agreed) and in_phase(b), respond"),
        ("commit: true", "commit: true, ambient: true"),
        ("commit: true, ", ""),
        ("tools: [pay, look]", "tools: {deny: [look]}"),
    ],
)
def test_a_commit_that_a_phase_keeps_shut_is_not_open(codes: Any, old: str, new: str) -> None:
    assert codes(OPEN.replace(old, new)) == []
