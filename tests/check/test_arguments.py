"""`args.x` names an argument that there is, where a call is judged or sent."""

from __future__ import annotations

from typing import Any

import pytest

FLOW = """\
flow: x
state: {account: {type: string, writers: [channel]}}
constraints:
  - {never: pay, until: args.amount <= 100}
resolvers:
  balance: {args: [account], http: {url: "https://x.example/{args.account}"}}
tools:
  pay:
    args: {amount: number, to: string}
    when: args.amount > 0 and args.to == account
    idempotency_key: "{account}-{args.amount}"
    confirm: "Pay {args.amount}?"
    http: {method: POST, url: "https://x.example/{args.to}", body: {by: "{state.account}"}}
phases: {a: {on_enter: [{resolve: balance}], done: is_set(account)}}
"""


def test_arguments_that_there_are_pass(codes: Any) -> None:
    assert codes(FLOW) == []


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("args.amount > 0", "args.amout > 0", "/tools/pay/when"),
        ("args.amount <= 100", "args.amout <= 100", "/constraints/0/until"),
        ("-{args.amount}", "-{args.amout}", "/tools/pay/idempotency_key"),
        ("Pay {args.amount}", "Pay {args.amout}", "/tools/pay/confirm"),
    ],
)
def test_a_misspelt_argument_has_its_cure(
    found: Any, cured: Any, old: str, new: str, path: str
) -> None:
    text = FLOW.replace(old, new)
    [diagnostic] = found(text)
    assert (diagnostic.code, diagnostic.path) == ("unknown_argument", path)
    assert diagnostic.suggestion == "did you mean 'amount'?"
    assert cured(text) == FLOW


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("/{args.to}", "/{args.ot}", "/tools/pay/http"),
        ("/{args.account}", "/{args.acount}", "/resolvers/balance/http"),
    ],
)
def test_a_request_is_filled_from_arguments_that_there_are(
    codes: Any, old: str, new: str, path: str
) -> None:
    assert codes(FLOW.replace(old, new)) == [f"unknown_argument {path}"]


@pytest.mark.parametrize(
    ("old", "path"),
    [
        ("{account}-", "/tools/pay/idempotency_key"),
        ("{state.account}", "/tools/pay/http"),
        ("args: [account]", "/resolvers/balance/args/0"),
    ],
)
def test_keys_of_calls_and_requests_are_written_by_something(
    codes: Any, old: str, path: str
) -> None:
    text = FLOW.replace(old, old.replace("account", "acct"))
    assert f"unknown_state_key {path}" in codes(text)


def test_no_call_is_judged_by_a_transition(found: Any) -> None:
    [diagnostic] = found(FLOW.replace("done: is_set(account)", "done: args.amount > 0"))
    assert (diagnostic.code, diagnostic.path) == ("unknown_argument", "/phases/a/done")
    assert "no call is judged here" in diagnostic.message


def test_a_tool_that_declares_no_arguments_takes_whatever_comes(codes: Any) -> None:
    text = FLOW.replace("    args: {amount: number, to: string}\n", "")
    assert codes(text) == []
