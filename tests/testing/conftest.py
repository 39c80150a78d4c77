"""A small flow with one of everything that scenarios speak of."""

from __future__ import annotations

import pytest

FLOW = """\
flow: collect
timezone: America/New_York
state:
  identity_verified: boolean
  ptp_amount: decimal
  ptp_date: date
  paid: {type: boolean, writers: ["tool:pay"]}
records:
  promise:
    fields:
      ptp_amount: {recognize: money}
      ptp_date: {recognize: date, prefer: future}
extract:
  - name: Debtor
    schema: {type: object, properties: {mood: {type: string}}}
resolvers:
  account: {}
tools:
  pay:
    args: {sum: number}
    when: captured(ptp_amount)
    set: {paid: true}
  note:
    respond: {noted: true}
global_transitions:
  - {to: closed, on: hang_up}
phases:
  verify:
    initial: true
    say: Who is this?
    tools: [note]
    transitions:
      - {to: negotiate, when: is_true(identity_verified)}
  negotiate:
    say: How much can you pay?
    instruction: Agree on a sum and a day.
    needs: [ptp_amount, ptp_date]
    repair: {reprompt_after: 2, escalate_after: 4}
    on_enter:
      - resolve: account
    transitions:
      - to: confirm
        when: captured([ptp_amount, ptp_date])
      - {to: silent, after: 30s}
  confirm:
    transitions:
      - {to: closed, when: is_true(paid)}
  silent: {say: Are you there?}
  closed: {final: true}
"""


@pytest.fixture(scope="session")
def flow_text() -> str:
    return FLOW
