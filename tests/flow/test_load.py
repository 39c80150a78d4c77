"""Files become flows, or an error that names all that is wrong with them in its place."""

from __future__ import annotations

import json

import pytest

from flowengine.flow.diagnostic import FlowFileError
from flowengine.flow.load import loads


def flow_with(phase: str) -> str:
    return f"flow: x\nphases:\n  a:\n{phase}\n"


def test_only_true_and_false_are_booleans_and_times_stay_text(good) -> None:
    flow = loads(good)
    assert flow.state["on"].default == "no"
    assert flow.state["at"].default == "12:30"


def test_short_forms_anchors_and_extension_keys_are_read(good) -> None:
    flow = loads(good)
    ask = flow.phase("ask")
    assert ask.needs == ("name", "dob")
    assert ask.tools is not None
    assert ask.tools.allow == ("lookup",)
    assert flow.tools["lookup"].args == {"dob": {"type": "string"}}


def test_a_phase_may_be_called_x_something_because_names_are_the_authors_own() -> None:
    flow = loads("flow: x\nphases:\n  x-ray: {initial: true}\n  b: {transitions: [{to: x-ray}]}\n")
    assert list(flow.phases) == ["x-ray", "b"]


def test_digits_with_a_leading_zero_stay_text() -> None:
    flow = loads("flow: x\nstate: {zip: {type: string, default: 01234}}\nphases: {a: {}}\n")
    assert flow.state["zip"].default == "01234"


