"""A call driven by hand: no model, no loop, time that moves when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from flowengine import (
    Denied,
    Failed,
    FlowError,
    Functions,
    ManualClock,
    Ran,
    Session,
    TurnFailed,
    loads,
)
from flowengine.extract.spec import ExtractSpec
from flowengine.facts import (
    BarrierSettled,
    ConversationEnded,
    Fact,
    InputFailed,
    KeyWritten,
    PhaseEntered,
    RunEnded,
    as_json,
    lines,
)
from flowengine.inputs import Input
from flowengine.kernel import Kernel, Step, to_json
from flowengine.testing import PENDING, Failure, Simulation

FLOW = loads("""
flow: collect
state:
  identity_verified: boolean
  amount: decimal
  mood: string
  paid: {type: boolean, writers: ["tool:pay"]}
  risk: string
records:
  promise:
    fields:
      amount: {recognize: money}
extract:
  - name: Debtor
    schema: {type: object, properties: {mood: {type: string}, risk: {type: string}}}
    promote:
      - {field: mood, policy: overwrite}
      - {field: risk, policy: overwrite}
resolvers:
  account: {args: [customer]}
tools:
  pay:
    args: {sum: number}
    when: captured(amount)
    set: {paid: true}
  note:
    respond: {ok: true}
global_transitions:
  - {to: closed, on: hang_up}
digressions:
  detour:
    on: ask
    phases: {aside: {}}
phases:
  verify:
    initial: true
    say: Who is this?
    on_enter:
      - set: {greeted: true}
    transitions:
      - {to: negotiate, when: is_true(identity_verified)}
  negotiate:
    say: How much can you pay?
    needs: [amount]
    on_enter:
      - resolve: account
    transitions:
      - {to: settle, when: captured(amount) and resolved(account)}
      - {to: silent, after: 30s}
  settle:
    transitions:
      - {to: closed, when: is_true(paid)}
  silent:
    say: Are you there?
    transitions:
      - {to: closed, after: 10s}
  closed: {final: true}
""")


def kinds(facts: tuple[Fact, ...], kind: type[Fact]) -> list[Fact]:
    return [fact for fact in facts if isinstance(fact, kind)]


def test_a_call_starts_in_its_initial_phase_with_its_opening_words() -> None:
    call = Simulation(FLOW)
    assert (call.phase, call.said, call.state["greeted"]) == ("verify", ("Who is this?",), True)


def test_a_call_can_start_in_the_middle_without_the_hooks_of_what_came_before() -> None:
    call = Simulation(FLOW, phase="negotiate", state={"identity_verified": True})
    assert call.phase == "negotiate"
    assert call.said == ("How much can you pay?",)
    assert "greeted" not in call.state
    assert kinds(call.facts, PhaseEntered) == [PhaseEntered("negotiate")]
    call.resolve("account", {"id": 7})
    assert call.state["account:result"] == {"id": 7}


def test_guards_that_hold_at_the_start_move_on_at_once() -> None:
    assert Simulation(FLOW, state={"identity_verified": True}).phase == "negotiate"


@pytest.mark.parametrize(
    ("phase", "words"),
    [("negotaite", "Did you mean 'negotiate'?"), ("aside", "lies in a digression")],
)
def test_a_start_where_no_call_can_start_says_why(phase: str, words: str) -> None:
    with pytest.raises(FlowError, match="cannot start") as error:
        Simulation(FLOW, phase=phase)
    assert words in str(error.value)


def test_a_start_in_a_compound_enters_its_initial_child_and_the_monitors() -> None:
    flow = loads("""
flow: nested
phases:
  a: {initial: true, on_enter: [{set: {seen_a: true}}]}
  b:
    on_enter: [{set: {seen_b: true}}]
    phases:
      b1: {}
      b2: {initial: true}
monitors:
  watch: {phases: {calm: {}}}
