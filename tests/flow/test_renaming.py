"""Names of every kind are found wherever they stand, and renamed together."""

from __future__ import annotations

import json
from types import ModuleType

import pytest

from flowengine.flow.dump import plain
from flowengine.flow.load import loads
from flowengine.flow.model import Flow


def one(body: str, use: str = "{use: f}", more: str = "") -> Flow:
    """A flow with a fragment `f` that its phase `p` uses."""
    return loads(f"flow: x\nfragments:\n  f:\n{body}phases:\n  p: {use}\n{more}")


@pytest.mark.parametrize(
    ("name", "renamed"),
    [
        ("k", "p.k"), ("k.inner", "p.k.inner"), ("derived:k", "derived:p.k"),
        ("turn:t", "turn:p.t"), ("confirm:k", "confirm:p.k"), ("r.k", "p.r.k"),
        ("r:status", "p.r:status"), ("look:result", "p.look:result"),
        ("repair:a:reprompt", "repair:p.a:reprompt"), ("repair:here:escalate", "repair:p:escalate"),
        ("elsewhere", "elsewhere"), ("session:turn", "session:turn"),
    ],
)  # fmt: skip
def test_a_key_is_renamed_in_every_form_it_has(name: str, renamed: str) -> None:
    made = one(
        "    state: {k: object}\n    resolvers: {look: {}}\n"
        "    records:\n      r:\n        fields:\n          k: {recognize: yes_no}\n"
        "          t: {recognize: yes_no, to: 'turn:t'}\n    phases:\n"
        f"      a: {{show: ['{name}'], done: 'is_set({name})', say: 'so {{{name}}}'}}\n"
    )
    phase = made.phase("p.a")
    assert phase.show == (renamed,)
    assert str(phase.done) == f"is_set({renamed})"
    assert phase.say == f"so {{{renamed}}}"


def test_names_of_every_section_are_renamed_with_what_refers_to_them() -> None:
    made = one("""\
    state:
      sent: {type: boolean, writers: ["tool:send", "record:r"], depends_on: [k]}
    records: {r: {fields: {k: {recognize: yes_no}, free: {resolve: look, args: [k]}}}}
    extract:
      - name: mood
        schema: {properties: {calm: {type: boolean}}}
        on_failure: {raise: lost}
    computed: {high: {of: k, map: {a: 1}}, twice: {value: {mul: [{key: k}, 2]}}}
    watch: [{key: high, changed: true, do: [{copy: {sent: k}}, {raise: rang}, {reset: [a]}]}]
    resolvers: {look: {args: [k], prompt: 'What is {k}?'}}
    tools:
      send: {when: is_set(k) and args.k == k, set: {sent: result.x}, compensate_with: undo}
      undo: {http: {url: 'http://x/{state.k}/{args.k}'}}
    decisions: {sure: {question: Sure?, writes: certain}}
    constraints: [{once: send}, {before: [a, send]}, {require: [a]}]
    global_transitions: [{to: a, on: rang}, {to: a, on: lost}, {to: b, on: hang_up}]
    digressions: {aside: {when: decided(sure), phases: {c: {final: true}}}}
    phases:
      a:
        tools: [send]
        collect: [r]
        transitions: [{to: b, when: 'resolved(look) and called_ok(send) and is_true(calm)'}]
      b: {done: custom(mine)}
""")  # fmt: skip
    assert made.state["p.sent"].writers == ("tool:p.send", "record:p.r")
    assert made.state["p.sent"].depends_on == ("p.k",)
    fields = made.records["p.r"].fields
    assert (fields["k"].to, fields["free"].to, fields["free"].resolve) == (
        "p.k",
        "p.free",
        "p.look",
    )
    [mood] = made.extract
    assert mood.name == "p.mood"
    assert [(rule.field, rule.to) for rule in mood.promote] == [("calm", "p.calm")]
    assert plain(mood)["on_failure"] == {"raise": "p.lost"}
    assert made.computed["p.high"].of == "p.k"
    [watch] = made.watch
    assert plain(watch)["do"] == [
        {"copy": {"p.sent": "p.k"}},
        {"raise": "p.rang"},
        {"reset": ["p.a"]},
    ]
    look, send, undo = made.resolvers["p.look"], made.tools["p.send"], made.tools["p.undo"]
    assert (look.args, look.prompt, look.run) == (("p.k",), "What is {p.k}?", None)
    assert (send.run, send.compensate_with, send.set) == ("send", "p.undo", {"p.sent": "result.x"})
    assert str(send.when) == "is_set(p.k) and args.k == p.k"
    assert undo.http is not None
    assert undo.http.url == "http://x/{state.p.k}/{args.k}"
    assert made.decisions["p.sure"].writes == "p.certain"
    assert plain(made.constraints) == [
        {"once": "p.send"}, {"before": ["p.a", "p.send"]}, {"require": ["p.a"]}
    ]  # fmt: skip
    assert [t.on for t in made.global_transitions] == ["p.rang", "p.lost", "hang_up"]
    assert str(made.digressions["p.aside"].when) == "decided(p.sure)"
    assert str(made.phase("p.a").transitions[0].when) == (
        "resolved(p.look) and called_ok(p.send) and is_true(p.calm)"
    )
    assert str(made.phase("p.b").done) == "custom(mine)"


SECTIONS = ("phases", "digressions", "monitors", "global_transitions", "fallback_transitions")


@pytest.mark.parametrize("seed", range(40))
def test_a_whole_flow_as_a_fragment_is_itself_once_the_name_is_taken_off(
    random_flows: ModuleType, seed: int
) -> None:
    """Names with spaces, quotes and colons included."""
    data = plain(random_flows.random_flow(seed))
    body = {section: data[section] for section in SECTIONS if section in data}
    state = {key: {"type": "boolean"} for key in random_flows.KEYS}
    made = Flow.model_validate(
        {
            "flow": "x",
            "fragments": {"f": {**body, "state": state}},
            "phases": {"zz": {"use": "f"}},
        }
    )
    assert set(made.state) == {f"zz.{key}" for key in state}
    text = json.dumps(plain(made), ensure_ascii=False)
    back = json.loads(text.replace("zz.", ""))
    assert back["phases"]["zz"]["phases"] == body["phases"]
    assert {s: back[s] for s in body if s != "phases"} == {
        s: body[s] for s in body if s != "phases"
    }
    assert text.count("zz.") > 10