BROKEN: list[tuple[str, str, list[tuple[str, int, int]]]] = [
    ("nothing", "", [("empty_file", 1, 1)]),
    ("a comment alone", "# flow\n", [("empty_file", 1, 1)]),
    ("a list", "- flow\n", [("not_a_mapping", 1, 1)]),
    ("text", "flow\n", [("not_a_mapping", 1, 1)]),
    ("a tab", "flow: x\nphases:\n\ta: {}\n", [("tab", 3, 1)]),
    ("an open quote", 'flow: "x\n', [("yaml_syntax", 2, 1)]),
    ("a colon in text", "flow: a: b\n", [("yaml_syntax", 1, 8)]),
    ("two documents", "flow: x\nphases: {a: {}}\n---\nflow: y\n", [("many_documents", 3, 1)]),
    ("a tag", "flow: !!python/name:os.system x\n", [("tag", 1, 7)]),
    ("a merge key", "flow: x\nphases: {a: &a {}, b: {<<: *a}}\n", [("merge_key", 2, 24)]),
    ("a list as key", "flow: x\n[a]: 1\n", [("key_not_text", 2, 1)]),
    ("an alias to nothing", "flow: *x\n", [("unknown_alias", 1, 7)]),
    ("an alias to itself", "flow: x\nphases: &p {a: *p}\n", [("recursive_alias", 2, 16)]),
    ("a key twice", "flow: x\nflow: y\nphases: {a: {}}\n", [("duplicate_key", 2, 1)]),
    ("no phases", "flow: x\n", [("missing", 1, 1)]),
    ("no name", "phases: {a: {}}\n", [("missing", 1, 1)]),
    ("empty phases", "flow: x\nphases: {}\n", [("empty", 2, 9)]),
    ("phases of nothing", "flow: x\nphases:\n", [("wrong_type", 2, 1)]),
    ("an unknown key", flow_with("    intsruction: hi"), [("unknown_key", 4, 5)]),
    ("yes for true", flow_with("    initial: yes"), [("wrong_type", 4, 14)]),
    ("a number for text", flow_with("    say: 5"), [("wrong_type", 4, 10)]),
    ("quotes around a number", 'flow: x\nversion: "1"\nphases: {a: {}}\n', [("wrong_type", 2, 10)]),
    ("one tool for a list", flow_with("    tools: lookup"), [("wrong_type", 4, 12)]),
    ("a number below its bound", flow_with("    repair: {reprompt_after: 0}"),
     [("wrong_value", 4, 30)]),
    ("counts that contradict", flow_with("    repair: {reprompt_after: 9}"),
     [("wrong_shape", 4, 13)]),
    ("an unknown word", flow_with("    transitions: [{to: a, history: deeep}]"),
     [("wrong_value", 4, 36)]),
    ("no duration", flow_with("    transitions: [{to: a, after: soon}]"), [("wrong_value", 4, 34)]),
    ("an edge to nowhere", flow_with("    transitions:\n      - when: is_true(x)"),
     [("missing", 5, 9)]),
    ("a text that should be a mapping", "flow: x\nphases: {a: hello}\n", [("wrong_type", 2, 13)]),
    ("an action of two things", flow_with("    on_enter: [{run: f, raise: e}]"),
     [("wrong_shape", 4, 16)]),
    ("a guard with an unknown word", flow_with("    done: is_set(x) and is_tru(y)"),
     [("guard", 4, 25)]),
    ("a guard in single quotes", flow_with("    done: 'x == \"it''s\" and is_tru(y)'"),
     [("guard", 4, 29)]),
    ("a guard in double quotes", flow_with('    done: "is_tru(y)"'), [("guard", 4, 12)]),
    ("a guard in a block", flow_with("    done: |\n      is_set(x) and\n      is_tru(y)"),
     [("guard", 6, 7)]),
    ("a guard that is a number", flow_with("    done: 5"), [("guard", 4, 11)]),
    ("a guard cut by a bracket", flow_with("    transitions: [{to: a, when: captured([x, y])}]"),
     [("guard_cut", 4, 33)]),
    ("a guard cut by a comma", flow_with("    transitions: [{when: eq(x, 1), to: a}]"),
     [("guard_cut", 4, 26)]),
    ("a guard cut before a quote", flow_with('    transitions: [{to: a, when: eq(x, "y")}]'),
     [("guard_cut", 4, 33)]),
    ("a transition to no phase", flow_with("    transitions: [{to: b}]"),
     [("unknown_phase", 4, 24)]),
    ("a guard about no phase", flow_with("    done: is_set(x) or done(aa)"),
     [("unknown_phase", 4, 29)]),
    ("a reset of no phase", flow_with("    on_enter: [{reset: [a, zz]}]"),
     [("unknown_phase", 4, 28)]),
    ("no initial phase", "flow: x\nphases: {a: {}, b: {}}\n", [("no_initial", 2, 1)]),
    ("two initial phases", "flow: x\nphases: {a: {initial: true}, b: {initial: true}}\n",
     [("many_initial", 2, 43)]),
    ("two initial children", flow_with("    phases: {b: {initial: true}, c: {initial: true}}"),
     [("many_initial", 4, 47)]),
    ("a name used twice", flow_with("    phases: {a: {}}"), [("duplicate_phase", 4, 14)]),
    ("no such record", flow_with("    collect: [order]"), [("unknown_record", 4, 15)]),
    ("no such tool", "flow: x\ntools: {t: {}}\nphases: {a: {tools: [t, u]}}\n",
     [("unknown_tool", 3, 25)]),
    ("no such tool denied", "flow: x\ntools: {t: {}}\nphases: {a: {tools: {deny: [u]}}}\n",
     [("unknown_tool", 3, 29)]),
    ("a default of another type",
     "flow: x\nstate: {n: {type: integer, default: a}}\nphases: {a: {}}\n",
     [("wrong_value", 2, 37)]),
    ("a value of another type set", "flow: x\nstate: {n: integer}\nphases: {a: {on_enter: "
     "[{set: {n: a}}]}}\n", [("wrong_value", 3, 35)]),
    ("a key declared twice",
     "flow: x\nstate: {n: integer, 'derived:n': integer}\nphases: {a: {}}\n",
     [("same_key", 2, 21)]),
    ("a computed key that is owned", "flow: x\nstate: {n: {type: integer, writers: ['tool:t']}}\n"
     "computed: {n: {value: {const: 1}}}\nphases: {a: {}}\n", [("owned_key", 3, 12)]),
    ("a promotion of a trusted key", "flow: x\nstate: {n: {type: integer, trusted: true}}\n"
     "extract: [{name: e, promote: [{field: f, to: n}]}]\nphases: {a: {}}\n",
     [("owned_key", 3, 46)]),
    ("a write to the runtime's keys", flow_with("    on_enter: [{set: {'session:x': 1}}]"),
     [("reserved_key", 4, 23)]),
    ("computed keys in a circle", "flow: x\ncomputed:\n  a: {of: b, map: {}}\n"
     "  b: {cases: [{when: is_set(derived:a), value: 1}]}\nphases: {a: {}}\n",
     [("computed_cycle", 3, 3)]),
    ("wide characters before the place", 'flow: x\nphases: {"付款": {transitions: [{to: zz}]}}\n',
     [("unknown_phase", 2, 36)]),
]  # fmt: skip


