"""Values of private keys, and whatever is made of them, are in no fact."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flowengine import Functions
from flowengine.effects import RunFunction
from flowengine.facts import MASK, KeyWritten, as_json
from flowengine.inputs import TurnEnded
from flowengine.kernel.privacy import CHARACTERS, VALUES


def _private(call: Any, *values: str) -> list[Any]:
    return [f for f in call.facts if any(v in json.dumps(as_json(f)) for v in values)]


def test_computed_function_with_tracked_reads_of_a_pii_key(begin: Any) -> None:
    functions = Functions()

    @functions.computed
    def greeting(state: Any) -> Any:
        name = state.get("name")
        return f"Dear {name}" if name else None

    call = begin(
        """
flow: p
state: {name: {type: string, pii: true}}
computed: {greeting: {run: greeting}}
phases: {a: {initial: true}}
""",
        functions,
    )
    call.set(name="Jane Smith")
    assert call.values["derived:greeting"] == "Dear Jane Smith"
    assert _private(call, "Jane") == []


def test_dotted_pii(begin: Any) -> None:
    call = begin("""
flow: p
state: {person: {type: object, pii: true}}
extract: [{name: X, schema: {properties: {name: {}}}, promote: [{field: name, to: person.name}]}]
phases: {a: {initial: true}}
""")
    call.turn("Jane Smith")
    call.answer(call.run("X"), {"name": "Jane Smith"})
    assert call.values["person.name"] == "Jane Smith"
    assert _private(call, "Jane") == []


def test_computed_of_a_path_into_pii(begin: Any) -> None:
    call = begin("""
flow: p
state: {person: {type: object, pii: true}}
computed: {first: {of: person.name, map: {Jane: Jane A}}, again: {value: {key: person.name}}}
phases: {a: {initial: true}}
""")
    call.set(person={"name": "Jane"})
    assert (call.values["derived:first"], call.values["derived:again"]) == ("Jane A", "Jane")
    assert _private(call, "Jane") == []


def test_copy_of_a_pii_key(begin: Any) -> None:
    call = begin("""
flow: p
state: {name: {type: string, pii: true}}
watch: [{key: name, changed: true, do: [{copy: {previous: name}}]}]
phases: {a: {initial: true}}
""")
    call.set(name="Jane Smith")
    assert call.values["previous"] == "Jane Smith"
    assert _private(call, "Jane") == []


def test_result_of_a_resolver_that_reads_a_pii_key(begin: Any) -> None:
    call = begin(
        """
flow: p
state: {name: {type: string, pii: true}}
resolvers: {account: {args: [name]}}
phases: {a: {initial: true, on_enter: [{resolve: account}]}}
""",
        name="Jane Smith",
    )
    call.answer(call.run("account"), {"owner": "Jane Smith", "balance": 5})
    assert call.values["account:result"] == {"owner": "Jane Smith", "balance": 5}
    assert _private(call, "Jane") == []


ECHO = """
flow: p
state:
  name: {type: string, pii: true}
  pin: {type: integer, pii: true}
  age: {type: integer, pii: true}
records: {r: {fields: {said: {recognize: {one_of: [Jane Smith, Bob Jones]}, to: said}}}}
tools: {look: {args: {who: string}, set: {found: result.owner, ok: result.ok}, save_as: page}}
watch:
  - {key: go, became_true: true, do: [{run: later}, {run: now}]}
