"""A compiled guard knows what it depends on."""

import pytest

from flowengine import guards as g
from flowengine.guards import Guard, compile_guard


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("always", set()),
        ("is_true(derived:x) and is_set(x)", {"x"}),
        ("captured([a, b])", {"a", "b"}),
        ("a == b", {"a", "b"}),
        ("identity.verified == true", {"identity", "identity.verified"}),
        ("resolved(r) and failed(r)", {"@resolved:r"}),
        ("called_ok(t)", {"@called:t"}),
        ("done(p) and in_phase(q)", {"@done:p", "@phase"}),
        ("caller_spoke or turns_in_phase > 1", {"@turn"}),
        ("corrected(derived:k)", {"@corrected:k"}),
        ("decided(d)", {"@decided:d"}),
        ("elapsed > 3s", {"@elapsed"}),
        ("args.x == x", {"@args", "x"}),
        ("grounded(k) and confidence(derived:k) > 0.5", {"k", "@evidence:k"}),
    ],
)
def test_reads(keys, text, reads):
    assert compile_guard(Guard.parse(text), keys).reads == reads


def test_a_custom_function_reads_anything_unless_it_says_what(keys):
    def open_ended(state: object) -> bool:
        return True

    def declared(state: object) -> bool:
        return True

    declared.reads = ("derived:a", "b")  # pyright: ignore[reportFunctionMemberAccess]
    functions = {"open": open_ended, "declared": declared}
    assert compile_guard(g.custom("open"), keys, functions=functions).reads == {"@any"}
    assert compile_guard(g.custom("declared"), keys, functions=functions).reads == {"a", "b"}


def test_only_elapsed_is_volatile_and_tells_when_it_may_change(keys):
    timed = compile_guard(Guard.parse("elapsed >= 30s or 10s < elapsed <= 20s"), keys)
    assert timed.volatile
    assert timed.thresholds == (10_001, 20_001, 30_000)
    still = compile_guard(Guard.parse("turns_in_phase > 3"), keys)
    assert (still.volatile, still.thresholds) == (False, ())


@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("swapped", [False, True])
def test_the_answer_changes_at_the_threshold_and_not_before(keys, moment, op, swapped):
    guard = g.compare("30s", op, g.elapsed()) if swapped else g.compare(g.elapsed(), op, "30s")
    compiled = compile_guard(guard, keys, phase="p")
    (at,) = compiled.thresholds
    answers = [compiled.test(moment(times={"p": time})) for time in (0, at - 1, at, at + 9)]
    assert answers[0] is answers[1] is not answers[2] is answers[3]


def test_a_compiled_guard_shows_its_text(keys):
    assert compile_guard(g.captured("a", "b"), keys).text == "captured([a, b])"
