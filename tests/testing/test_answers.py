"""All that a call asks for can be answered in a test: questions, confirmations, slow tools."""

from __future__ import annotations

import pytest

from flowengine import Accepted, Cancelled, Denied, Failed, FlowError, Functions, Ran, loads
from flowengine.facts import CallEnded, Decided, InputIgnored, NoInput, ResolverEnded, ToolDecided
from flowengine.testing import PENDING, Failure, Simulation

FLOW = loads("""
flow: everything
state: {slot: string, date: string, agreed: boolean, paid: boolean}
records:
  booking:
    fields:
      date: {recognize: {regex: "friday|monday"}}
      slot: {resolve: availability, args: [date]}
decisions:
  agree: {question: Does the caller agree?, writes: agreed}
  ruled: {question: Was a rule met?, run: a_rule}
resolvers:
  availability: {args: [date]}
  account: {mode: call}
tools:
  book: {when: decided(agree), commit: true, respond: {id: 7}}
  pay: {confirm: Charge the card?, respond: {paid: true}, set: {paid: true}}
  look: {respond: {found: 1}}
  send: {background: when_idle, respond: {sent: 1}}
phases:
  start:
    initial: true
    transitions:
      - {to: next, on: go}
      - {to: met, when: decided(ruled)}
      - {to: met, when: decided(agree) and is_set(closing)}
    no_input:
      - {after: 10s, do: [{say: Are you there?}]}
      - {after: 5s, do: [{raise: go}]}
  next:
    on_enter: [{resolve: account}]
  met: {}
""")


def facts(call: Simulation, kind: type) -> list[object]:
    return [fact for fact in call.facts if isinstance(fact, kind)]


# -- decisions ------------------------------------------------------------------------------------


def test_questions_are_answered_as_a_rule_would_and_left_out_they_are_unsure() -> None:
    call = Simulation(FLOW)
    call.turn("yes", decide={"agree": 0.9})
    assert facts(call, Decided) == [
        Decided("agree", "yes", 0.9, 1),
        Decided("ruled", "unsure", 0, 1),
    ]
    assert (call.state["agreed"], call.tool("book")) == (True, Ran({"id": 7}))


def test_an_answer_is_good_for_its_caller_turn_alone() -> None:
    call = Simulation(FLOW)
    call.decide({"agree": True})
    call.turn("hm")
    denied = call.tool("book")
    assert isinstance(denied, Denied)
    assert denied.kind == "guard"


def test_an_answer_waits_for_its_question_until_the_caller_speaks_again() -> None:
    call = Simulation(FLOW, phase="next")
    call.turn("yes", decide={"agree": True})
    assert facts(call, Decided) == [], "only the call of the tool asks, where no phase lists it"
    assert call.tool("book") == Ran({"id": 7})


def test_decide_alone_is_a_caller_turn_about_nothing_else() -> None:
    call = Simulation(FLOW)
    call.decide({"agree": True})
    assert (call.snapshot.turns, call.state["agreed"]) == (1, True)


def test_a_round_of_questions_can_stay_open_and_be_answered_later() -> None:
    call = Simulation(FLOW)
    call.turn("yes", decide=PENDING)
    assert call.running == ("decision",)
    assert call.tool("book") is None, "it waits for the answer"
    call.decide({"agree": True})
    assert (call.outcomes, call.snapshot.turns) == ({"call-3": Ran({"id": 7})}, 1)


def test_a_round_that_fails_leaves_every_question_unsure() -> None:
    call = Simulation(FLOW)
    call.turn("yes", decide=Failure("timed_out", "timed_out"))
    assert {fact.outcome for fact in facts(call, Decided)} == {"unsure"}  # type: ignore[attr-defined]
    call.tool("book", decide={"agree": True})
    assert call.outcomes == {"call-3": Ran({"id": 7})}, "it was asked again, for the same turn"


def test_standing_decisions_answer_every_turn_and_may_look_at_it() -> None:
    call = Simulation(FLOW, decisions={"agree": lambda turns: turns[-1].user == "yes"})
    call.turn("no")
    assert call.state["agreed"] is False
    call.turn("yes")
    assert call.state["agreed"] is True


def test_rules_of_the_flow_answer_for_themselves_with_run_functions() -> None:
    functions = Functions()

    @functions.decision
    def a_rule(turns: object, question: object) -> bool:  # pyright: ignore[reportUnusedFunction]
        return True

    call = Simulation(FLOW, functions=functions, run_functions=True)
    call.turn("well")
    assert call.phase == "met"


def test_an_answer_to_a_question_that_the_flow_does_not_have_is_a_mistake() -> None:
    with pytest.raises(FlowError) as error:
        Simulation(FLOW).turn("well", decide={"agre": True})
    assert str(error.value) == "the flow has no decision 'agre'. Did you mean 'agree'?"


def test_an_answer_that_no_question_asks_for_is_a_mistake_once_its_turn_is_over() -> None:
    call = Simulation(FLOW, phase="met")
    call.turn("well", decide={"agree": True})
    with pytest.raises(FlowError) as error:
        call.turn("next")
    assert str(error.value) == (
        "decision 'agree' was not asked about its turn, so the answer was not used; asked were none"
    )
    call.turn("the mistake is told once")
    call.check_asked()


def test_a_round_that_fails_where_nothing_is_asked_is_a_mistake() -> None:
    with pytest.raises(FlowError, match="no question was asked in this step"):
        Simulation(FLOW, phase="met").turn("well", decide=PENDING)