""")
    call = Simulation(flow, phase="b")
    assert call.phases == ("b", "b2", "calm")
    assert dict(call.state) == {"seen_b": True}


# -- turns and extractors -------------------------------------------------------------------------


def test_a_turn_reads_records_and_lands_what_is_scripted() -> None:
    call = Simulation(FLOW, phase="negotiate")
    turn = call.turn(
        "I can pay two hundred dollars", "By when?", extract={"Debtor": {"mood": "calm"}}
    )
    assert str(turn.state["amount"]) == "200"
    assert turn.state["mood"] == "calm"
    assert call.why_not("settle").missing == ()
    assert "resolved(account)" in str(call.why_not("settle"))


def test_an_extractor_that_is_not_scripted_finds_nothing() -> None:
    turn = Simulation(FLOW).turn("hello")
    assert [(f.name, f.status) for f in turn.facts if isinstance(f, RunEnded)] == [("Debtor", "ok")]
    assert "mood" not in turn.state


def test_answers_for_all_turns_may_be_fields_or_a_function_of_the_window() -> None:
    def extract(window: tuple, known: Mapping) -> Mapping:
        return {"mood": f"{window[-1].user} {known.get('mood', '')}".strip()}

    call = Simulation(FLOW, extractions={"Debtor": extract})
    call.turn("a")
    assert call.turn("b").state["mood"] == "b a"
    assert call.turn("c", extract={"Debtor": {"mood": "x"}}).state["mood"] == "x"
    assert Simulation(FLOW, extractions={"Debtor": {"mood": "m"}}).turn("d").state["mood"] == "m"


def test_a_failure_of_an_extractor_is_an_outcome_like_any_other() -> None:
    call = Simulation(FLOW)
    turn = call.turn("hello", extract={"Debtor": Failure("timed_out", "timed_out")})
    assert turn.state["Debtor:status"] == "timed_out"
    assert turn.state["Debtor:error"] == "timed_out"


def test_a_pending_extractor_is_late_once_the_clock_has_ended_the_wait() -> None:
    call = Simulation(FLOW)
    turn = call.turn("hello", extract={"Debtor": PENDING})
    assert not kinds(turn.facts, BarrierSettled)
    assert kinds(call.advance("5s").facts, BarrierSettled) == [BarrierSettled(1, "timed out")]
    late = call.extracted("Debtor", {"mood": "calm"})
    assert [f.status for f in late.facts if isinstance(f, RunEnded)] == ["late"]
    assert late.state["mood"] == "calm"


@pytest.mark.parametrize("name", ["Deptor", "Account"])
def test_a_script_for_an_extractor_that_does_not_exist_is_an_error(name: str) -> None:
    with pytest.raises(FlowError, match=f"no extractor '{name}'"):
        Simulation(FLOW).turn("hello", extract={name: {}})


def test_a_script_that_nothing_uses_is_an_error() -> None:
    call = Simulation(FLOW)
    with pytest.raises(FlowError, match="did not run on this turn"):
        call.turn("", "Hello?", extract={"Debtor": {"mood": "calm"}})
    call.turn("hello", extract={"Debtor": PENDING})
    with pytest.raises(FlowError, match="still running for an earlier turn"):
        call.turn("hello", extract={"Debtor": {"mood": "calm"}})


def test_parts_of_a_turn_can_come_one_by_one() -> None:
    call = Simulation(FLOW, phase="negotiate")
    call.hear("two hundred")
    call.hear("dollars")
    call.say("By w", interrupted=True)
    assert "amount" not in call.state
    assert str(call.end_turn().state["amount"]) == "200"


def test_the_models_words_can_be_complete_before_they_are_heard() -> None:
    spec = ExtractSpec(
        name="Promise", trigger="on_generation_complete", schema={"properties": {"promised": {}}}
    )
    call = Simulation(FLOW.model_copy(update={"extract": (*FLOW.extract, spec)}))
    call.hear("when will I get the letter?")
    call.generate("You get it tomorrow. Anything else?", extract={"Promise": {"promised": True}})
    assert call.state["promised"] is True
    call.say("You get it to", interrupted=True)
    call.end_turn()
    assert call.snapshot.transcript.turns[-1].model == "You get it to"


def test_what_the_channel_captured_is_written_with_the_turn() -> None:
    assert Simulation(FLOW).turn(values={"identity_verified": True}).phase == "negotiate"


# -- writes, events, resolvers, tools -------------------------------------------------------------


def test_a_write_from_outside_moves_the_flow_and_an_event_ends_it() -> None:
    call = Simulation(FLOW)
    assert call.set("identity_verified", True).phase == "negotiate"
    assert call.event("hang_up").ended
    assert call.facts[-1] == ConversationEnded("closed")


def test_a_failing_input_raises_and_the_call_goes_on() -> None:
    call = Simulation(FLOW)
    with pytest.raises(TurnFailed) as failed:
        call.set("amount", "a lot")
    assert failed.value.fact.code == "wrong_type"
    assert isinstance(call.facts[-1], InputFailed)
    assert call.set("identity_verified", True).phase == "negotiate"


def test_a_resolver_is_answered_by_hand_with_a_value_or_an_error() -> None:
    call = Simulation(FLOW, phase="negotiate")
    assert call.resolve("account", error="not_found").state["account:error"] == "not_found"
    with pytest.raises(FlowError, match=r"'account' is not running.*running: nothing"):
        call.resolve("account", {})


def test_resolvers_of_the_flow_run_by_themselves_if_they_are_asked_to() -> None:
    functions = Functions()

    @functions.resolver
    def account(customer: str = "nobody") -> dict[str, str]:
        return {"of": customer}

    call = Simulation(FLOW, functions=functions, phase="negotiate", run_functions=True)
    assert call.state["account:result"] == {"of": "nobody"}
    held = Simulation(FLOW, functions=functions, phase="negotiate")
    assert "account:result" not in held.state


def test_async_functions_are_answered_by_hand_and_bring_keys_to_write() -> None:
    functions = Functions()

    @functions.watcher
    async def look_up(values: Mapping) -> Mapping:
        raise AssertionError("a simulation awaits nothing")

    @functions.watcher
    def route(values: Mapping) -> str:
        return "desk 4"

    flow = loads("""
