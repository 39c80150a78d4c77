"""A fragment is spliced under a name of its own; what is wrong is told where it was written."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from flowengine.check import check
from flowengine.flow.dump import dumps
from flowengine.flow.fragment import Exit, Fragment, Parameter
from flowengine.flow.load import loads, parse
from flowengine.flow.model import Digression, Flow, Key, Phase, Region, Transition
from flowengine.guards import captured, is_true
from flowengine.render import to_mermaid

ASK = """\
fragments:
  ask:
    parameters:
      what: key
      question: text
      tries: {type: integer, default: 3}
    exits: [known, gave_up]
    state: {tried: integer}
    records:
      answer: {fields: {$what: {recognize: yes_no, accept_when: in_phase(first)}}}
    phases:
      first:
        say: $question
        collect: [answer]
        transitions:
          - {to: known, when: captured($what)}
          - {to: again, when: turns_in_phase >= $tries}
      again:
        instruction: 'Ask "$question" again, {tried?really:so}.'
        on_enter: [{set: {tried: 1}}]
        transitions:
          - {to: known, when: is_set($what) and tried == 1}
          - {to: gave_up, when: not in_phase(here) or done(first)}
"""
USES = """\
phases:
  consent:
    initial: true
    use: ask
    with: {what: agreed, question: Do you agree?}
    exits: {known: sure, gave_up: end}
  sure:
    use: ask
    with: {what: certain, question: Certain?, tries: 5}
    exits: {known: end, gave_up: end}
  end: {final: true}
"""


def flow(fragments: str, uses: str = USES) -> Flow:
    return loads("flow: x\n" + fragments + uses)


def one(body: str, use: str = "{use: f}", more: str = "") -> Flow:
    """A flow with a fragment `f` that its phase `p` uses."""
    return loads(f"flow: x\nfragments:\n  f:\n{body}phases:\n  p: {use}\n{more}")


def test_a_use_names_everything_after_itself_but_what_it_was_given() -> None:
    made = flow(ASK)
    assert list(made.state) == ["consent.tried", "sure.tried"]
    assert list(made.records) == ["consent.answer", "sure.answer"]
    assert list(made.records["sure.answer"].fields) == ["certain"]
    assert [name for name, _, _ in made.walk()] == [
        "consent", "consent.first", "consent.again", "sure", "sure.first", "sure.again", "end",
    ]  # fmt: skip
    first, again = made.phase("consent.first"), made.phase("consent.again")
    assert first.say == "Do you agree?"
    assert first.collect == ("consent.answer",)
    assert [t.to for t in first.transitions] == ["sure", "consent.again"]
    assert str(first.transitions[1].when) == "turns_in_phase >= 3"
    assert again.instruction == 'Ask "Do you agree?" again, {consent.tried?really:so}.'
    assert again.on_enter[0].set == {"consent.tried": 1}
    assert str(again.transitions[0].when) == "is_set(agreed) and consent.tried == 1"
    assert str(again.transitions[1].when) == "not in_phase(consent) or done(consent.first)"


def test_what_is_loaded_is_a_plain_flow_that_reads_back_as_itself() -> None:
    made = flow(ASK)
    assert not made.fragments
    assert all(phase.use is None for _, phase, _ in made.walk())
    assert loads(dumps(made)) == made
    assert loads(dumps(made, "json"), format="json") == made


def test_a_flow_with_fragments_passes_the_check() -> None:
    loaded = parse("flow: x\n" + ASK + USES, file="f.yaml")
    assert [d.code for d in check(loaded.flow, source=loaded.source) if d.severity == "error"] == []


def test_a_use_is_drawn_as_a_compound_phase_of_its_name() -> None:
    drawn = to_mermaid(flow(ASK))
    assert re.search(r'state "consent" as (p\d+) \{\n\s+state "consent.first', drawn)


def test_a_condition_over_lists_holds_for_each_of_their_names() -> None:
    made = one(
        "    parameters: {keys: keys, also: {type: guard, default: null}}\n"
        "    tools: {t: {when: 'args.$keys == $keys and captured($keys) and $also'}}\n"
        "    phase: {needs: [own, $keys]}\n",
        "{use: f, with: {keys: [a, b]}}",
    )
    assert str(made.tools["p.t"].when) == "args.a == a and args.b == b and captured([a, b])"
    assert made.phase("p").needs == ("own", "a", "b")


def test_a_condition_that_is_given_is_joined_in_brackets_and_keeps_its_names() -> None:
    made = one(
        "    parameters: {also: guard}\n    state: {k: boolean}\n"
        "    phase: {done: is_true(k) and $also}\n",
        "{use: f, with: {also: is_true(k) or is_true(l)}}",
    )
    assert str(made.phase("p").done) == "is_true(p.k) and (is_true(k) or is_true(l))"


def test_what_is_null_is_left_out_with_what_needs_it() -> None:
    made = one(
        "    parameters: {also: {type: guard, default: null}, name: {type: text, default: null}}\n"
        "    exits: {out: {optional: true}}\n"
        "    phase:\n      title: $name\n      notes: [{when: $also, text: hi}]\n"
        "      transitions: [{to: out, when: is_set(x)}, {to: here, when: $also}]\n"
    )
    assert made.phase("p") == Phase()


def test_an_item_with_each_stands_for_one_item_for_each_name() -> None:
    made = one(
        "    parameters: {asks: object}\n    phase:\n      notes:\n"
        "        - {$each: $asks, when: not is_set($key), text: 'for $key: $value'}\n",
        "{use: f, with: {asks: {a: A?, b: B?}}}",
    )
    notes = made.phase("p").notes
    assert [(str(n.when), n.text) for n in notes] == [
        ("not is_set(a)", "for a: A?"), ("not is_set(b)", "for b: B?")
    ]  # fmt: skip


def test_values_keep_their_type_and_two_dollars_are_one() -> None:
    made = one(
        "    parameters:\n      n: integer\n      m: {type: number, default: 0.5}\n"
        "      t: {type: text, default: Hm}\n"
        "    phase:\n      repair: {reprompt_after: 1, escalate_after: $n}\n"
        '      instruction: $t, $$5 or ${n}x\n      done: score > $m and kind == "$t"\n',
        "{use: f, with: {n: 4}}",
    )
    phase = made.phase("p")
    assert phase.repair is not None
    assert phase.repair.escalate_after == 4
    assert phase.instruction == "Hm, $5 or 4x"
    assert str(phase.done) == 'score > 0.5 and kind == "Hm"'


def test_what_the_flow_says_itself_comes_first_and_narrows() -> None:
    made = loads("""\
