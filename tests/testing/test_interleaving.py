"""Orders of arrival: all are tried, and where the order matters both are shown."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from flowengine import FlowError, loads
from flowengine.testing import (
    PENDING,
    End,
    Failure,
    Interleave,
    Never,
    Simulation,
    interleave,
    load_scenarios,
    run_scenario,
)

FLOW = """\
flow: orders
state: {mood: string, plan: string, looked: object, sent: object, note: string}
extract:
  - {name: Mood, schema: {properties: {mood: {enum: [calm, tense]}}}, TIMEOUT
     promote: [{field: mood, policy: overwrite}]}
  - {name: Plan, schema: {properties: {plan: {enum: [pay, wait]}}},
     promote: [{field: plan, policy: overwrite}]}
tools:
  look: {save_as: looked}
  send: {background: silent, save_as: sent}
  pay: {when: plan == 'pay'}
phases:
  start:
    initial: true
    transitions: [{to: left, on: leave}]
  left: {tools: []}
"""
PLAIN = loads("""
flow: plain
tools: {look: {save_as: looked}}
phases: {start: {initial: true}}
""")
ROBUST = loads(FLOW.replace("TIMEOUT", ""))
SLOW = loads(FLOW.replace("TIMEOUT", "timeout: 20s,"))
BOTH = {"Mood": {"mood": "calm"}, "Plan": {"plan": "pay"}}


def test_a_call_whose_order_does_not_matter_passes_and_tells_how_many_were_tried() -> None:
    call = Simulation(ROBUST)
    call.turn("I can pay", extract=BOTH)
    tried = interleave(call)
    assert tried.passed
    assert (tried.orders, tried.exhaustive) == (2, True)
    assert str(tried) == "2 orders tried, through 6 snapshots"


def test_orders_are_all_those_in_which_causes_come_first() -> None:
    """Three answers after their questions, free among each other: 3! orders."""
    flow = loads("""
flow: three
resolvers: {a: {}, b: {}, c: {}}
phases: {start: {initial: true, on_enter: [{resolve: a}, {resolve: b}, {resolve: c}]}}
""")
    call = Simulation(flow, resolutions={"a": 1, "b": 2, "c": 3})
    assert interleave(call).orders == len(list(permutations("abc")))


def test_an_answer_comes_between_words_and_calls_but_not_before_its_question() -> None:
    call = Simulation(ROBUST)
    call.tool("look", result=PENDING)
    call.hear("hm")
    call.resolve("look", {"found": 1})
    tried = interleave(call)
    assert tried.passed
    assert tried.orders == 2, "before the words, and after them"


def test_the_model_does_not_speak_on_without_the_answer_that_it_had() -> None:
    call = Simulation(PLAIN)
    call.tool("look", result={"found": 1})
    call.turn("and?", "I found one.")
    tried = interleave(call)
    assert tried.orders == 2, "only the caller's words may come before the answer"


def test_the_models_words_are_complete_only_after_the_answer_that_it_had() -> None:
    call = Simulation(PLAIN)
    call.turn("hello")
    call.tool("look", result={"found": 1})
    call.generate("I found one.")
    assert interleave(call).orders == 1


def test_a_tool_is_called_where_it_is_offered_whichever_name_it_was_told() -> None:
    flow = loads("""
flow: names
extract: [{name: Plan, schema: {properties: {plan: {}}}}]
resolvers: {slow: {}}
tools: {desk.look: {}}
phases:
  start:
    initial: true
    tools: [desk.look]
    on_enter: [{resolve: slow}]
    transitions: [{to: left, when: is_set(plan)}]
  left: {tools: []}
