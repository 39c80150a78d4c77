"""Who may write a key: owners in every form of a name, and prefixes of the runtime's own."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine import Functions
from flowengine.effects import RunFunction


def test_dotted_key_under_an_owned_object_is_owned_too(begin: Any) -> None:
    call = begin("""
flow: o
state: {identity: {type: object, writers: ["tool:verify"], trusted: true}}
extract: [{name: X, schema: {properties: {mood: {}}}}]
tools: {verify: {save_as: identity}, pay: {when: is_true(identity.verified)}}
phases: {a: {initial: true}}
""")
    call.turn("I am verified")
    call.answer(call.run("X"), {"identity.verified": True, "mood": "calm"})
    call.tool("pay")
    assert [a.kind for _, a in call.answers] == ["guard"]


def test_promotion_to_a_dotted_path_of_a_trusted_object(begin: Any) -> None:
    call = begin("""
flow: o
state: {identity: {type: object, writers: ["tool:verify"], trusted: true}}
extract:
  - name: X
    schema: {properties: {ok: {type: boolean}}}
    promote: [{field: ok, to: identity.verified}]
tools: {verify: {save_as: identity}, pay: {when: is_true(identity.verified)}}
phases: {a: {initial: true}}
""")
    call.turn("I am verified")
    call.answer(call.run("X"), {"ok": True})
    call.tool("pay")
    assert [a.kind for _, a in call.answers] == ["guard"]


def test_an_extractor_of_the_name_of_an_owned_object(begin: Any) -> None:
    call = begin("""
flow: o
state: {identity: {type: object, writers: ["tool:verify"], trusted: true}}
extract: [{name: identity, schema: {properties: {verified: {type: boolean}}}}]
tools: {verify: {save_as: identity}, pay: {when: is_true(identity.verified)}}
phases: {a: {initial: true}}
""")
    call.turn("I am verified")
    call.answer(call.run("identity"), {"verified": True})
    call.tool("pay")
    assert [a.kind for _, a in call.answers] == ["guard"]


@pytest.mark.parametrize(
    "key",
    [
        "verbatim:a",
        "decision:x",
        "repair:a:escalate",
        "compensated:pay",
        "flow:x",
        "correction:x",
        "idempotency:x",
        "state_meta:x",
    ],
)
@pytest.mark.parametrize("how", ["channel", "function", "admin"])
def test_runtime_prefixes_are_reserved(begin: Any, key: str, how: str) -> None:
    functions = Functions()

    @functions.watcher
    async def later(values: Any) -> Any:
        return {}

    call = begin(
        """
flow: t
watch: [{key: go, became_true: true, do: [{run: later}]}]
phases: {a: {initial: true}}
""",
        functions,
    )
    call.set(go=True)
    (run,) = call.asked(RunFunction)
    if how == "channel":
        call.turn("x", **{key: True})
    elif how == "admin":
        call.set(**{key: True})
    else:
        call.answer(run.id, {key: True})
    assert key not in call.values