flow: x
fragments:
  f:
    parameters: {tool: tool}
    state: {ok: boolean}
    tools: {$tool: {description: a, when: is_true(ok), commit: true}}
    phase:
      instruction: standard
      needs: [ok]
      transitions: [{to: here, when: is_true(ok), external: true}]
tools: {pay: {description: mine, when: is_set(sum), respond: 1}}
phases:
  p:
    use: f
    with: {tool: pay}
    instruction: own words
    needs: [mine]
    transitions: [{to: q, when: is_true(mine)}]
  q: {initial: true}
""")
    phase, pay = made.phase("p"), made.tools["pay"]
    assert phase.instruction == "own words"
    assert phase.needs == ("mine", "p.ok")
    assert [t.to for t in phase.transitions] == ["q", "p"]
    assert (pay.description, pay.commit, pay.respond) == ("mine", True, 1)
    assert str(pay.when) == "is_set(sum) and is_true(p.ok)"


NESTED = """\
flow: x
fragments:
  outer:
    parameters: {tool: tool}
    exits: [out]
    state: {k: boolean}
    phases:
      a:
        use: inner
        with: {what: [k, own], tool: $tool, also: is_true(k)}
        exits: {done: b}
      b: {transitions: [{to: out, when: is_true(a.seen) and done(a.x)}]}
  inner:
    parameters: {what: keys, tool: tool, also: guard}
    exits: [done]
    state: {seen: boolean}
    phases:
      x: {tools: [$tool], needs: $what, transitions: [{to: done, when: $also and is_true(seen)}]}