""")

    def orders(name: str) -> int:
        call = Simulation(flow)
        call.turn("I can pay", extract={"Plan": PENDING})
        call.tool(name, result={"found": 1})
        call.extracted("Plan", {"plan": "pay"})
        call.resolve("slow", 1)
        return interleave(call).orders

    assert orders("desk__look") == orders("desk.look") == 16


def test_an_answer_is_overtaken_by_as_many_turns_as_it_may_be_behind() -> None:
    call = Simulation(ROBUST, extractions={"Plan": {}})
    call.turn("one", extract={"Mood": {"mood": "tense"}})
    call.turn("two", extract={"Mood": {"mood": "calm"}})
    orders = {n: interleave(call, how=Interleave(behind=n)).orders for n in (0, 1)}
    assert orders[0] < orders[1]
    assert interleave(call).passed, "newer words win, whenever they are read"


# -- races ----------------------------------------------------------------------------------------


def raced() -> Simulation:
    """The tool answers, then the caller leaves."""
    call = Simulation(ROBUST)
    call.hear("look it up")
    call.tool("look", result=PENDING)
    call.resolve("look", {"found": 1})
    call.say("I", interrupted=True)
    return call


RACE = """\
another order ends in another way
  as recorded                in another order
  the caller speaks, turn 1  the caller speaks, turn 1
  look is called             look is called
  look answers               > the caller interrupts
  the caller interrupts      > look cancelled
  at the end    as recorded      then
  looked        {"found":1}      absent
  call of look  ran {"found":1}  cancelled
the first difference, when look cancelled:
  + CallEnded {"call":"call-2","error":"cancelled","status":"cancelled","tool":"look"}"""


def test_a_race_shows_both_orders_their_ends_and_where_they_part() -> None:
    tried = interleave(raced())
    assert not tried.passed
    (race,) = tried.races
    assert race.text == RACE
    assert str(tried).endswith("2 orders tried, through 7 snapshots")
    assert "look it up" not in str(tried), "the caller's words are nobody's business"


def test_an_end_that_is_declared_is_no_race() -> None:
    declared = End(because="it was stopped first", calls={"look": "cancelled"}, absent=("looked",))
    assert interleave(raced(), outcomes=[declared]).passed


@pytest.mark.parametrize(
    "end",
    [End(because="x", phase="left"), End(because="x", phases=("left",)),
     End(because="x", keys={"looked": {"found": 2}}), End(because="x", ended=True),
     End(because="x", calls={"look": "ran"}), End(because="x", calls={"pay": "ran"}),
     End(because="x", calls={"look": ("cancelled", "ran")})],
)  # fmt: skip
def test_an_end_is_declared_by_all_that_it_names(end: End) -> None:
    tried = interleave(raced(), outcomes=[end])
    assert (len(tried.races), tried.unreached) == (1, (0,))
    assert "no order ends as outcome 1 declares" in str(tried)


def test_what_must_never_happen_is_looked_for_in_every_order() -> None:
    declared = End(because="too early", calls={"pay": "denied"})
    call = Simulation(loads(FLOW.replace("TIMEOUT", "timeout: 20s,")))
    call.turn("I can pay", extract={"Mood": {"mood": "calm"}, "Plan": Failure("failed", "down")})
    call.set("plan", "pay")
    call.tool("pay", result={})
    call.set("plan", "wait")
    tried = interleave(call, outcomes=[declared], never=Never(admitted=("pay",)))
    assert {race.end.broken for race in tried.races} == {("a call of 'pay' was admitted",)}


def test_answers_may_be_slower_than_those_who_wait_for_them() -> None:
    call = Simulation(SLOW)
    call.hear("I can pay")
    call.tool("pay", result={}, extract={"Plan": {"plan": "pay"}})
    call.end_turn(extract={"Mood": {"mood": "calm"}})
    assert interleave(call).passed, "the call waits for the extraction"
    tried = interleave(call, how=Interleave(slow=True))
    assert "a timer rings after 1.5 s" in str(tried)
    assert [call[2] for race in tried.races for call in race.end.calls] == ["denied"]


def test_time_that_passes_rings_timers_in_every_order() -> None:
    flow = loads("""
flow: quiet
tools: {look: {save_as: looked, timeout: 60s}}
phases:
  start: {initial: true, transitions: [{to: late, after: 30s}]}
  late: {}
