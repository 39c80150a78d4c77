"""When a guard holds, when it does not, and when that is unknown."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowengine import guards as g
from flowengine.errors import FunctionError, GuardError
from flowengine.guards import Decision, Guard, compile_guard
from flowengine.state.evidence import Evidence

VALUES: dict[str, Any] = {
    "yes": True, "no": False, "one": 1, "half": 0.5, "text": "refund me", "nothing": None,
    "list": [1, "a", {"b": True}], "order": {"id": 7, "lines": [{"sku": "x"}], "gone": None},
    "derived:risk": "high", "decimal": "10.00", "date": "2026-03-04", "time": "15:30",
    "datetime": "2026-03-04T15:30+01:00", "duration": "PT1M30S", "string": "10.0",
    "soon": "soon", "int_dec": 10, "day": "2026-03-05",
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("always", True),
        ("is_true(yes)", True),
        ("is_true(no)", False),
        ("is_true(one)", False),
        ("is_true(gone)", False),
        ("is_set(no)", True),
        ("is_set(nothing)", False),
        ("captured([yes, no, one])", True),
        ("captured([yes, gone])", False),
        ("captured([yes, nothing])", False),
        ("is_set(risk)", True),
        ("risk == 'high'", True),
        ("derived:risk == 'high'", True),
        ("captured([risk, derived:risk])", True),
        # equality is total
        ("one == 1.0", True),
        ("one == true", False),
        ("yes == 1", False),
        ("yes == true", True),
        ("gone == 1", False),
        ("not (gone == 1)", True),
        ("list == [1.0, 'a', {\"b\": true}]", True),
        ("list == [1, 'a', {\"b\": 1}]", False),
        ("list == [1, 'a']", False),
        ("order == {\"id\": 7}", False),
        ("text == one", False),
        ("gone == gone", False),
        ("one in [2, 1.0]", True),
        ("yes in [1]", False),
        ("gone in [1]", False),
        ("1 in list", True),
        ("{\"b\": true} in list", True),
        ("'a' in text", False),
        ("'a' in gone", False),
        # difference and order are unknown where they mean nothing
        ("one != 2", True),
        ("one != 1.0", False),
        ("one != 'a'", None),
        ("yes != 1", None),
        ("yes != false", True),
        ("gone != 1", None),
        ("not (gone != 1)", None),
        ("list != [1]", True),
        ("one > 0.5", True),
        ("one >= half", True),
        ("half < one <= 1", True),
        ("half < one < 1", False),
        ("gone < one < 1", False),
        ("gone < one <= 1", None),
        ("yes > 0", None),
        ("text > 1", None),
        ("text > 'a'", True),
        ("text < one", None),
        ("list > list", None),
        ("gone > 1", None),
        ("1 > gone", None),
        ("text matches '^refund\\b'", True),
        ("text matches 'x'", False),
        ("one matches '1'", None),
        ("gone matches ''", None),
        # paths
        ("order.id == 7", True),
        ("order.lines.0.sku == 'x'", True),
        ("order.lines.1.sku == 'x'", False),
        ("order.lines.x == 1", False),
        ("order.id.deeper == 1", False),
        ("is_set(order.gone)", False),
        ("captured([order.id, yes])", True),
        ("is_true(order.id)", False),
        # three values
        ("gone > 1 and is_set(gone)", False),
        ("gone > 1 and is_set(one)", None),
        ("gone > 1 or is_set(one)", True),
        ("gone > 1 or is_set(gone)", None),
        ("not (gone > 1)", None),
        # declared types
        ("decimal == 10", True),
        ("decimal == '10.0'", True),
        ("decimal == string", True),
        ("decimal == int_dec", True),
        ("decimal in [3, '10.000']", True),
        ("9.99 < decimal < 11", True),
        ("decimal > text", None),
        ("decimal == text", False),
        ("decimal != text", None),
        ("decimal != yes", None),
        ("decimal in list", False),
        ("date > '2026-02-28'", True),
        ("date < day", True),
        ("day > date", True),
        ("date < soon", None),
        ("time >= '09:00'", True),
        ("datetime < '2026-03-04T14:31+00:00'", True),
        ("datetime < '2026-03-04T14:31'", None),
        ("duration >= 30s", True),
        ("duration == 90s", True),
        ("duration == 'PT90S'", True),
        ("string == '10.00'", False),
    ],
)  # fmt: skip
def test_truth_of_a_guard(ask, text, truth):
    assert ask(text, **VALUES) is truth


def test_the_longest_existing_key_wins_over_a_path(ask):
    values: Any = {"a.b": 1, "a": {"b": 2, "c": 3}, "x.y": {"z": 1}, "x": {"y": {"z": 2, "w": 3}}}
    assert ask("a.b == 1", **values)
    assert ask("a.c == 3", **values)
    assert ask("x.y.z == 1", **values)
    assert ask("x.y.w == 3", **values) is False


def test_a_key_that_never_falls_back_does_not_read_derived(ask):
    assert ask("is_true(trusted)", **{"derived:trusted": True}) is False
    assert ask("is_true(other)", **{"derived:other": True})


def test_a_match_looks_at_the_first_ten_thousand_characters(ask):
    assert ask("note matches 'x'", note="a" * 9_999 + "x")
    assert ask("note matches 'x'", note="a" * 10_000 + "x") is False


def test_text_that_is_no_unicode_is_matched_all_the_same(ask):
    assert ask("note matches 'x$'", note="\ud800x")


def test_progress_is_asked_of_the_view(ask, moment):
    words = ("resolved", "failed", "called_ok", "done", "in_phase", "corrected")
    view = moment(yes=frozenset((word, "n") for word in words))
    for word in words:
        assert ask(f"{word}(n)", view) is True
        assert ask(f"{word}(other)", view) is False


def test_a_phase_named_like_a_derived_key_keeps_its_name(ask, moment):
    assert ask("done(derived:n)", moment(yes=frozenset({("done", "derived:n")})))
    assert ask("corrected(derived:n)", moment(yes=frozenset({("corrected", "n")})))


def test_time_and_turns_are_those_of_the_owning_phase(keys, moment):
    view = moment(times={"p": 30_000, None: 5}, turns={"p": 3}, spoke={"p": True})
    guard = Guard.parse("elapsed >= 30s and turns_in_phase == 3 and caller_spoke")
    assert compile_guard(guard, keys, phase="p").test(view)
    assert not compile_guard(guard, keys).test(view)


def test_call_arguments_are_read_like_keys_but_have_no_derived_form(ask, moment):
    view = moment(values={"amount": 5}, args={"amount": 5, "card": {"last4": "1111"}})
    assert ask("args.amount == amount", view)
    assert ask("args.card.last4 == '1111'", view)
    assert ask("args.missing == 1", view) is False
    assert ask("args.missing > 1", view) is None


def test_evidence_is_that_of_the_value_read(ask, moment):
    view = moment(
        values={"derived:dob": "x", "name": "y", "trusted": 1},
        evidence={
            "derived:dob": Evidence("record:r", span=(0, 3), confidence=0.9),
            "name": Evidence("extractor:e", confidence=0.4),
            "derived:name": Evidence("extractor:e", span=(0, 1)),
        },
    )
    assert ask("grounded(dob) and confidence(dob) >= 0.8", view)
    assert ask("grounded(name)", view) is False
    assert ask("confidence(name) >= 0.8", view) is False
    assert ask("grounded(trusted)", view) is False
    assert ask("confidence(trusted) >= 0.8", view) is None
    assert ask("grounded(gone)", view) is False


@pytest.mark.parametrize(
    ("text", "decision", "truth"),
    [
        ("decided(d)", None, None),
        ("decided(d)", Decision("unsure"), None),
        ("not decided(d)", Decision("unsure"), None),
        ("decided(d)", Decision("yes", True), True),
        ("decided(d)", Decision("chosen", "x"), True),
        ("decided(d)", Decision("scored", 2), True),
        ("decided(d)", Decision("no", False), False),
        ("decided(d)", Decision("none"), False),
        ("decided(d, false)", Decision("no", False), True),
        ("decided(d, false)", Decision("none"), True),
        ("decided(d, false)", Decision("yes", True), False),
        ("decided(d, x)", Decision("chosen", "x"), True),
        ("decided(d, x)", Decision("chosen", "y"), False),
        ("decided(d, x)", Decision("none"), False),
        ("decided(d, at_least=2)", Decision("scored", 2), True),
        ("decided(d, at_least=2)", Decision("scored", 1), False),
        ("decided(d, at_least=1, at_most=2)", Decision("scored", 3), False),
        ("decided(d, at_most=2)", Decision("yes", True), False),
        ("decided(d, at_most=2)", None, None),
    ],
)
def test_a_decision_satisfies_what_it_answers_and_nothing_when_unsure(
    ask, moment, text, decision, truth
):
    view = moment(decisions={"d": decision} if decision else {})
    assert ask(text, view) is truth


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("is_true(k)", None),
        ("not is_true(k)", None),
        ("is_set(k)", None),
        ("is_set(derived:k)", None),
        ("k == true", None),
        ("k.field == 1", None),
        ("other == k", None),
        ("grounded(k)", None),
        ("confidence(k) > 0", None),
        ("captured([k, other])", None),
        ("captured([k, gone])", False),
        ("is_true(other)", True),
        ("corrected(k)", False),
        ("is_true(k) or is_true(other)", True),
    ],
)
def test_a_held_key_makes_what_reads_it_unknown(ask, moment, text, truth):
    view = moment(values={"k": True, "other": True}, holding=frozenset({"k"}))
    assert ask(text, view) is truth


def test_held_is_not_asked_while_nothing_is_held(keys, moment):
    class Idle(moment):
        def held(self, key: str) -> bool:
            raise AssertionError("asked")

    for text in ("is_true(k)", "captured([k, k])", "k == true", "not is_set(gone)"):
        assert compile_guard(Guard.parse(text), keys).test(Idle(values={"k": True}))


def test_a_custom_function_gets_the_state_and_its_truthiness_counts(keys, moment):
    functions = {"rich": lambda state: state["balance"] > 10}
    compiled = compile_guard(g.custom("rich"), keys, functions=functions)
    assert compiled.test(moment(state={"balance": 11}))
    assert compiled.truth(moment(state={"balance": 9})) is False


def test_a_custom_function_that_raises_names_itself_and_not_what_it_saw(keys, moment):
    compiled = compile_guard(g.custom("f"), keys, functions={"f": lambda state: state["Jane"]})
    with pytest.raises(FunctionError, match=r"^guard 'f' raised KeyError$") as caught:
        compiled.test(moment(state={}))
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_unknown_or_async_custom_function_is_an_error_when_compiled(keys):
    with pytest.raises(GuardError, match="Did you mean 'is_ready'"):
        compile_guard(g.custom("is_raedy"), keys, functions={"is_ready": bool})

    async def slow(state: object) -> bool:
        return True

    with pytest.raises(GuardError, match="async"):
        compile_guard(g.custom("slow"), keys, functions={"slow": slow})  # pyright: ignore


@pytest.mark.parametrize("text", ["date > 'tomorow'", "decimal in [1, 'x']", "duration < true"])
def test_a_literal_that_the_keys_type_cannot_hold_is_an_error_when_compiled(ask, text):
    with pytest.raises(GuardError):
        ask(text)


# An independent reading of the same rules, over the JSON form.

SIMPLE = st.sampled_from([0, 1, 1.0, 2, True, False, "a", "b", [1], {"f": 1}])
STATES = st.dictionaries(
    st.sampled_from(["a", "b", "derived:a", "derived:c"]), SIMPLE | st.none(), max_size=4
)
SIDES = st.sampled_from("abc").map(g.key) | SIMPLE
ORDERED = st.sampled_from("abc").map(g.key) | st.sampled_from([0, 1, 1.5, "a"])
LEAVES = st.one_of(
    st.sampled_from("abc").map(g.is_true),
    st.sampled_from("abc").map(g.is_set),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(lambda names: g.captured(*names)),
    st.builds(g.compare, SIDES, st.sampled_from(["==", "!="]), SIDES),
    st.builds(g.compare, ORDERED, st.sampled_from(["<", ">="]), ORDERED),
    st.builds(g.compare, ORDERED, st.sampled_from(["<", "<="]), ORDERED, st.just("<="), ORDERED),
)
GUARDS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: g.all_of(*parts)),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: g.any_of(*parts)),
        inner.map(g.not_),
    ),
    max_leaves=6,
)
RANK = {False: 0, None: 1, True: 2}
TRUTHS = {0: False, 1: None, 2: True}


def oracle(form: Any, state: dict[str, Any]) -> bool | None:
    ((word, body),) = form.items()
    if word in ("all", "any"):
        ranks = [RANK[oracle(part, state)] for part in body]
        return TRUTHS[min(ranks) if word == "all" else max(ranks)]
    if word == "not":
        return TRUTHS[2 - RANK[oracle(body, state)]]
    if word == "compare":
        pairs = [_relate(body[n : n + 3], state) for n in range(0, len(body) - 2, 2)]
        return TRUTHS[min(RANK[pair] for pair in pairs)]
    if word == "captured":
        return all(_value({"key": name}, state) is not None for name in body)
    value = _value({"key": body}, state)
    return value is True if word == "is_true" else value is not None


def _relate(triple: list[Any], state: dict[str, Any]) -> bool | None:
    left, op, right = _value(triple[0], state), triple[1], _value(triple[2], state)
    if op == "==":
        return (
            left is not None and right is not None and _sort(left) == _sort(right) and left == right
        )
    if left is None or right is None or _sort(left) != _sort(right):
        return None
    if op == "!=":
        return left != right
    if _sort(left) not in ("number", "str"):
        return None
    return {"<": left < right, "<=": left <= right, ">=": left >= right}[op]


def _value(term: Any, state: dict[str, Any]) -> Any:
    if isinstance(term, dict) and "value" in term:
        return term["value"]
    if not isinstance(term, dict):
        return term
    value = state.get(term["key"])
    return state.get("derived:" + term["key"]) if value is None else value


def _sort(value: Any) -> str:
    return "number" if type(value) in (int, float) else type(value).__name__


@settings(max_examples=600, deadline=None)
@given(guard=GUARDS, state=STATES)
def test_compiled_guards_agree_with_a_plain_reading_of_the_rules(keys, ask, moment, guard, state):
    assert ask(guard, moment(values=state)) is oracle(guard.to_json(), state)


@settings(max_examples=300, deadline=None)
@given(guard=GUARDS, state=STATES, extra=STATES)
def test_what_a_guard_does_not_read_does_not_change_it(keys, moment, guard, state, extra):
    compiled = compile_guard(guard, keys)
    kept = {k: v for k, v in extra.items() if k.removeprefix("derived:") not in compiled.reads}
    read = {k: v for k, v in state.items() if k.removeprefix("derived:") in compiled.reads}
    assert compiled.truth(moment(values=state)) is compiled.truth(moment(values={**kept, **read}))
