"""Every "why did it not move?" has an answer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowengine import guards as g
from flowengine.errors import FunctionError
from flowengine.guards import Decision, Guard, compile_guard, explain


@pytest.fixture
def why(keys, moment):
    def why(text, view=None, /, mask=(), **values):
        return explain(Guard.parse(text), keys, view or moment(values=values), mask=mask)

    return why


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("captured([a, b])", "✗ captured([a, b]) — b is missing"),
        ("captured([b, c])", "✗ captured([b, c]) — b and c are missing"),
        ("captured(a)", "✓ captured(a)"),
        ("is_true(a)", "✗ is_true(a) — a = 1"),
        ("a >= 3", "✗ a >= 3 — a = 1"),
        ("a > 'x'", '? a > "x" — a = 1, these do not compare'),
        ("b > 3", "? b > 3 — b is missing"),
        ("b == 3", "✗ b == 3 — b is missing"),
        ("0 < a <= 1", "✓ 0 < a <= 1 — a = 1"),
        ("a == args.x", "✗ a == args.x — args.x is missing"),
        ("confidence(a) >= 0.8", "? confidence(a) >= 0.8 — confidence(a) is missing"),
        ("resolved(account)", "✗ resolved(account) — no current result"),
        ("called_ok(pay)", "✗ called_ok(pay) — no call has succeeded"),
        ("decided(d)", "? decided(d) — not answered this turn"),
        ("elapsed >= 30s", "✗ elapsed >= 30s — elapsed = 0s"),
        ("caller_spoke", "✗ caller_spoke — the caller has not spoken since this phase was entered"),
        ("always", "✓ always"),
    ],
)
def test_a_leaf_says_what_it_read_and_what_is_missing(why, text, line):
    assert str(why(text, a=1)) == line


def test_a_tree_shows_every_part(why):
    truth = why("captured(a) and (q >= 3 or not is_true(b))", a=1, q=2, b=True)
    assert str(truth) == (
        "✗ all of\n"
        "  ✓ captured(a)\n"
        "  ✗ any of\n"
        "    ✗ q >= 3 — q = 2\n"
        "    ✗ not\n"
        "      ✓ is_true(b) — b = true"
    )
    assert [blocker.text for blocker in truth.blockers()] == ["q >= 3", "not is_true(b)"]


def test_values_read_and_missing_are_data(why):
    truth = why("amount > limit", amount=3)
    assert (truth.value, truth.reads, truth.missing) == (None, {"amount": 3}, ("limit",))


def test_a_decision_shows_its_answer(why, moment):
    view = moment(decisions={"d": Decision("chosen", "billing")})
    assert str(why("decided(d, refund)", view)) == '✗ decided(d, "refund") — chosen "billing"'


def test_a_resolver_that_failed_is_said_to_have_failed(why, moment):
    assert str(why("resolved(look)", moment())) == "✗ resolved(look) — no current result"
    view = moment(values={"look:error": "KeyError"}, yes=frozenset({("failed", "look")}))
    assert str(why("resolved(look)", view)) == "✗ resolved(look) — its last run failed: KeyError"


def test_a_held_key_is_said_to_be_held(why, moment):
    view = moment(values={"k": 1}, holding=frozenset({"k"}))
    assert str(why("k == 1", view)) == "? k == 1 — k is held: its extractor failed, k = 1"


def test_masked_keys_show_no_value_nor_does_what_they_are_compared_with(why, moment):
    view = moment(values={"name": "Jane", "derived:n": "Jane"}, args={"name": "Jane"})
    for text in ("args.name == name", "is_true(name)", "name.first == 'x'", "name != n"):
        truth = why(text, view, mask=["name"])
        assert "Jane" not in str(truth)
        assert "Jane" not in str(truth.reads)
    assert why("name != n", view, mask=["derived:n"]).reads == {"name": "***", "n": "***"}


def test_long_values_are_cut_on_screen_only(why):
    truth = why("note == 'x'", note="y" * 500)
    assert len(str(truth)) < 100
    assert truth.reads == {"note": "y" * 500}


def test_a_custom_function_that_raises_fails_the_explanation_too(keys, moment):
    with pytest.raises(FunctionError):
        explain(g.custom("f"), keys, moment(), functions={"f": lambda state: 1 / 0})


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_tree_agrees_with_the_compiled_guard_and_blocks_unless_true(
    data, keys, moment, any_guard
):
    guard = data.draw(any_guard)
    functions = dict.fromkeys(g.names_of(guard, "function"), bool)
    view = moment(values={"a": 1, "amount": "x", "derived:x": True})
    truth = explain(guard, keys, view, functions=functions)
    compiled = compile_guard(guard, keys, functions=functions)
    assert truth.value is compiled.truth(view)
    assert compiled.test(view) is (truth.value is True)
    assert bool(truth.blockers()) is (truth.value is not True)
    assert all(blocker.value is not True for blocker in truth.blockers())
