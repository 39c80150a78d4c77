"""Text, JSON and Python are three spellings of one guard."""

import copy
import json
import pickle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowengine import guards as g
from flowengine.errors import GuardError
from flowengine.guards import Guard

PYTHON = {name: getattr(g, name) for name in g.__all__}


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_spelling_reads_back_as_an_equal_guard(data, any_guard):
    guard = data.draw(any_guard)
    assert Guard.parse(str(guard)) == guard
    assert Guard.from_json(json.loads(json.dumps(guard.to_json()))) == guard
    rebuilt = eval(repr(guard), PYTHON)
    assert rebuilt == guard
    assert hash(rebuilt) == hash(guard)
    assert copy.deepcopy(guard) == pickle.loads(pickle.dumps(guard)) == guard


@pytest.mark.parametrize(
    ("text", "python", "form"),
    [
        ("captured([a, b])", 'captured("a", "b")', {"captured": ["a", "b"]}),
        ("captured(a)", 'captured("a")', {"captured": ["a"]}),
        ("is_true(k)", 'is_true("k")', {"is_true": "k"}),
        ("always", "always()", {"always": True}),
        ("caller_spoke", "caller_spoke()", {"caller_spoke": True}),
        (
            "quantity >= 3",
            'key("quantity") >= 3',
            {"compare": [{"key": "quantity"}, ">=", 3]},
        ),
        (
            "1 <= value <= 20",
            'compare(1, "<=", key("value"), "<=", 20)',
            {"compare": [1, "<=", {"key": "value"}, "<=", 20]},
        ),
        (
            "args.amount == amount",
            'arg("amount") == key("amount")',
            {"compare": [{"arg": "amount"}, "==", {"key": "amount"}]},
        ),
        (
            'status in ["open", "late"]',
            'key("status").in_(["open", "late"])',
            {"compare": [{"key": "status"}, "in", ["open", "late"]]},
        ),
        (
            r'note matches "^refund\b"',
            r'key("note").matches("^refund\\b")',
            {"compare": [{"key": "note"}, "matches", r"^refund\b"]},
        ),
        (
            "elapsed >= 1m30s",
            'elapsed() >= "1m30s"',
            {"compare": [{"elapsed": True}, ">=", "1m30s"]},
        ),
        ('decided(x, "refund")', 'decided("x", "refund")',
         {"decided": {"id": "x", "answer": "refund"}}),
        ("decided(x)", 'decided("x")', {"decided": "x"}),
        ("decided(s, at_least=2)", 'decided("s", at_least=2)',
         {"decided": {"id": "s", "at_least": 2}}),
        (
            "(is_set(a) or is_set(b)) and not (c == 1)",
            '(is_set("a") | is_set("b")) & ~(key("c") == 1)',
            {"all": [{"any": [{"is_set": "a"}, {"is_set": "b"}]},
                     {"not": {"compare": [{"key": "c"}, "==", 1]}}]},
        ),
        (
            'order == {"id": 7}',
            'key("order") == {"id": 7}',
            {"compare": [{"key": "order"}, "==", {"value": {"id": 7}}]},
        ),
    ],
)  # fmt: skip
def test_the_canonical_spellings_are_pinned(text, python, form):
    guard = Guard.parse(text)
    assert (str(guard), repr(guard), guard.to_json()) == (text, python, form)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("captured(a, b)", "captured([a, b])"),
        ("captured(['a', \"b\"])", "captured([a, b])"),
        ("decided(x, true)", "decided(x)"),
        ("decided(x, refund)", 'decided(x, "refund")'),
        ("decided(x, 'yes please')", 'decided(x, "yes please")'),
        ("elapsed() > 90s", "elapsed > 1m30s"),
        ("elapsed > '90s'", "elapsed > 1m30s"),
        ("wait >= 30s", 'wait >= "30s"'),
        ("((x)) >= (3)", "x >= 3"),
        ("not not is_set(a)", "is_set(a)"),
        ("is_set(a) and (is_set(b) and is_set(c))", "is_set(a) and is_set(b) and is_set(c)"),
        ("eq(k, 'v')", 'k == "v"'),
        ("one_of(k, 1, 2)", "k in [1, 2]"),
        ("one_of(k, [1, 2])", "k in [1, 2]"),
        ("arg('a b') == key('c d')", 'arg("a b") == `c d`'),
        ("x == 'it\\'s \\u00e9'", 'x == "it\'s é"'),
        ("x matches 'it''s'", 'x matches "it\'s"'),
        ("  is_set(a)\n  and always()  ", "is_set(a) and always"),
    ],
)
def test_other_ways_to_write_it_come_to_the_canonical_one(written, canonical):
    assert str(Guard.parse(written)) == canonical


def test_the_json_form_takes_text_and_true_and_short_words_too():
    assert Guard.from_json(True) == g.always()
    assert Guard.from_json("is_set(a)") == g.is_set("a")
    assert Guard.from_json({"not": "is_set(a)"}) == ~g.is_set("a")
    assert Guard.from_json({"eq": ["k", {"a": 1}]}) == (g.key("k") == {"a": 1})
    assert Guard.from_json({"one_of": ["k", 1, 2]}) == g.key("k").in_(1, 2)


def test_joining_none_is_always_or_never():
    assert g.all_of() == g.always()
    assert g.any_of() == ~g.always()
    assert g.all_of(g.is_set("a")) == g.is_set("a")


def test_one_and_true_and_one_point_nought_are_different_literals():
    assert len({g.eq("k", 1), g.eq("k", True), g.eq("k", 1.0)}) == 3


