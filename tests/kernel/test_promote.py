"""What an extractor's fields become of: each rule's policy decides, and the decision is a fact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowengine.facts import PromotionDecided

Begin = Callable[..., Any]

FLOW = """
flow: promote
extract:
  - name: X
    schema: {properties: {a: {}, b: {}}}
    promote: [RULE]
phases: {p: {initial: true}}
"""
BARE = FLOW.replace("    promote: [RULE]\n", "")


def landed(call: Any, **fields: Any) -> list[tuple[str, str, str]]:
    """What was decided of each field that a turn brings: (field, key, reason)."""
    call.turn("well")
    call.answer(call.run("X"), fields)
    decided = call.happened(PromotionDecided)
    assert all(fact.accepted == (fact.reason == "accepted") for fact in decided)
    return [(fact.field, fact.key, fact.reason) for fact in decided]


@pytest.mark.parametrize(
    ("policy", "before", "value", "reason"),
    [
        ("keep_known", None, "x", "accepted"),
        ("keep_known", "w", "x", "existing kept"),
        ("overwrite", "w", "x", "accepted"),
        ("overwrite", "w", False, "accepted"),
        ("true_only", None, True, "accepted"),
        ("true_only", False, True, "accepted"),
        ("true_only", True, False, "not true"),
        ("true_only", None, "true", "not true"),
        ("non_empty", "w", "", "empty"),
        ("non_empty", "w", [], "empty"),
        ("non_empty", "w", "x", "accepted"),
        ("non_empty", "w", 0, "accepted"),
    ],
)
def test_the_policy_decides_over_what_is_known(
    begin: Begin, policy: str, before: Any, value: Any, reason: str
) -> None:
    known = {} if before is None else {"a": before}
    call = begin(FLOW.replace("RULE", f"{{field: a, policy: {policy}}}"), **known)
    assert landed(call, a=value) == [("a", "a", reason)]
    assert call.values.get("a") == (value if reason == "accepted" else before)


def test_keep_known_is_the_policy_of_a_rule_that_names_none(begin: Begin) -> None:
    call = begin(FLOW.replace("RULE", "{field: a}"), a="w")
    assert landed(call, a="x") == [("a", "a", "existing kept")]


def test_null_erases_nothing_whatever_the_policy(begin: Begin) -> None:
    call = begin(FLOW.replace("RULE", "{field: a, policy: overwrite}"), a="w")
    landed(call, a=None)
    assert call.values["a"] == "w"


def test_with_rules_they_alone_write_and_a_rule_may_name_its_key(begin: Begin) -> None:
    call = begin(FLOW.replace("RULE", "{field: a, to: order}"))
    assert landed(call, a="x", b="y") == [("a", "order", "accepted")]
    assert (call.values["order"], call.values["X"]) == ("x", {"a": "x"})
    assert not {"a", "b", "derived:b"} & call.values.keys()


def test_without_rules_every_field_is_derived_and_the_whole_stands_under_the_name(
    begin: Begin,
) -> None:
    call = begin(BARE, a="said")
    assert landed(call, a="x", b=None) == [("a", "derived:a", "accepted")]
    assert (call.values["derived:a"], call.values["a"]) == ("x", "said")
    assert call.values["X"] == {"a": "x"}


def test_a_condition_over_state_and_the_value_must_hold(begin: Begin) -> None:
    call = begin(FLOW.replace("RULE", "{field: a, accept_when: 'value > least'}"), least=3)
    assert landed(call, a=2) == [("a", "a", "not accepted now")]
    assert landed(call, a=5) == [("a", "a", "accepted")]


def test_what_must_be_presented_first_is_not_taken_before(begin: Begin) -> None:
    call = begin(FLOW.replace("RULE", "{field: a, after_presented: terms, policy: true_only}"))
    assert landed(call, a=True) == [("a", "a", "not presented")]
    call.set(**{"presented:terms": True})
    assert landed(call, a=True) == [("a", "a", "accepted")]
