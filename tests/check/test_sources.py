"""Resolvers, background tools and keys of the runtime: what is there already needs no more."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine.check import FlowFileError
from flowengine.flow.functions import Functions
from flowengine.flow.load import parse


def resolver(source: str) -> str:
    return (
        "flow: x\nstate: {account: {type: string, writers: [channel]}}\n"
        f"resolvers: {{balance: {{args: [account], {source}}}}}\n"
        "phases: {a: {on_enter: [{resolve: balance}], done: resolved(balance)}}\n"
    )


@pytest.mark.parametrize(
    "source",
    [
        'http: {url: "https://x.example/{args.account}"}',
        "mcp: {server: bank, tool: balance}",
        """prompt: 'How much is on {account}? As {"amount": 5}'""",
    ],
    ids=["http", "mcp", "prompt"],
)
def test_a_resolver_with_a_source_needs_no_function(codes: Any, source: str) -> None:
    assert codes(resolver(source)) == []


def test_a_resolver_without_one_is_registered_under_its_name(codes: Any) -> None:
    assert codes(resolver("ttl: 5s")) == ["unknown_function /resolvers/balance"]
    functions = Functions()
    functions.resolver(name="balance")(lambda account: 5)
    assert codes(resolver("ttl: 5s"), functions) == []


def test_a_prompt_reads_keys_that_something_writes(codes: Any) -> None:
    text = resolver("prompt: 'How much is on {acount}?'")
    assert codes(text) == ["unknown_state_key /resolvers/balance/prompt"]


RECORD = """\
flow: x
resolvers: {free: {http: {url: "https://x.example"}, args: [slot]}}
records:
  booking:
    fields:
      slot: {recognize: {one_of: [morning, evening]}}
      open: {resolve: free, args: [slot]}
phases: {a: {collect: [booking]}}
"""


def test_a_field_is_resolved_by_a_resolver_that_there_is_from_keys_that_are_written(
    codes: Any,
) -> None:
    assert codes(RECORD) == []
    wrong = RECORD.replace("resolve: free, args: [slot]", "resolve: free, args: [slto]")
    assert codes(wrong) == ["unknown_state_key /records/booking/fields/open/args/0"]
    with pytest.raises(FlowFileError) as caught:
        parse(RECORD.replace("resolve: free", "resolve: fre"), file="f.yaml", functions={})
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.code == "unknown_resolver"
    assert diagnostic.path == "/records/booking/fields/open/resolve"
    assert diagnostic.suggestion == "did you mean 'free'?"


def test_a_commit_does_not_run_in_the_background() -> None:
    text = "flow: x\ntools: {t: {commit: true, background: silent}}\nphases: {a: {}}\n"
    with pytest.raises(FlowFileError) as caught:
        parse(text, file="f.yaml")
    [diagnostic] = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.path) == ("wrong_shape", "/tools/t")
    assert "cannot run in the background" in diagnostic.message


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("tools: {t: {respond: 1, ambient: true}}", []),
        ("tools: {t: {respond: 1}}\nconstraints: [{ambient: [t]}]", []),
        ("tools: {t: {respond: 1}}", ["unused_tool /tools/t"]),
    ],
    ids=["ambient", "ambient by a rule", "neither"],
)
def test_a_tool_that_no_phase_allows_may_be_open_everywhere(
    codes: Any, more: str, expected: list[str]
) -> None:
    assert codes(f"flow: x\n{more}\nphases: {{a: {{tools: []}}}}\n") == expected


def test_a_tool_that_makes_up_for_another_is_used(codes: Any) -> None:
    text = (
        "flow: x\ntools: {t: {respond: 1, compensate_with: undo}, undo: {respond: 1}}\n"
        "phases: {a: {tools: [t]}}\n"
    )
    assert codes(text) == []


def test_an_outer_phase_opens_a_tool_for_those_in_it(codes: Any) -> None:
    text = (
        "flow: x\ntools: {t: {respond: 1}}\n"
        "phases: {a: {tools: [t], phases: {b: {transitions: [{to: b, external: true}]}}}}\n"
    )
    assert "unused_tool /tools/t" not in codes(text)


@pytest.mark.parametrize("key", ["verbatim:a", "compensated:t", "decision:d.outcome"])
def test_keys_of_the_runtime_need_no_writer(codes: Any, key: str) -> None:
    text = (
        "flow: x\nmodels: {decision: m}\ndecisions: {d: {question: Yes?}}\n"
        "tools: {t: {respond: 1}}\n"
        f"phases: {{a: {{say: Hi, verbatim: 0.9, done: is_set({key}) and decided(d)}}}}\n"
    )
    assert codes(text) == []
