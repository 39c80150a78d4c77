"""Where conversation systems are known to go wrong, part one: what is heard and remembered.

Each as a short call on a small flow, through the public door alone. Most of these rules have tests
of their own beside the code; here they stand end to end.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from flowengine import Functions, Ran, Session, loads, recognize
from flowengine.facts import PatternFired, WatcherFired
from flowengine.testing import Failure, Simulation


def simulated(text: str, functions: Functions | None = None, **options: Any) -> Simulation:
    return Simulation(loads(text), functions=functions, **options)


# -- State, computed keys, watchers, patterns -----------------------------------------------------

MOOD = """
flow: mood
extract:
  - name: Mood
    schema: {type: object, properties: {mood: {type: string}, topic: {type: string}}}
computed:
  risk: {of: DERIVEDscore, map: {"1": high}, else: low}
  score: {of: mood, map: {angry: 1, calm: 9}}
watch:
  - {key: risk, changed_to: high, do: [{set: {alert: true}}]}
phases:
  talk:
    initial: true
    transitions:
      - {to: calm_down, when: captured(risk) and is_true(alert)}
  calm_down: {}
"""


@pytest.mark.parametrize("prefix", ["", "derived:"])
def test_a_computed_key_follows_in_the_same_turn_however_its_source_is_spelled(prefix: str) -> None:
    call = simulated(MOOD.replace("DERIVED", prefix))
    call.turn("calm", extract={"Mood": {"mood": "calm"}})
    assert call.state["risk"] == "low"
    call.turn("that is outrageous", extract={"Mood": {"mood": "angry"}})
    assert call.state["risk"] == "high"


def test_a_guard_sees_a_computed_key_and_what_a_watcher_wrote_in_the_same_turn() -> None:
    call = simulated(MOOD.replace("DERIVED", ""))
    call.turn("that is outrageous", extract={"Mood": {"mood": "angry"}})
    assert call.state["alert"] is True
    assert call.phase == "calm_down"


def test_a_computed_key_that_has_no_value_any_more_is_gone() -> None:
    call = simulated(MOOD.replace("DERIVED", ""))
    call.turn("calm", extract={"Mood": {"mood": "calm"}})
    assert call.state["score"] == 9
    call.turn("well", extract={"Mood": {"mood": "undecided"}})
    assert call.state.get("score") is None


def test_an_extraction_without_rules_lands_under_derived_and_null_erases_nothing() -> None:
    call = simulated(MOOD.replace("DERIVED", ""))
    call.turn("calm", extract={"Mood": {"mood": "calm", "topic": "the bill"}})
    call.turn("hm", extract={"Mood": {"mood": None, "topic": "a refund"}})
    assert call.state["derived:mood"] == "calm"
    assert call.state["derived:topic"] == "a refund"
    assert "mood" not in call.snapshot.values


PATTERNS = """
flow: patterns
patterns:
  - {name: stuck, when: in_phase(talk), turns: 3, do: [{set: {stuck: true}}]}
  - {name: upset, when: is_true(angry), sustained: 2s, do: [{set: {upset: true}}]}
  - {name: hurried, when: always, rate: {count: 3, within: 10s}, cooldown: 1m, do: [{set: {hurried: true}}]}
phases: {talk: {initial: true}}
"""  # noqa: E501


def fired(call: Simulation, name: str) -> int:
    return call.facts.count(PatternFired(name))


def test_a_count_of_turns_is_not_moved_by_the_clock() -> None:
    call = simulated(PATTERNS, state={"angry": True})
    call.turn("one")
    call.advance("1m")
    assert fired(call, "stuck") == 0
    call.turn("two")
    call.turn("three")
    assert fired(call, "stuck") == 1


def test_a_pattern_acts_once_while_its_condition_goes_on() -> None:
    call = simulated(PATTERNS, state={"angry": True})
    for _ in range(6):
        call.advance("30s")
        call.turn("and another thing")
    assert fired(call, "upset") == 1
    assert fired(call, "stuck") == 1


TOOL_WATCHER = """
flow: watched
tools: {verify: {set: {verified: result.ok}, respond: {ok: true}}}
watch:
  - {key: verified, became_true: true, do: [{set: {welcome: true}}]}
  - {key: welcome, became_true: true, do: [{set: {greeted: true}}]}
phases:
  talk: {initial: true, transitions: [{to: next, when: is_true(greeted)}]}
  next: {transitions: [{to: last, when: is_true(verified)}]}
  last: {}
