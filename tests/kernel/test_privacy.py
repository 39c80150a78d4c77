"""Values of private keys, and whatever is made of them, are in no fact."""

from __future__ import annotations

import json
from typing import Any

from flowengine import Functions
from flowengine.facts import as_json


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
    assert _private(call, "Jane") == []


def test_computed_of_a_path_into_pii(begin: Any) -> None:
    call = begin("""
flow: p
state: {person: {type: object, pii: true}}
computed: {first: {of: person.name, map: {}, else: null}, again: {value: {key: person.name}}}
phases: {a: {initial: true}}
""")
    call.set(person={"name": "Jane"})
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
    assert _private(call, "Jane") == []
