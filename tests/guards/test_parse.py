"""What the text of a guard may say, and what it is told when it may not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowengine import guards as g
from flowengine.errors import GuardError
from flowengine.guards import Guard
from flowengine.guards.parse import parse


def wrong(text: str) -> GuardError:
    with pytest.raises(GuardError) as caught:
        Guard.parse(text)
    return caught.value


def read_or_error(text: str) -> Guard | GuardError:
    try:
        return Guard.parse(text)
    except GuardError as error:
        return error


@pytest.mark.parametrize(
    ("text", "guard"),
    [
        ("resolved(account) and is_true(identity_verified)",
         g.resolved("account") & g.is_true("identity_verified")),
        ("is_set(a) or is_set(b) and not is_set(c)",
         g.is_set("a") | (g.is_set("b") & ~g.is_set("c"))),
        ("sentiment_score < 0.3", g.key("sentiment_score") < 0.3),
        ("call_risk_level == high", g.key("call_risk_level") == g.key("high")),
        ("derived:x == -1.5e3", g.key("derived:x") == -1500.0),
        ("identity.verified == true", g.key("identity.verified") == True),  # noqa: E712
        ("付款 >= 3", g.key("付款") >= 3),
        ("नाम == 'x'", g.key("नाम") == "x"),
        ("`a ``b` != 1", g.key("a `b") != 1),
        ('done("my phase")', g.done("my phase")),
        ("in_phase(end)", g.in_phase("end")),
        ("confidence(dob) >= 0.8", g.confidence("dob") >= 0.8),
        ("turns_in_phase() >= 3", g.turns_in_phase() >= 3),
        ("items.0.name == 'x'", g.key("items.0.name") == "x"),
        ("{name}:status == 1".replace("{name}", "Debtor"), g.key("Debtor:status") == 1),
        ("custom(ready)", g.custom("ready")),
        ("done == true", g.key("done") == True),  # noqa: E712
        ("x in []", g.key("x").in_([])),
    ],
)  # fmt: skip
def test_text_says_what_python_says(text, guard):
    assert Guard.parse(text) == guard


@pytest.mark.parametrize(
    ("text", "offset", "length", "message"),
    [
        ("", 0, 1, "write always"),
        ("   ", 3, 1, "write always"),
        ("verified", 0, 8, "write is_true(verified)"),
        ("is_set(a) and verified", 14, 8, "write is_true(verified)"),
        ("elapsed", 0, 7, "compare it"),
        ("x = 3", 2, 1, "equality is written =="),
        ("x is true", 2, 2, "write =="),
        ("x == True", 5, 4, "write true"),
        ("x == None", 5, 4, "write null"),
        ("x == null", 0, 9, "not is_set(x)"),
        ("is_set(a) && is_set(b)", 10, 1, "write and"),
        ("is_set(a) || is_set(b)", 10, 1, "write or"),
        ("!is_set(a)", 0, 1, "write not"),
        ("is_set(a) AND is_set(b)", 10, 3, "write and"),
        ("x not in [1]", 2, 3, "not (x in"),
        ("x + 1 == 2", 2, 1, "computed key"),
        ("resolvd(account)", 0, 7, "'resolved'"),
        ("is_set(a) and eval('1')", 14, 4, "no function 'eval'"),
        ("captured([a, b)", 14, 1, "]"),
        ("captured([a", 9, 1, "quote the whole guard"),
        ("captured([a,", 12, 1, "a name"),
        ("is_set(a", 6, 1, "never closed"),
        ("is_true(a, b)", 9, 1, "stands where"),
        ("is_true()", 8, 1, "a name"),
        ("is_true(args.x)", 8, 6, "args.x == true"),
        ("captured(not)", 9, 3, 'it is "not"'),
        ("status in [open]", 11, 4, '"open"'),
        ("status in 'open'", 0, 16, "a list"),
        ("is_set(a) == true", 0, 9, "not compared"),
        ("1 < x in [1]", 0, 12, "chain"),
        ("x == 3x", 5, 2, "neither a number"),
        ("x == 007", 5, 3, "neither a number"),
        ("x == 1e999", 0, 10, "finite"),
        ("x == 'open", 5, 1, "not closed"),
        (r"x == '\d'", 5, 4, "backslash"),
        ("note matches 'a", 13, 1, "not closed"),
        ("note matches '('", 0, 16, "RE2"),
        ("note matches pattern", 0, 20, "quoted text"),
        ("elapsed > 3", 0, 11, "30s"),
        ("always and elapsed == 3s", 11, 13, "< <= > >="),
        ("decided(x, maybe=1)", 11, 5, "no 'maybe'"),
        ("decided(x, id='y')", 11, 2, "no 'id'"),
        ("decided(x, True)", 11, 4, "write true"),
        ("decided(x, yes, no)", 16, 2, "takes one answer"),
        ("is_set(a) is_set(b)", 10, 6, "stands where"),
        ("is_set(a b)", 9, 1, "stands where"),
        ("a@b == 1", 1, 1, "backquotes"),
        ("``== 1", 0, 1, "backquote"),
    ],
)
def test_what_is_wrong_is_located_and_comes_with_a_cure(text, offset, length, message):
    error = wrong(text)
    assert message in str(error)
    assert (error.text, error.offset, error.length) == (text, offset, length)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('id')",
        "x.__class__.__bases__ == 1",
        "().__class__",
        "''.__class__.__mro__[1] == 1",
        "is_set.__globals__ == 1",
        "is_set(a).b == 1",
        "[x for x in y] == 1",
        "{k: v for k in y} == 1",
        "lambda: 1",
        "(lambda: 1)()",
        "f'{x}' == 1",
        "x[0] == 1",
        "x := 1",
        "eval('1')",
        "exec(a)",
        "getattr(a, b) == 1",
        "custom(f)(x)",
        "`f`(x)",
        "'f'(x)",
        "x if y else z",
        "*x == 1",
        "x ** 9 == 1",
        "x; import os",
        "# comment",
        "${x} == 1",
        "{{x}} == 1",
        "x == \x00",
        "(" * 60 + "always" + ")" * 60,
        "not " * 60 + "always",
        "x == " + "[" * 60 + "]" * 60,
        "(" * 10_000,
        "[" * 10_000,
        "x" * 10_000,
        "captured(" + "a, " * 700 + "a)",
        r"note matches '(a)\1'",
        "note matches '(?=a)'",
        "note matches '(?<!a)b'",
        "note matches 'a{5000}'",
        "note matches '[z-a]'",
        "note matches 'a\\'",
    ],
)
def test_hostile_text_is_an_error_at_load(text):
    assert str(wrong(text))


def test_nesting_at_the_limit_is_read():
    assert Guard.parse("(" * 50 + "always" + ")" * 50) == g.always()


@given(
    st.text(max_size=60)
    | st.text(st.sampled_from(list("()[]{}`'\"\\,=<>!. ainotrdx1s")), max_size=40)
)
@settings(max_examples=400, deadline=None)
def test_any_text_is_a_guard_or_an_error_that_points_into_it(text):
    read = read_or_error(text)
    if isinstance(read, GuardError):
        assert read.text == text
        assert 0 <= read.offset <= len(text)
        assert read.length >= 1
    else:
        assert Guard.parse(str(read)) == read


@pytest.mark.parametrize(
    "piece", ["(", "[", "not ", "x == ", "captured([", "`", "'", "\\", "x<", "a.", "1h", '"\\']
)
def test_repetition_up_to_the_longest_text_is_refused(piece):
    wrong((piece * 2_000)[:2_000])


def test_the_parser_hands_out_the_json_form_and_knows_no_nodes():
    assert parse("captured([a])", lambda form: form) == {"captured": ["a"]}
    assert parse("1 < x and always", lambda form: form) == {
        "all": [{"compare": [1, "<", {"key": "x"}]}, {"always": True}]
    }