# -- confirmations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(True, Ran({"paid": True})), (False, "pay was not confirmed."),
     ("not today", "pay was not confirmed: not today.")],
)  # fmt: skip
def test_a_confirmation_is_given_with_the_call_or_after_it(
    answer: bool | str, outcome: object
) -> None:
    at_once = Simulation(FLOW)
    at_once.tool("pay", confirm=answer)
    later = Simulation(FLOW)
    assert later.tool("pay") is None
    assert later.running == ("pay",)
    later.confirm(answer)
    always = Simulation(FLOW, confirm=answer)
    always.tool("pay")
    for call in (at_once, later, always):
        (ended,) = call.outcomes.values()
        if isinstance(ended, Denied):
            assert ended.kind == "declined"
            assert ended.say.startswith(str(outcome))
        else:
            assert ended == outcome


def test_confirming_where_nothing_waits_is_a_mistake() -> None:
    with pytest.raises(FlowError, match="no confirmation is open"):
        Simulation(FLOW).confirm()


# -- tools that take their time -------------------------------------------------------------------


def test_a_background_tool_is_accepted_and_delivered_when_it_is_answered() -> None:
    call = Simulation(FLOW)
    assert call.tool("send") == Accepted()
    assert call.running == ("send",)
    result = call.resolve("send", {"sent": 2})
    (delivered,) = result.delivered
    assert (delivered.tool, delivered.answer.value, delivered.manner) == (
        "send", {"sent": 2}, "when_idle",
    )  # fmt: skip
    assert call.outcomes == {"call-1": Accepted()}


def test_the_end_of_a_background_tool_can_be_given_with_its_call() -> None:
    call = Simulation(FLOW)
    assert call.tool("send", respond=True) == Accepted()
    assert [each.answer.value for each in call.latest.delivered] == [{"sent": 1}]


def test_an_interruption_ends_a_running_tool_as_cancelled() -> None:
    call = Simulation(FLOW)
    call.hear("look it up")
    call.tool("look", result=PENDING)
    call.say("Let me", interrupted=True)
    assert call.outcomes == {"call-2": Cancelled()}
    assert facts(call, CallEnded) == [CallEnded("call-2", "look", "cancelled", "cancelled")]
    assert call.running == ()


def test_an_interruption_leaves_a_commit_and_a_background_tool_running() -> None:
    call = Simulation(FLOW)
    call.turn("yes", decide={"agree": True})
    call.tool("book", result=PENDING)
    call.tool("send")
    call.say("I book", interrupted=True)
    assert call.running == ("book", "send")
    call.resolve("book", {"id": 8})
    assert call.outcomes["call-3"] == Ran({"id": 8})


def test_a_confirmation_that_is_cancelled_is_asked_no_more() -> None:
    call = Simulation(FLOW)
    call.tool("pay")
    call.say("Shall I", interrupted=True)
    assert call.outcomes == {"call-1": Cancelled()}
    assert call.running == ()
    assert len(facts(call, InputIgnored)) == 1, "the end of what nobody waits for is ignored"


@pytest.mark.parametrize(
    ("code", "outcome", "status"),
    [("timed_out", Failed("timed_out"), "timed_out"), ("cancelled", Cancelled(), "cancelled"),
     ("card_declined", Failed("card_declined"), "failed")],
)  # fmt: skip
def test_a_tool_fails_in_the_way_that_its_code_says(
    code: str, outcome: object, status: str
) -> None:
    call = Simulation(FLOW)
    assert call.tool("look", error=code) == outcome
    assert facts(call, CallEnded) == [CallEnded("call-1", "look", status, code)]


# -- resolvers and silence ------------------------------------------------------------------------


def test_a_field_of_a_record_is_resolved_by_its_own_name_or_its_resolvers() -> None:
    for name in ("availability", "booking.slot"):
        call = Simulation(FLOW, state={"date": "friday"})
        call.turn("when can I come?")
        assert call.running == ("booking.slot",)
        call.resolve(name, "19:00")
        assert call.state["slot"] == "19:00"


def test_standing_resolutions_answer_at_once_and_may_look_at_the_arguments() -> None:
    always = {"availability": lambda args: f"{args['date']} 19:00"}
    call = Simulation(FLOW, state={"date": "friday"}, resolutions=always)
    call.turn("when can I come?")
    assert call.state["slot"] == "friday 19:00"


def test_a_resolver_fails_by_a_code_and_a_misspelt_one_is_a_mistake() -> None:
    call = Simulation(FLOW)
    call.event("go")
    assert call.running == ("account",)
    with pytest.raises(FlowError) as error:
        call.resolve("acount", {})
    assert str(error.value) == (
        "'acount' is not running, so it cannot answer; running: account. Did you mean 'account'?"
    )
    call.resolve("account", error="timed_out")
    assert facts(call, ResolverEnded) == [ResolverEnded("account", "timed_out", "timed_out")]


def test_silence_climbs_the_ladder_as_the_clock_moves() -> None:
    call = Simulation(FLOW)
    call.turn("well", "Hm?")
    assert call.advance("9s").facts == ()
    assert call.advance("1s").said == ("Are you there?",)
    call.advance("5s")
    assert call.phase == "next"
    assert facts(call, NoInput) == [NoInput("start", 0), NoInput("start", 1)]


def test_a_call_decides_once_and_is_told_so() -> None:
    call = Simulation(FLOW)
    call.tool("look", call="same")
    call.tool("look", call="same")
    assert len(facts(call, ToolDecided)) == 1