flow: run
records:
  order:
    fields: {size: {recognize: integer}}
    on_complete: {run: route}
phases:
  a: {on_enter: [{run: look_up}]}
""")
    call = Simulation(flow, functions=functions)
    assert call.resolve("look_up", {"plan": "gold"}).state["plan"] == "gold"
    call.turn("four")
    assert call.resolve("order", "desk 1").state["order:result"] == "desk 1"
    itself = Simulation(flow, functions=functions, run_functions=True)
    assert itself.turn("four").state["order:result"] == "desk 4"


def test_a_tool_is_denied_by_the_gate_or_ends_as_it_is_told() -> None:
    call = Simulation(FLOW, phase="settle")
    assert call.tool("pay", {"sum": 5}, result={}) == Denied(
        "guard",
        ("amount",),
        ("pay", "note"),
        "pay cannot run before captured(amount). Available now: pay, note.",
    )
    call.set("amount", "200")
    assert call.tool("pay", {"sum": 5}, error="declined") == Failed("declined")
    assert call.tool("pay", {"sum": 5}, result={"id": 1}) == Ran({"id": 1})
    assert call.phase == "closed"
    assert list(call.outcomes) == ["call-1", "call-3", "call-4"]


def test_a_tool_answers_with_its_canned_response_or_its_registered_function() -> None:
    functions = Functions()

    @functions.tool
    def pay(sum: float) -> dict[str, float]:
        return {"left": 100 / sum}

    call = Simulation(FLOW, functions=functions, state={"amount": "1"})
    assert call.tool("note") == Ran({"ok": True})
    assert call.tool("pay", {"sum": 4}) == Ran({"left": 25})
    assert call.tool("pay", {"sum": 0}) == Failed("ZeroDivisionError")


def test_an_admitted_tool_without_an_answer_says_what_to_pass() -> None:
    call = Simulation(FLOW, state={"amount": "1"})
    with pytest.raises(FlowError, match="pass `result=`"):
        call.tool("pay", {"sum": 4})


def test_a_running_tool_can_be_answered_later() -> None:
    call = Simulation(FLOW, phase="settle", state={"amount": "1"})
    assert call.tool("pay", {"sum": 4}, result=PENDING, call="c") is None
    call.turn("hello?")
    assert call.resolve("pay", {}).phase == "closed"
    assert call.outcomes["c"] == Ran({})


def test_an_unknown_tool_is_denied_not_an_error() -> None:
    outcome = Simulation(FLOW).tool("pya", respond=True)
    assert isinstance(outcome, Denied)
    assert outcome.kind == "unknown_tool"


# -- time -----------------------------------------------------------------------------------------


def test_timers_ring_in_order_each_at_its_own_instant() -> None:
    call = Simulation(FLOW, phase="negotiate")
    start = call.clock.now()
    assert call.advance("29s").phase == "negotiate"
    assert call.advance("1m").phase == "closed"
    assert call.clock.now() == start + 89_000
    assert [i.at - start for i in call.inputs if type(i).__name__ == "Timer"] == [30_000, 40_000]


def test_the_clock_is_the_callers_if_one_is_given() -> None:
    clock = ManualClock(1_000)
    call = Simulation(FLOW, clock=clock)
    call.turn("hello")
    assert {input.at for input in call.inputs} == {1_000}


# -- determinism ----------------------------------------------------------------------------------


def script(call: Simulation, restart: bool) -> Simulation:
    steps = (
        lambda: call.turn("hello", extract={"Debtor": {"mood": "calm"}}),
        lambda: call.set("identity_verified", True),
        lambda: call.turn("two hundred dollars", extract={"Debtor": PENDING}),
        lambda: call.advance("7s"),
        lambda: call.tool("pay", {"sum": 5}, result=PENDING),
        lambda: call.resolve("account", {}),
        lambda: call.resolve("pay", {}),
    )
    for step in steps:
        step()
        if restart:
            call.restore()
    return call


def test_the_same_script_gives_the_same_facts_even_from_restored_snapshots() -> None:
    one, two = script(Simulation(FLOW), False), script(Simulation(FLOW), True)
    assert one.lines == two.lines
    assert to_json(one.snapshot) == to_json(two.snapshot)
    assert one.phase == "closed"


def test_its_inputs_give_a_kernel_the_same_facts() -> None:
    call = script(Simulation(FLOW), False)
    kernel = Kernel(FLOW)
    step = kernel.start(ManualClock().now())
    found = list(lines(0, step.facts))
    for input in call.inputs:
        step = kernel.step(step.snapshot, input)
        found += lines(step.snapshot.seq, step.facts)
    assert tuple(found) == call.lines


def test_a_live_session_records_the_same_facts() -> None:
    answers = {"Debtor": lambda window, known: {"mood": window[-1].user}}
    clock = ManualClock()
    call = Simulation(FLOW, clock=clock, extractions=answers)
    recorded: list[Fact] = []

    def record(_: Input | None, step: Step) -> None:
        recorded.extend(step.facts)

    async def live() -> None:
        async with Session(FLOW, clock=clock, extractors=answers, record=record) as session:
            for words in ("hello", "two hundred dollars"):
                await session.turn(words, "go on")
            await session.tool("note")
            await session.event("hang_up")

    for words in ("hello", "two hundred dollars"):
        call.turn(words, "go on")
    call.tool("note")
    call.event("hang_up")
    asyncio.run(live())
    assert list(map(as_json, call.facts)) == list(map(as_json, recorded))


def test_writes_name_who_wrote() -> None:
    turn = Simulation(FLOW).set("mood", "calm", by="operator")
    assert [f.by for f in turn.facts if isinstance(f, KeyWritten)] == ["operator"]