@pytest.mark.parametrize("use", [bool, lambda guard: guard and guard, lambda guard: not guard])
def test_a_guard_in_a_condition_raises_with_the_cure(use):
    with pytest.raises(TypeError, match="join guards by"):
        use(g.is_set("a"))


def test_a_python_chain_raises_with_the_cure():
    with pytest.raises(TypeError, match="between"):
        1 <= g.key("x") <= 20  # noqa: B015 # pyright: ignore
    assert str(g.key("x").between(1, 20)) == "1 <= x <= 20"


def test_an_operand_has_no_truth_and_no_hash():
    with pytest.raises(TypeError, match="compare it"):
        bool(g.key("x"))
    with pytest.raises(TypeError, match="unhashable"):
        {g.key("x")}


def test_only_guards_are_joined():
    with pytest.raises(TypeError):
        g.is_set("a") & "is_set(b)"  # pyright: ignore


@pytest.mark.parametrize(
    "build",
    [
        lambda: g.is_true(""),
        lambda: g.is_true(3),
        lambda: g.captured(),
        lambda: g.captured(["a"]),
        lambda: g.is_set("\ud800"),
        lambda: g.key("x") == None,  # noqa: E711
        lambda: g.key("x") == float("nan"),
        lambda: g.key("x") == object(),
        lambda: g.key("x") < True,
        lambda: g.key("x").in_(None),
        lambda: g.key("x").matches("("),
        lambda: g.key("x").matches("a\\"),
        lambda: g.key("x").matches(3),
        lambda: g.elapsed() >= 30,
        lambda: g.elapsed() == "30s",
        lambda: g.elapsed() < g.key("limit"),
        lambda: g.decided("x", True, at_least=1),
        lambda: g.decided("x", 1),
        lambda: g.decided("x", at_most=True),
        lambda: g.one_of("x"),
        lambda: g.compare(1),
        lambda: g.compare(1, "<"),
        lambda: g.compare(g.key("x"), "is", 1),
    ],
)
def test_a_guard_that_makes_no_sense_cannot_be_built(build):
    with pytest.raises(GuardError):
        build()


@pytest.mark.parametrize(
    "form",
    [False, None, 3, [], {}, {"is_set": "a", "done": "b"}, {"all": "is_set(a)"}, {"is_set": 3},
     {"captured": "a"}, {"captured": []}, {"compare": []}, {"compare": [1, 2, 3]}, {"eq": ["k"]},
     {"compare": [{"kye": "x"}, "==", 1]}, {"decided": {"answer": True}}, {"decided": {}},
     {"compare": [{"key": "x", "arg": "y"}, "==", 1]}, {"one_of": []}, {"all": [None]}],
)  # fmt: skip
def test_a_json_form_that_is_no_guard_is_an_error(form):
    with pytest.raises(GuardError):
        Guard.from_json(form)


@pytest.mark.parametrize(
    ("short", "text"),
    [
        ("agrees", "decided(agrees)"),
        ({"agrees": True}, "decided(agrees)"),
        ({"id": "agrees", "answer": True}, "decided(agrees)"),
        ({"agrees": False}, "decided(agrees, false)"),
        ({"wish": "refill"}, 'decided(wish, "refill")'),
        ({"anger": {"at_least": 3}}, "decided(anger, at_least=3)"),
        ({"anger": {"at_most": 1.5}}, "decided(anger, at_most=1.5)"),
        ({"anger": {"at_least": 1, "at_most": 2}}, "decided(anger, at_least=1, at_most=2)"),
        ({"id": "answer"}, "decided(answer)"),
    ],
)
def test_a_question_may_be_followed_by_what_is_expected_of_it(short, text):
    guard = Guard.from_json({"decided": short})
    assert guard == Guard.parse(text)
    assert Guard.from_json(guard.to_json()) == guard


def test_both_spellings_of_an_answer_give_one_form():
    by_name = Guard.from_json({"decided": {"id": "agrees", "answer": False}})
    short = Guard.from_json({"decided": {"agrees": False}})
    assert short.to_json() == by_name.to_json() == {"decided": {"id": "agrees", "answer": False}}


@pytest.mark.parametrize(
    "body",
    [
        None, True, 3, [], ["agrees"], {}, {"agrees": None}, {"agrees": 1}, {"agrees": {}},
        {"agrees": ["yes"]}, {"agrees": True, "angry": True}, {"answer": True}, {"id": True},
        {"anger": {"at_least": None}}, {"anger": {"at_least": True}}, {"anger": {"least": 3}},
        {"id": "anger", "at_least": None}, {"id": "anger", "more": 3},
    ],
)  # fmt: skip
def test_anything_else_under_decided_is_an_error_with_the_cure(body):
    with pytest.raises(GuardError) as caught:
        Guard.from_json({"decided": body})
    assert '{"decided": "agrees"}' in str(caught.value) or "are numbers" in str(caught.value)


def test_a_misspelt_bound_is_named():
    with pytest.raises(GuardError, match="Did you mean 'at_least'"):
        Guard.from_json({"decided": {"anger": {"at_leats": 3}}})


def test_a_near_miss_is_named():
    with pytest.raises(GuardError, match="'captured'"):
        Guard.from_json({"captrued": ["a"]})


def test_deep_json_is_an_error_not_a_crash():
    form: object = {"is_set": "a"}
    for _ in range(5_000):
        form = {"not": form}
    with pytest.raises(GuardError, match="50 deep"):
        Guard.from_json(form)
    value: object = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(GuardError):
        g.eq("k", value)
