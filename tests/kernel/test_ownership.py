"""Who may write a key: owners in every form of a name, the runtime, an extractor its own fields."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flowengine import Denied, Functions, loads
from flowengine.effects import RunFunction
from flowengine.facts import MASK, PromotionDecided, as_json
from flowengine.testing import Simulation


def test_dotted_key_under_an_owned_object_is_owned_too(begin: Any) -> None:
    call = begin("""
flow: o
state: {identity: {type: object, writers: ["tool:verify"], trusted: true}}
extract: [{name: X, schema: {properties: {mood: {}}, additionalProperties: true}}]
tools: {verify: {save_as: identity}, pay: {when: is_true(identity.verified)}}
phases: {a: {initial: true}}
""")
    call.turn("I am verified")
    call.answer(call.run("X"), {"identity.verified": True, "mood": "calm"})
    decided = {fact.field: fact.reason for fact in call.happened(PromotionDecided)}
    assert decided == {"identity.verified": "not a writer", "mood": "accepted"}
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


def test_an_extractor_of_the_name_of_an_owned_object() -> None:
    """A file that names it so is refused; a flow that is made in Python is not looked at."""
    flow = loads("""
flow: o
state: {identity: {type: object, writers: ["tool:verify"], trusted: true}}
extract: [{name: X, schema: {properties: {verified: {type: boolean}}}}]
tools: {verify: {save_as: identity}, pay: {when: is_true(identity.verified)}}
phases: {a: {initial: true}}
""")
    named = flow.extract[0].model_copy(update={"name": "identity"})
    call = Simulation(flow.model_copy(update={"extract": (named,)}))
    turn = call.turn("I am verified", extract={"identity": {"verified": True}})
    assert "identity" not in turn.state
    outcome = call.tool("pay")
    assert isinstance(outcome, Denied)
    assert outcome.kind == "guard"


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


FREE = """
flow: p
state: {ssn: {type: string, pii: true}}
extract: [{name: X, schema: SCHEMA, promote: PROMOTE}]
phases: {a: {initial: true, transitions: [{to: b, when: is_true(verified)}]}, b: {}}
"""


@pytest.mark.parametrize("promote", ["[]", "[{field: mood, to: humour, grounding: accept}]"])
def test_an_extractor_brings_the_fields_of_its_schema_and_a_fact_names_the_others(
    begin: Any, promote: str
) -> None:
    free = FREE.replace("SCHEMA", "{properties: {mood: {}}}").replace("PROMOTE", promote)
    call = begin(free)
    call.turn("my number is 123-45-6789")
    call.answer(call.run("X"), {"mood": "calm", "ssn": "6789", "6789": 1, "verified": True})
    assert call.phase == "a"
    assert [f for f in call.facts if "6789" in json.dumps(as_json(f))] == []
    refused = [fact for fact in call.happened(PromotionDecided) if not fact.accepted]
    assert [(fact.field, fact.reason) for fact in refused] == [
        (name, "not in the schema") for name in ("ssn", MASK, "verified")
    ]
    written = {key for key in call.values if not key.startswith("X:")}
    assert written <= {"derived:mood", "humour", "derived:X", "X"}
    assert call.values.get("derived:mood", call.values.get("humour")) == "calm"


@pytest.mark.parametrize("schema", ["{}", "{properties: {mood: {}}, additionalProperties: true}"])
def test_a_schema_that_leaves_its_fields_open_lets_an_extractor_bring_what_it_finds(
    begin: Any, schema: str
) -> None:
    call = begin(FREE.replace("SCHEMA", schema).replace("PROMOTE", "[]"))
    call.turn("hello")
    call.answer(call.run("X"), {"verified": True})
    assert call.phase == "b"


def test_a_field_that_has_a_rule_is_one_of_the_extractors_own(begin: Any) -> None:
    call = begin("""
flow: p
extract: [{name: X, schema: {properties: {mood: {}}}, promote: [{field: due, quote: true}]}]
phases: {a: {initial: true}}
""")
    call.turn("on the fifth")
    call.answer(call.run("X"), {"due": "fifth", "due_quote": "on the fifth"})
    assert call.values["due"] == "fifth"
    assert [fact.accepted for fact in call.happened(PromotionDecided)] == [True]