phases: {a: {initial: true}}
"""


def echoing(begin: Any) -> Any:
    functions = Functions()

    @functions.watcher
    async def later(values: Any) -> Any:
        return {}

    @functions.watcher
    def now(state: Any) -> Any:
        return {"greeting": f"Dear {state.get('name')}"}

    return begin(ECHO, functions, name="Jane Smith", pin=4417, age=42)


def written(call: Any) -> dict[str, Any]:
    return {fact.key: fact.new for fact in call.happened(KeyWritten)}


def test_a_value_that_repeats_a_private_one_is_masked_whoever_writes_it(begin: Any) -> None:
    call = echoing(begin)
    call.tool("look", who="Jane Smith")
    assert _private(call, "Jane") == []
    call.answer(call.run("c"), {"owner": "jane smith", "ok": True, "pages": [{"to": "JANE SMITH"}]})
    assert written(call) == {"page": MASK, "found": MASK, "ok": True}
    call.set(go=True)
    assert written(call)["greeting"] == MASK
    (run,) = call.asked(RunFunction)
    call.answer(run.id, {"note": "Jane Smith called", "code": 4417, "size": 42, "other": "Bob"})
    assert written(call) == {"note": MASK, "code": MASK, "size": 42, "other": "Bob"}
    call.send(TurnEnded, {"form": "Jane Smith"})
    assert written(call) == {"form": MASK}
    call.turn("this is Jane Smith")
    assert written(call) == {"said": MASK}


def test_a_private_value_that_is_gone_is_still_masked(begin: Any) -> None:
    call = echoing(begin)
    call.set(name="Bob Jones")
    call.set(note="of Jane Smith")
    assert written(call) == {"note": MASK}
    call.set(name=None, note="of Bob Jones")
    assert written(call) == {"name": None, "note": MASK}
    call.set(note="of Bob Jones and Jane Smith again")
    call.set(note=None)
    assert _private(call, "Bob", "Jane") == []


@pytest.mark.parametrize("value", ["Caller{}", "x" * 200 + "{}"])
def test_what_is_kept_of_private_values_is_bounded_and_past_it_all_is_masked(
    begin: Any, value: str
) -> None:
    call = echoing(begin)
    for n in range(2 * VALUES):
        call.set(name=value.format(n))
        kept = call.snapshot.wait.private
        assert len(kept.values) <= VALUES
        assert sum(len(str(old)) for _, old in kept.values) <= CHARACTERS
    call.set(note="of " + value.format(0), ok=True)
    assert written(call) == {"note": MASK, "ok": True}


def test_places_go_with_the_turns(begin: Any) -> None:
    call = begin("""
flow: p
state: {name: {type: string, pii: true}}
records: {r: {fields: {name: {recognize: {one_of: [Jane, Bob]}}}}}
phases: {a: {initial: true}}
""")
    for _ in range(60):
        call.turn("it is Jane, Jane I say")
        call.turn("no, it is Bob")
    oldest = call.snapshot.transcript.turns[0].number
    places = call.snapshot.wait.private.places
    assert min(place[0] for place in places) >= oldest - 1
    assert len(call.snapshot.wait.private.values) <= 2


def test_the_name_of_a_tool_that_is_none_and_of_its_arguments_are_in_no_fact(begin: Any) -> None:
    call = begin("""
flow: p
state: {ssn: {type: string, pii: true}}
tools: {verify: {args: {ssn: string}}}
phases: {a: {initial: true}}
""")
    call.turn("123-45-6789")
    call.tool("verify", "c1", ssn="123-45-6789")
    assert _private(call, "6789") == []
    call.tool("verify", "c2", ssn="123-45-6789", **{"123-45-6789": 1})
    assert _private(call, "6789") == []
    call.tool("123-45-6789", "c3")
    assert _private(call, "6789") == []
    assert [(id, answer.kind) for id, answer in call.answers] == [("c3", "unknown_tool")]


def test_a_copy_of_a_copy_and_an_object_with_a_private_part_are_private(begin: Any) -> None:
    call = begin("""
flow: p
state: {age: {type: integer, pii: true}, person.pin: {type: integer, pii: true}}
computed: {older: {value: {key: younger}}, rest: {value: {key: size}}}
resolvers: {account: {args: [younger]}}
watch:
  - {key: go, became_true: true, do: [{copy: {last: younger}}, {copy: {younger: age}}]}
  - {key: go, became_true: true, do: [{copy: {last: younger}}, {copy: {all: person}}]}
  - {key: go, became_true: true, do: [{resolve: account}]}
phases: {a: {initial: true}}
""")
    call.set(age=42, person={"pin": 7}, size=3)
    assert written(call)["size"] == written(call)["derived:rest"] == 3
    call.set(go=True)
    call.answer(call.run("account"), {"of": 42})
    keys = ("last", "younger", "all", "derived:older", "account:result")
    assert [key for key in keys if key not in call.values] == []
    assert all(call.kernel.compiled.keys.slots[key].pii for key in keys)


def test_what_is_told_before_a_private_key_holds_the_same_is_masked_as_well(begin: Any) -> None:
    call = begin("""
flow: p
state: {name: {type: string, pii: true}}
phases: {a: {initial: true}}
""")
    call.set(note="Jane Smith called", other="Bob", name="Jane Smith")
    assert written(call) == {"note": MASK, "other": "Bob", "name": MASK}


def test_an_explanation_shows_nothing_that_facts_mask(begin: Any) -> None:
    call = begin("""
flow: p
state: {name: {type: string, pii: true}}
phases:
  a: {initial: true, transitions: [{to: b, when: "note == 'x' and found.of == 'x' and size == 1"}]}
  b: {}
""")
    call.set(name="Jane Smith", note="JANE SMITH", found={"of": "Jane Smith"}, size=3)
    told = str(call.kernel.explain(call.snapshot))
    assert "jane" not in told.lower()
    assert "size = 3" in told