""")
    call = Simulation(flow)
    call.tool("look", result=PENDING)
    call.advance("10s")
    call.resolve("look", {"found": 1})
    call.advance("25s")
    call.set("note", "still there")
    tried = interleave(call)
    assert tried.passed
    assert {race.end.phase for race in tried.races} | {call.phase} == {"late"}
    assert tried.orders == 3, "before the timer, before what is set, after it"


def test_a_background_result_may_come_turns_later() -> None:
    call = Simulation(ROBUST)
    call.tool("send")
    call.resolve("send", {"ok": True})
    call.turn("one", "Yes.")
    call.turn("two", "Yes.")
    assert interleave(call, how=Interleave(behind=None)).passed


def test_going_through_json_between_any_two_inputs_changes_nothing() -> None:
    call = Simulation(ROBUST)
    call.turn("one", extract=BOTH)
    call.tool("look", result={"found": 1})
    plain, restarted = interleave(call), interleave(call, how=Interleave(restart=True))
    assert (plain.orders, plain.snapshots) == (restarted.orders, restarted.snapshots)
    assert restarted.passed


def test_too_many_orders_are_drawn_with_a_seed_and_said_to_be() -> None:
    call = Simulation(ROBUST)
    for words in ("one", "two", "three"):
        call.turn(words, extract=BOTH)
    how = Interleave(limit=10, samples=20, seed=7)
    tried, again = interleave(call, how=how), interleave(call, how=how)
    assert (tried.orders, tried.exhaustive, str(tried)) == (20, False, str(again))
    assert str(tried).startswith("too many orders to try all: 20 were drawn")


# -- scenarios ------------------------------------------------------------------------------------

SCENARIO = """\
- name: stopped
  MORE
  turns:
    - hear: look it up
    - tool: {name: look, pending: true}
    - resolve: {name: look, value: {found: 1}}
    - interrupt: I
      expect: {keys: {looked: {found: 1}}}
"""


def write(folder: Path, more: str) -> Path:
    (folder / "flow.yaml").write_text(FLOW.replace("TIMEOUT", ""))
    file = folder / "a.scenario.yaml"
    file.write_text(SCENARIO.replace("MORE", more))
    return file


@pytest.mark.parametrize(
    ("more", "codes"),
    [
        ("tags: []", []),
        ("interleave: true", ["race"]),
        ("interleave: {behind: 0, limit: 500}", ["race"]),
        ("outcomes: [{because: it was stopped, calls: {look: cancelled}}]", []),
        ("outcomes: [{because: it was stopped, calls: {look: denied}}]", ["race", "unreached"]),
    ],
)
def test_a_scenario_asks_for_its_orders_and_declares_their_ends(
    tmp_path: Path, more: str, codes: list[str]
) -> None:
    file, flow, functions = load_scenarios(write(tmp_path, more))
    report = run_scenario(file.scenarios[0], flow, functions)
    assert [each.code for each in report.mismatches] == codes
    if codes:
        text = report.text(file, 0)
        assert "1 of 2 orders of the inputs end in another way" in text
        assert "a.scenario.yaml:" in text


def test_a_test_run_may_ask_for_the_orders_of_all_but_those_that_say_no(tmp_path: Path) -> None:
    for more, passed in (("tags: []", False), ("interleave: false", True)):
        file, flow, functions = load_scenarios(write(tmp_path, more))
        assert run_scenario(file.scenarios[0], flow, functions, interleave=True).passed is passed


def test_a_scenario_that_does_not_pass_has_no_orders_to_try(tmp_path: Path) -> None:
    path = write(tmp_path, "tags: []")
    path.write_text(path.read_text().replace("found: 1}}}", "found: 2}}}"))
    file, flow, functions = load_scenarios(path)
    with pytest.raises(FlowError, match="step 4 does not pass as it is written"):
        interleave(file.scenarios[0], flow, functions)
    assert [m.code for m in run_scenario(file.scenarios[0], flow, functions).mismatches] == ["keys"]


def test_a_scenario_needs_its_flow(tmp_path: Path) -> None:
    file, _, _ = load_scenarios(write(tmp_path, "tags: []"))
    with pytest.raises(FlowError, match="pass `flow`"):
        interleave(file.scenarios[0])
