"""Patterns: when a condition over time fires, and when it may fire again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.state import Pattern, Progress
from flowengine.state.patterns import advance, due_at


def fired(pattern: Pattern, inputs: list[tuple[int, bool, bool]]) -> list[int]:
    """The instants at which it fires; each input is (now, the condition holds, a turn closed)."""
    progress, times = Progress(), []
    for now, holds, turn in inputs:
        progress, fires = advance(pattern, progress, holds, now, turn)
        times += [now] if fires else []
    return times


def holding(*times: int, turn: bool = False) -> list[tuple[int, bool, bool]]:
    return [(now, True, turn) for now in times]


SUSTAINED = Pattern("upset", sustained=30)
TURNS = Pattern("stuck", turns=3)
RATE = Pattern("often", rate=(3, 100))


def test_sustained_fires_once_an_episode_and_arms_again_on_false() -> None:
    assert fired(SUSTAINED, holding(0, 29, 30, 31, 500)) == [30]
    again = [*holding(0, 30), (40, False, False), *holding(50, 79, 80)]
    assert fired(SUSTAINED, again) == [30, 80]


def test_an_interruption_starts_the_span_anew() -> None:
    assert fired(SUSTAINED, [*holding(0, 20), (25, False, False), *holding(26, 50, 56)]) == [56]


def test_the_next_instant_at_which_it_can_fire_is_known() -> None:
    progress, _ = advance(SUSTAINED, Progress(), True, 100, False)
    assert due_at(SUSTAINED, progress) == 130
    progress, fires = advance(SUSTAINED, progress, True, 130, False)
    assert fires
    assert due_at(SUSTAINED, progress) is None
    progress, _ = advance(SUSTAINED, progress, False, 140, False)
    assert due_at(SUSTAINED, progress) is None
    for pattern in (TURNS, RATE):
        assert due_at(pattern, advance(pattern, Progress(), True, 0, True)[0]) is None


def test_turns_count_turns_and_never_timers() -> None:
    assert fired(TURNS, holding(*range(100))) == []
    assert fired(TURNS, holding(1, 2, turn=True) + holding(3, 4, 5)) == []
    assert fired(TURNS, holding(1, 2, turn=True) + holding(3) + holding(4, 5, turn=True)) == [4]


def test_turns_must_follow_each_other() -> None:
    broken = [*holding(1, 2, turn=True), (3, False, True), *holding(4, 5, 6, turn=True)]
    assert fired(TURNS, broken) == [6]


def test_a_rate_slides_and_fires_once_while_it_is_kept_up() -> None:
    assert fired(RATE, holding(0, 50, 99, turn=True)) == [99]
    assert fired(RATE, holding(0, 50, 100, turn=True)) == []
    assert fired(RATE, holding(0, 10, 20, 30, 40, turn=True)) == [20]
    assert fired(RATE, holding(0, 10, 20, 300, 310, 320, turn=True)) == [20, 320]


@pytest.mark.parametrize("timer", [[], [(110, False, False)]], ids=["unseen", "seen"])
def test_a_rate_that_falls_and_rises_again_is_a_new_episode_whoever_looked(
    timer: list[tuple[int, bool, bool]],
) -> None:
    inputs = [*holding(0, 50, 99, turn=True), *timer, *holding(120, 130, turn=True)]
    assert fired(RATE, inputs) == [99, 120]


def test_a_rate_counts_neither_timers_nor_turns_on_which_it_does_not_hold() -> None:
    assert fired(RATE, holding(0, 10, 20, 30)) == []
    mixed = [(0, True, True), (10, False, True), (20, True, True), (30, True, False)]
    assert fired(RATE, mixed) == []


def test_a_rate_arms_again_when_its_window_empties_by_a_timer() -> None:
    inputs = [*holding(0, 1, 2, turn=True), (200, False, False), *holding(210, 211, 212, turn=True)]
    assert fired(RATE, inputs) == [2, 212]


@pytest.mark.parametrize(
    ("pattern", "inputs", "times"),
    [
        (Pattern("p", sustained=10, cooldown=100),
         [*holding(0, 10), (20, False, False), *holding(30, 40, 109, 110)], [10, 110]),
        (Pattern("p", turns=1, cooldown=100),
         [(0, True, True), (1, False, True), (2, True, True), (101, True, True)], [0, 101]),
        (Pattern("p", rate=(1, 10), cooldown=100),
         [(0, True, True), (20, True, True), (99, True, True), (100, True, True)], [0, 100]),
    ],
)  # fmt: skip
def test_a_cooldown_holds_a_new_episode_back(
    pattern: Pattern, inputs: list[tuple[int, bool, bool]], times: list[int]
) -> None:
    assert fired(pattern, inputs) == times


def test_a_cooldown_moves_the_next_instant_too() -> None:
    pattern = Pattern("p", sustained=10, cooldown=100)
    progress = Progress()
    for now, holds in ((0, True), (10, True), (20, False), (30, True)):
        progress, _ = advance(pattern, progress, holds, now, False)
    assert due_at(pattern, progress) == 110


INPUTS = st.lists(st.tuples(st.integers(0, 40), st.booleans(), st.booleans()), max_size=20)


@given(INPUTS, st.sampled_from([0, 25]))
def test_asking_at_the_instants_it_names_misses_no_firing(
    steps: list[tuple[int, bool, bool]], cooldown: int
) -> None:
    """A step's condition lasts until the next step; polling it every ms fires no sooner."""
    pattern = Pattern("p", sustained=15, cooldown=cooldown)

    def run(polling: bool) -> list[int]:
        progress, now, times, held = Progress(), 0, [], False
        for wait, holds, turn in steps:
            end = now + wait
            while True:
                due = now + 1 if polling else due_at(pattern, progress)
                if due is None or due >= end:
                    break
                now = max(due, now)
                progress, fires = advance(pattern, progress, held, now, False)
                times += [now] if fires else []
            now, held = end, holds
            progress, fires = advance(pattern, progress, holds, now, turn)
            times += [now] if fires else []
        return times

    assert run(polling=False) == run(polling=True)


@given(INPUTS)
def test_it_never_fires_twice_without_the_condition_failing_in_between(
    steps: list[tuple[int, bool, bool]],
) -> None:
    for pattern in (Pattern("p", sustained=10), Pattern("p", turns=2)):
        progress, now, armed = Progress(), 0, True
        for wait, holds, turn in steps:
            now += wait
            progress, fires = advance(pattern, progress, holds, now, turn)
            assert not fires or (armed and holds)
            armed = (armed and not fires) or not holds