"""


def test_what_a_tool_writes_is_watched_and_watchers_set_each_other_off_at_once() -> None:
    call = simulated(TOOL_WATCHER)
    assert call.tool("verify") == Ran({"ok": True})
    fired_keys = [fact.key for fact in call.facts if isinstance(fact, WatcherFired)]
    assert fired_keys == ["verified", "welcome"]
    assert call.phase == "last", "and two phases are passed in one step"


def test_data_says_all_that_code_can_say_of_patterns_watchers_and_triggers() -> None:
    flow = loads("""
flow: parity
extract: [{name: Mood, schema: {properties: {mood: {}}}, trigger: {interval: 3}}]
watch:
  - {key: mood, changed_from: calm, do: [{set: {lost: true}}]}
  - {key: mood, custom: worse, do: [{set: {worse: true}}]}
patterns:
  - {name: fast, when: always, rate: {count: 3, within: 1m}, cooldown: 2m, do: [{set: {fast: true}}]}
phases: {talk: {initial: true}}
""")  # noqa: E501
    functions = Functions()
    functions.watcher(worse)
    call = Simulation(flow, functions=functions)
    call.set("mood", "calm")
    call.set("mood", "angry")
    assert call.state["lost"] is True
    assert call.state["worse"] is True


def worse(old: Any, new: Any) -> bool:
    return (old, new) == ("calm", "angry")


# -- hearing --------------------------------------------------------------------------------------

ORDER = """
flow: order
records:
  order:
    fields:
      quantity: {recognize: {integer_near: [want, make it, pizzas]}}
      agreed: {recognize: yes_no, when_asked: true, asks: [is that right]}
extract:
  - {name: Size, schema: {type: object, properties: {size: {type: string}}}, trigger: {interval: 2}, min_words: 2}
phases: {order: {initial: true, needs: [quantity]}}
"""  # noqa: E501


def test_a_number_said_later_replaces_the_earlier_one() -> None:
    call = simulated(ORDER)
    call.turn("I want four pizzas")
    call.turn("make it five")
    assert call.state["quantity"] == 5


def test_a_live_call_hears_a_later_number_as_the_simulator_does() -> None:
    flow = loads(ORDER.split("extract:")[0] + "phases: {a: {initial: true}}")

    async def talk() -> Any:
        async with Session(flow) as call:
            await call.turn("I want four pizzas")
            return (await call.turn("make it five")).state["quantity"]

    assert asyncio.run(talk()) == 5


def test_an_old_yes_answers_no_new_question_and_the_models_yes_none_at_all() -> None:
    call = simulated(ORDER)
    call.turn("yes", "Sure, yes, you want four pizzas. Is that right?")
    assert call.state.get("agreed") is None
    call.turn("four pizzas please", "Four pizzas, is that right?")
    assert call.state.get("agreed") is None
    call.turn("yes")
    assert call.state["agreed"] is True


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("money", "$1250", "1250"),
        ("money", "4250 dollars", "4250"),
        ("integer", "four people", 4),
        ("time", "half past six", "18:30"),
        ("date", "March 14th", "2026-03-14"),
    ],
)
def test_what_people_say_is_read_whole(kind: str, text: str, value: Any) -> None:
    options = {"hours": (11, 23)} if kind == "time" else {}
    found = recognize(kind, text, ref=datetime(2026, 3, 4, 10, 30), **options)
    assert [str(each.value) for each in found] == [str(value)]


def test_an_option_inside_another_word_is_not_heard() -> None:
    assert recognize("one_of", "nonetheless", options=["none", "some"]) == []


def test_a_short_turn_uses_up_no_turn_of_an_interval() -> None:
    call = simulated(ORDER)
    call.turn("I want four pizzas")
    call.turn("Hm")
    call.turn("a large one please", extract={"Size": {"size": "large"}})
    assert call.state["size"] == "large"


def test_a_failed_extraction_does_not_lose_the_turn() -> None:
    seen: list[tuple[str, ...]] = []

    def read(window: Any, known: Any) -> dict[str, str]:
        seen.append(tuple(turn.user for turn in window))
        return {}

    text = ORDER.replace(", trigger: {interval: 2}, min_words: 2", ", window: 1")
    call = simulated(text, extractions={"Size": read})
    call.turn("a large one", extract={"Size": Failure()})
    call.turn("with mushrooms")
    assert seen == [("a large one", "with mushrooms")]