@pytest.mark.parametrize(("what", "text", "expected"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_broken_file_is_told_by_code_line_and_column(
    what: str, text: str, expected: list[tuple[str, int, int]], found
) -> None:
    assert found(text) == expected


def test_all_problems_are_told_at_once_of_form_of_guards_and_of_meaning(found) -> None:
    text = (
        "flow: x\nversoin: 1\nphases:\n  a:\n    initial: yes\n    transitions:\n"
        "      - to: bb\n        when: is_tru(x)\n      - {to: a, when: eq(x, 1)}\n"
    )
    codes = [code for code, _, _ in found(text)]
    assert codes == ["unknown_key", "wrong_type", "unknown_phase", "guard", "guard_cut"]


def test_a_part_that_is_wrong_is_not_missed_elsewhere(found) -> None:
    text = "flow: x\nrecords: {order: {windw: 1}}\nphases: {a: {collect: [order]}}\n"
    assert [code for code, _, _ in found(text)] == ["missing", "unknown_key"]


def test_an_error_reads_like_a_compilers(broken) -> None:
    text = (
        "flow: x\nphases:\n  greet:\n    transitions:\n      - to: gret\n        when: is_set(x)\n"
    )
    [diagnostic] = broken(text)
    assert str(diagnostic) == (
        "error[unknown_phase]: phase 'gret' does not exist\n"
        "  --> f.yaml:5:13  (phases.greet.transitions[0].to)\n"
        " 4 |     transitions:\n"
        " 5 |       - to: gret\n"
        "   |             ^^^^\n"
        " 6 |         when: is_set(x)\n"
        "     = help: did you mean 'greet'?"
    )
    assert diagnostic.to_json()["path"] == "/phases/greet/transitions/0/to"
    assert json.loads(json.dumps(diagnostic.to_json()))["fix"] == [
        {"op": "replace", "path": "/phases/greet/transitions/0/to", "value": "greet"}
    ]


def test_a_cut_guard_is_shown_in_quotes(broken) -> None:
    [diagnostic] = broken(flow_with("    transitions: [{to: a, when: captured([x, y])}]"))
    assert diagnostic.suggestion == 'put it in quotes: "captured([x, y])"'


@pytest.mark.parametrize(
    ("phase", "help"),
    [
        ("    intsruction: hi", "did you mean 'instruction'?"),
        ("    initial: yes", "write true"),
        ("    say: 5", 'write "5"'),
        ("    tools: lookup", "write [lookup]"),
        ("    transitions: greet", "write [{to: greet}]"),
        ("    transitions: [greet]", "write {to: greet}"),
        ("    on_enter: greet", ""),
        ("    timing: {filler_after: 5}", 'write "5s"'),
        ("    transitions: [{to: a, after: 90}]", 'write "90s"'),
        ("    done: is_tru(x)", "did you mean 'is_true'?"),
        ("    transitions: [{to: a, history: deeep}]", "did you mean 'deep'?"),
    ],
)
def test_the_cure_is_told(phase: str, help: str, broken) -> None:
    assert [d.suggestion for d in broken(flow_with(phase))] == [help]


def test_a_mistake_inside_a_union_is_one_message(broken) -> None:
    value = "{add: [1, {kye: b}]}"
    [diagnostic] = broken(f"flow: x\ncomputed: {{a: {{value: {value}}}}}\nphases: {{a: {{}}}}\n")
    assert (diagnostic.code, diagnostic.column) == ("unknown_key", 34)
    [diagnostic] = broken("flow: x\nextract: [{name: e, trigger: [5]}]\nphases: {a: {}}\n")
    assert diagnostic.line == 2


@pytest.mark.parametrize(
    ("line", "code", "cure"),
    [
        ("trigger: {intervall: 2}", "unknown_key", "did you mean 'interval'?"),
        ("trigger: each_turn", "wrong_value", ", {interval: 2}"),
        ("on_failure: {rise: lost}", "unknown_key", "did you mean 'raise'?"),
        ("on_failure: raise", "wrong_value", "there are: continue, hold, {raise: an_event}"),
    ],
)
def test_a_word_or_a_mapping_is_told_in_both_forms(line: str, code: str, cure: str) -> None:
    text = f"flow: x\nextract: [{{name: y, {line}}}]\nphases: {{a: {{}}}}\n"
    with pytest.raises(FlowFileError) as error:
        loads(text)
    told = {diagnostic.code: diagnostic.suggestion for diagnostic in error.value.diagnostics}
    assert cure in told[code]