phases:
  p: {initial: true, use: outer, with: {tool: t}, exits: {out: end}}
  end: {final: true}
tools: {t: {respond: 1}}
"""


def test_a_fragment_may_use_another() -> None:
    made = loads(NESTED)
    assert list(made.state) == ["p.k", "p.a.seen"]
    x = made.phase("p.a.x")
    assert x.needs == ("p.k", "own")
    assert x.tools is not None
    assert x.tools.allow == ("t",)
    assert (x.transitions[0].to, str(x.transitions[0].when)) == (
        "p.b", "is_true(p.k) and is_true(p.a.seen)",
    )  # fmt: skip
    assert str(made.phase("p.b").transitions[0].when) == "is_true(p.a.seen) and done(p.a.x)"


def test_digressions_and_monitors_use_fragments_too() -> None:
    made = loads("""\
flow: x
fragments:
  d: {parameters: {w: guard}, digression: {when: $w}, phases: {a: {final: true}}}
  m: {phases: {calm: {}}}
digressions: {aside: {use: d, with: {w: is_set(q)}, resume: restart}}
monitors: {mood: {use: m}}
phases: {p: {}}
""")
    assert made.digressions["aside"] == Digression(
        when="is_set(q)",
        resume="restart",
        phases={"aside.a": Phase(final=True)},  # pyright: ignore
    )
    assert made.monitors["mood"] == Region(phases={"mood.calm": Phase()})


# -- in Python -------------------------------------------------------------------------------------


def test_python_says_the_same_with_the_same_names() -> None:
    ask = Fragment(
        parameters={"what": Parameter(type="keys")},
        exits={"known": Exit(description="it is known")},
        state={"tried": Key(type="integer")},
        phases={
            "first": Phase(
                needs=("$what", "tried"),
                transitions=(Transition(to="known", when=captured("$what") & is_true("tried")),),
            )
        },
    )
    made = Flow(
        flow="x",
        fragments={"ask": ask},
        phases={
            "p": Phase(initial=True, use="ask", with_={"what": ["a", "b"]}, exits={"known": "end"}),
            "q": Phase(use=ask, with_={"what": ["c"]}, exits={"known": "end"}),
            "end": Phase(final=True),
        },
    )
    assert not made.fragments
    first = made.phase("p.first")
    assert first.needs == ("a", "b", "p.tried")
    assert str(first.transitions[0].when) == "captured([a, b]) and is_true(p.tried)"
    assert made.phase("q.first").needs == ("c", "q.tried")
    assert loads(dumps(made)) == made


# -- properties ------------------------------------------------------------------------------------

NAME = st.from_regex(r"[a-z][a-z_]{0,5}", fullmatch=True).filter(
    lambda name: name not in ("here", "known", "gave_up", "end", "and", "or", "not", "in", "args",
                              "always", "true", "false", "null", "matches", "elapsed", "value")
)  # fmt: skip


@given(st.lists(NAME, min_size=2, max_size=3, unique=True), st.lists(NAME, min_size=2, max_size=2))
def test_uses_under_different_names_never_clash(spaces: list[str], given: list[str]) -> None:
    uses = "phases:\n  end: {initial: true, final: true}\n" + "".join(
        f"  {space}: {{use: ask, with: {{what: {given[0]}, question: '?'}}, "
        f"exits: {{known: end, gave_up: end}}}}\n"
        for space in spaces
    )
    made = flow(ASK, uses)
    names = [name for name, _, _ in made.walk()]
    assert len(names) == len(set(names)) == 1 + 3 * len(spaces)
    assert set(made.state) == {f"{space}.tried" for space in spaces}
    assert all(made.phase(f"{space}.first").say == "?" for space in spaces)


@given(NAME)
def test_a_use_is_the_fragment_up_to_the_name_in_front(space: str) -> None:
    """Taking the namespace off again gives the same flow for every namespace."""
    space = f"{space}_x"
    text = dumps(flow(ASK, USES.replace("consent", space)))
    assert text.replace(space, "consent") == dumps(flow(ASK))
