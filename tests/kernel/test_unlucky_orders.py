"""What a hostile reader found: consent, money and private data in unlucky orders."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flowengine import Functions, loads
from flowengine.effects import (
    AskConfirmation,
    Decide,
    Resolve,
    RunFunction,
    RunTool,
)
from flowengine.facts import (
    NoInput,
    as_json,
)
from flowengine.inputs import Heard, Outcome, Said, ToolCalled, TurnEnded

DECIDE = """
flow: d
state: {slot: string, agreed: {type: boolean, depends_on: [slot]}}
decisions:
  pick: {question: Which?, type: choice, options: ["seven", "nine"], writes: slot}
phases:
  a:
    initial: true
    needs: [slot, agreed]
    transitions: [{to: b, when: decided(pick) and is_true(zzz)}]
  b: {}
"""


def _pick(call: Any, option: str) -> None:
    (ask,) = call.asked(Decide)
    call.answer(
        ask.id,
        {
            "pick": {
                "option": option,
                "value": option,
                "probability": 0.99,
                "probabilities": {option: 0.99},
            }
        },
    )


def test_decision_that_changes_a_key_clears_what_depends_on_it(begin: Any) -> None:
    call = begin(DECIDE)
    call.turn("seven")
    _pick(call, "seven")
    assert call.values["slot"] == "seven"
    call.set(agreed=True)
    call.turn("no, nine")
    _pick(call, "nine")
    assert call.values["slot"] == "nine"
    assert "agreed" not in call.values


def test_channel_values_that_change_a_key_clear_what_depends_on_it(begin: Any) -> None:
    call = begin(DECIDE, slot="seven", agreed=True)
    call.turn("key pad", slot="nine")
    assert call.values["slot"] == "nine"
    assert "agreed" not in call.values


def test_late_decision_never_overwrites_newer_words(begin: Any) -> None:
    call = begin(DECIDE)
    call.turn("seven")
    (first,) = call.asked(Decide)
    call.turn("nine")
    (second,) = call.asked(Decide)
    one = {
        "pick": {
            "option": "nine",
            "value": "nine",
            "probability": 0.99,
            "probabilities": {"nine": 0.99},
        }
    }
    old = {
        "pick": {
            "option": "seven",
            "value": "seven",
            "probability": 0.99,
            "probabilities": {"seven": 0.99},
        }
    }
    call.answer(second.id, one)
    assert call.values["slot"] == "nine"
    call.answer(first.id, old)
    assert call.values["slot"] == "nine"
    assert call.snapshot.wait.decided["pick"].turn == 2


def test_tool_result_asked_before_newer_words_does_not_overwrite_them(begin: Any) -> None:
    call = begin("""
flow: t
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
tools: {look: {set: {amount: result.amount}}}
phases: {a: {initial: true, needs: [amount]}}
""")
    call.turn("hello")
    call.tool("look")
    run = call.run("c")
    call.turn("I owe fifty dollars")
    assert call.values["amount"] == "50"
    call.answer(run, {"amount": "900"})
    assert call.values["amount"] == "50"


def test_async_watcher_result_from_an_older_turn_does_not_overwrite_newer_words(begin: Any) -> None:
    functions = Functions()

    @functions.watcher
    async def later(values: Any) -> Any:
        return {}

    call = begin(
        """
flow: t
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
watch: [{key: go, became_true: true, do: [{run: later}]}]
phases: {a: {initial: true, needs: [amount]}}
""",
        functions,
    )
    call.turn("hello")
    call.set(go=True)
    (run,) = call.asked(RunFunction)
    call.turn("I owe fifty dollars")
    call.answer(run.id, {"amount": "900"})
    assert call.values["amount"] == "50"


def test_barrier_closed_by_next_turn_keeps_a_correction_of_its_own_turn(begin: Any) -> None:
    call = begin("""
flow: t
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
extract: [{name: Mood, schema: {properties: {mood: {}}}}]
phases: {a: {initial: true, needs: [amount]}}
""")
    call.turn("fifty dollars")
    call.answer(call.run("Mood"), {})
    assert call.values["amount"] == "50"
    call.turn("no, eighty dollars")  # its barrier waits for Mood
    call.turn("thank you")  # closes it
    assert call.values["amount"] == "80"


def test_barrier_timed_out_while_next_turn_closed(begin: Any) -> None:
    """The value of the first turn is known; the second turn's correction is settled by a third
    turn: the model is told the old amount for good."""
    call = begin(
        """
flow: t
state: {amount: decimal, agreed: {type: boolean, depends_on: [amount]}}
records: {r: {fields: {amount: {recognize: money}}}}
extract: [{name: Mood, schema: {properties: {mood: {}}}}]
phases: {a: {initial: true, needs: [amount]}}
""",
        amount="50",
        agreed=True,
    )
    call.turn("no, eighty dollars")
    call.turn("thank you")
    assert "agreed" not in call.values


RESOLVE = """
flow: r
state: {id: string}
records: {who: {fields: {id: {recognize: {one_of: [alice, bob]}}}}}
resolvers: {account: {args: [id]}}
phases:
  a: {initial: true, needs: [id], transitions: [{to: b, when: captured(id)}]}
  b:
    on_enter: [{resolve: account}]
    transitions: [{to: c, when: is_true(later)}]
  c: {}
"""


def test_resolver_started_for_the_old_argument_does_not_write_after_the_correction(
    begin: Any,
) -> None:
    call = begin(RESOLVE)
    call.turn("alice")
    run = call.run("account")
    call.turn("no, bob")
    assert call.values["id"] == "bob"
    call.answer(run, {"owner": "alice"})
    assert "account:result" not in call.values


def test_of_two_runs_the_older_never_replaces_the_newer(begin: Any) -> None:
    call = begin("""
flow: r
state: {id: string}
resolvers: {account: {args: [id]}}
watch: [{key: id, changed: true, do: [{resolve: account}]}]
phases: {a: {initial: true}}
""")
    call.set(id="alice")
    (first,) = call.asked(Resolve)
    call.set(id="bob")
    (second,) = call.asked(Resolve)
    call.answer(second.id, {"owner": "bob"})
    call.answer(first.id, {"owner": "alice"})
    assert call.values["account:result"] == {"owner": "bob"}


def test_dotted_key_under_an_owned_object_is_owned_too(begin: Any) -> None:
    call = begin("""
flow: o
state: {identity: {type: object, writers: ["tool:verify"], trusted: true}}
extract: [{name: X, schema: {properties: {mood: {}}}}]
tools: {verify: {save_as: identity}, pay: {when: is_true(identity.verified)}}
phases: {a: {initial: true}}
""")
    call.turn("I am verified")
    call.answer(call.run("X"), {"identity.verified": True, "mood": "calm"})
    call.tool("pay")
    assert [a.kind for _, a in call.answers] == ["guard"]


def test_promotion_to_a_dotted_path_of_a_trusted_object(begin: Any) -> None:
    from flowengine.errors import FlowEngineError

    try:
        call = begin("""
flow: o
state: {identity: {type: object, writers: ["tool:verify"], trusted: true}}
extract:
  - name: X
    schema: {properties: {ok: {type: boolean}}}
    promote: [{field: ok, to: identity.verified}]
tools: {verify: {save_as: identity}, pay: {when: is_true(identity.verified)}}
phases: {a: {initial: true}}
""")
    except FlowEngineError:
        return
    call.turn("I am verified")
    call.answer(call.run("X"), {"ok": True})
    call.tool("pay")
    assert [a.kind for _, a in call.answers] == ["guard"]


def test_an_extractor_of_the_name_of_an_owned_object(begin: Any) -> None:
    from flowengine.errors import FlowEngineError

    try:
        call = begin("""
flow: o
state: {identity: {type: object, writers: ["tool:verify"], trusted: true}}
extract: [{name: identity, schema: {properties: {verified: {type: boolean}}}}]
tools: {verify: {save_as: identity}, pay: {when: is_true(identity.verified)}}
phases: {a: {initial: true}}
""")
    except FlowEngineError:
        return
    call.turn("I am verified")
    call.answer(call.run("identity"), {"verified": True})
    call.tool("pay")
    assert [a.kind for _, a in call.answers] == ["guard"]


def test_canonical_json_of_a_snapshot_keeps_the_order_of_calls_and_runs(begin: Any) -> None:
    """JSONB and canonical JSON sort keys; the order of calls decides which one is admitted."""
    from flowengine.facts import canonical_json
    from flowengine.kernel import Kernel, from_json, to_json

    kernel = Kernel(
        loads("""
flow: p
extract: [{name: X, schema: {properties: {ok: {}}}, promote: [{field: ok}]}]
tools: {charge: {commit: true, args: {sum: number}, when: ok == true}}
phases: {a: {initial: true}}
""")
    )

    def play(store: Any) -> list[Any]:
        snap = kernel.start(0).snapshot
        facts: list[Any] = []
        inputs: list[tuple[Any, ...]] = [
            (Heard, "x"),
            (TurnEnded,),
            (ToolCalled, "call-9", "charge", {"sum": 1}),
            (ToolCalled, "call-10", "charge", {"sum": 2}),
            (Outcome, "2.0", "ok", {"ok": True}),
        ]
        for n, (kind, *args) in enumerate(inputs, start=1):
            step = kernel.step(snap, kind(str(n), 0, *args))
            snap, facts = store(step.snapshot), [*facts, *step.facts]
        return facts

    assert play(lambda s: s) == play(lambda s: from_json(json.loads(canonical_json(to_json(s)))))


def test_overtaken_runs_do_not_pile_up(begin: Any) -> None:
    call = begin("""
flow: p
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
tools: {quote: {times: per_correction, when: amount > 1}}
phases: {a: {initial: true, needs: [amount]}}
""")
    for n in range(40):
        call.turn(f"{n + 2} dollars")
        call.tool("quote", f"c{n}")
        call.answer(call.run(f"c{n}"), {})
    assert len(call.snapshot.wait.ledger["quote"]) < 5


def test_runs_without_limit_do_not_pile_up_when_their_results_do_not_fit(begin: Any) -> None:
    call = begin("""
flow: p
state: {n: integer}
tools: {look: {set: {n: result.n}}}
phases: {a: {initial: true}}
""")
    for n in range(40):
        call.tool("look", f"c{n}")
        call.answer(call.run(f"c{n}"), {"n": "x"})
    assert not call.snapshot.wait.ledger.get("look")


def test_two_corrections_in_one_step_are_both_seen(begin: Any) -> None:
    """A waiting call lands one; the barrier that its run closes lands the other."""
    call = begin(
        """
flow: p
state: {amount: decimal, who: string}
records: {r: {fields: {amount: {recognize: money}}}}
extract:
  - name: X
    schema: {properties: {who: {type: string}}}
    promote: [{field: who, policy: correct, grounding: accept}]
tools: {pay: {when: who == 'bob' and is_true(never)}}
phases:
  a: {initial: true, needs: [amount, who], transitions: [{to: b, when: corrected(who)}]}
  b: {}
""",
        amount="5",
        who="alice",
    )
    call.turn("no, bob, and eighty dollars")
    call.tool("pay", "c1")
    call.answer(call.run("X"), {"who": "bob"})
    assert (call.values["who"], call.values["amount"]) == ("bob", "80")
    assert call.phase == "b"


@pytest.mark.parametrize(
    "key",
    [
        "verbatim:a",
        "decision:x",
        "repair:a:escalate",
        "compensated:pay",
        "flow:x",
        "correction:x",
        "idempotency:x",
        "state_meta:x",
    ],
)
@pytest.mark.parametrize("how", ["channel", "function", "admin"])
def test_runtime_prefixes_are_reserved(begin: Any, key: str, how: str) -> None:
    functions = Functions()

    @functions.watcher
    async def later(values: Any) -> Any:
        return {}

    call = begin(
        """
flow: t
watch: [{key: go, became_true: true, do: [{run: later}]}]
phases: {a: {initial: true}}
""",
        functions,
    )
    call.set(go=True)
    (run,) = call.asked(RunFunction)
    if how == "channel":
        call.turn("x", **{key: True})
    elif how == "admin":
        call.set(**{key: True})
    else:
        call.answer(run.id, {key: True})
    assert key not in call.values


PAY = """
flow: p
state: {paid: boolean}
tools:
  pay:
    args: {sum: number, note: {type: string, default: ""}}
    idempotency_key: "{args.sum}"
    set: {paid: result.ok}
  once: {times: once, set: {paid: result.ok}}
phases: {a: {initial: true, no_input: [{after: 1s, do: [{say: Hello}]}]}}
"""


def test_equal_call_after_a_result_that_could_not_be_written_gets_an_answer(begin: Any) -> None:
    call = begin(PAY)
    call.tool("pay", "c1", sum=5)
    call.answer(call.run("c1"), {"ok": "yes"})  # not a boolean: the input fails
    assert [(i, a.status) for i, a in call.answers] == [("c1", "ran")]
    call.tool("pay", "c2", sum=5)
    assert [(i, a.status) for i, a in call.answers] == [("c2", "ran")]


def test_a_failed_tool_whose_consequences_fail_gives_its_place_back(begin: Any) -> None:
    functions = Functions()

    @functions.watcher
    def bad(new: Any) -> Any:
        raise ValueError

    call = begin(
        """
flow: p
tools: {pay: {commit: true}}
watch: [{key: "repair:a:escalate", became_true: true, do: [{run: bad}]}]
phases: {a: {initial: true, needs: [x], repair: {escalate_after_failures: 1}}}
""",
        functions,
    )
    call.tool("pay", "c1")
    step = call.answer(call.run("c1"), None, "failed", "x")
    assert step.error is not None
    assert [a.status for _, a in call.answers] == ["failed"]
    call.tool("pay", "c2")
    assert call.asked(RunTool), call.answers


def test_a_tool_that_ran_is_called_ok_whatever_follows(begin: Any) -> None:
    call = begin(PAY)
    call.tool("once", "c1")
    call.answer(call.run("c1"), {"ok": "yes"})
    assert "once" in call.snapshot.wait.succeeded


CONFIRM = """
flow: c
tools:
  pay: {commit: true, confirm: Sure?, when: custom(bad)}
phases: {a: {initial: true, no_input: [{after: 1s, do: [{say: Hello}]}]}}
"""


def _bad() -> Functions:
    functions = Functions()

    @functions.guard
    def bad(state: Any) -> bool:
        if state.get("boom"):
            raise ValueError
        return True

    return functions


def test_a_confirmation_whose_consequences_fail_still_answers_the_call(begin: Any) -> None:
    call = begin(CONFIRM, _bad())
    call.tool("pay", "c1")
    (ask,) = call.asked(AskConfirmation)
    call.set(boom=True)
    call.answer(ask.id, True)
    assert [i for i, _ in call.answers] == ["c1"]
    assert not call.snapshot.wait.calls


def test_arguments_that_are_the_same_number_are_the_same_arguments(begin: Any) -> None:
    call = begin("""
flow: p
tools:
  charge:
    args: {sum: number, note: {type: string, default: ""}}
    commit: true
    times: per_arguments
phases: {a: {initial: true}}
""")
    call.tool("charge", "c1", sum=200)
    call.answer(call.run("c1"), {})
    call.tool("charge", "c2", sum=200.0)
    assert not call.asked(RunTool)


def test_a_default_left_out_or_given_is_the_same(begin: Any) -> None:
    call = begin("""
flow: p
tools:
  charge:
    args: {sum: number, note: {type: string, default: ""}}
    commit: true
    times: per_arguments
phases: {a: {initial: true}}
""")
    call.tool("charge", "c1", sum=200)
    call.answer(call.run("c1"), {})
    call.tool("charge", "c2", sum=200, note="")
    assert not call.asked(RunTool)


def test_idempotency_key_of_the_same_number(begin: Any) -> None:
    call = begin("""
flow: p
tools: {charge: {args: {sum: number}, idempotency_key: "{args.sum}"}}
phases: {a: {initial: true}}
""")
    call.tool("charge", "c1", sum=200)
    call.answer(call.run("c1"), {})
    call.tool("charge", "c2", sum=200.0)
    assert not call.asked(RunTool)


def test_an_equal_key_under_way_is_waited_for_by_a_commit_too(begin: Any) -> None:
    call = begin("""
flow: p
tools: {charge: {args: {sum: number}, commit: true, idempotency_key: "{args.sum}"}}
phases: {a: {initial: true}}
""")
    call.tool("charge", "c1", sum=200)
    run = call.run("c1")
    call.tool("charge", "c2", sum=200)
    assert call.answers == [], call.answers
    call.answer(run, {"id": 1})
    assert [(i, a.status) for i, a in call.answers] == [("c1", "ran"), ("c2", "ran")]


def test_a_run_overtaken_by_a_correction_is_not_called_ok(begin: Any) -> None:
    call = begin("""
flow: p
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
tools: {quote: {times: per_correction, when: amount > 1}}
phases:
  a: {initial: true, needs: [amount], transitions: [{to: b, when: called_ok(quote)}]}
  b: {}
""")
    call.turn("fifty dollars")
    call.tool("quote", "c1")
    run = call.run("c1")
    call.turn("no, eighty dollars")
    call.answer(run, {"fee": 1})
    assert "quote" not in call.snapshot.wait.succeeded
    assert call.phase == "a"


def test_a_running_commit_is_not_run_beside_itself_after_a_correction(begin: Any) -> None:
    call = begin("""
flow: p
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
tools: {charge: {commit: true, times: per_correction, when: amount > 1}}
phases: {a: {initial: true, needs: [amount]}}
""")
    call.turn("fifty dollars")
    call.tool("charge", "c1")
    call.turn("no, eighty dollars")
    call.tool("charge", "c2")
    assert not call.asked(RunTool)


def test_an_answer_given_early_is_asked_anew_when_more_was_said(begin: Any) -> None:
    call = begin("""
flow: p
decisions: {agree: {question: Agree?}}
tools: {charge: {commit: true, when: decided(agree) and is_true(ready)}}
phases: {a: {initial: true}}
""")
    call.turn("hello")
    call.send(Heard, "yes")
    call.tool("charge", "c1")
    (ask,) = call.asked(Decide)
    call.answer(ask.id, {"agree": {"probability": 0.99}})
    assert [a.kind for _, a in call.answers] == ["guard"]  # not ready yet
    call.set(ready=True)
    call.send(Heard, "no wait, do not do that")
    call.tool("charge", "c2")
    assert not call.asked(RunTool)


def test_turn_end_asks_anew_when_more_was_said(begin: Any) -> None:
    call = begin("""
flow: p
decisions: {agree: {question: Agree?}}
tools: {charge: {when: decided(agree) and is_true(ready)}}
phases: {a: {initial: true, transitions: [{to: b, when: decided(agree)}]}, b: {}}
""")
    call.turn("hello")
    for ask in call.asked(Decide):
        call.answer(ask.id, {"agree": {"probability": 0.01}})
    call.send(Heard, "yes")
    call.tool("charge", "c1")
    (ask,) = call.asked(Decide)
    call.send(Heard, "no wait, do not do that")
    call.answer(ask.id, {"agree": {"probability": 0.99}})
    call.send(TurnEnded, {})
    assert call.phase == "a"
    assert call.asked(Decide)


def test_words_split_around_an_early_read_are_one_amount(begin: Any) -> None:
    call = begin("""
flow: p
state: {amount: decimal}
records: {r: {fields: {amount: {recognize: money}}}}
tools: {charge: {when: amount > 1}}
phases: {a: {initial: true, needs: [amount]}}
""")
    call.turn("hello")
    call.send(Heard, "I can pay two")
    call.tool("charge", "c1")
    call.send(Heard, "hundred dollars")
    call.send(TurnEnded, {})
    assert call.values["amount"] == "200"


def test_a_negation_split_around_an_early_read(begin: Any) -> None:
    call = begin("""
flow: p
state: {agreed: boolean}
records: {r: {fields: {agreed: {recognize: yes_no}}}}
tools: {charge: {when: is_true(agreed)}}
phases: {a: {initial: true, needs: [agreed]}}
""")
    call.turn("hello", "Do you agree?")
    call.send(Heard, "I do not")
    call.tool("charge", "c1")
    call.send(Heard, "agree with that")
    call.send(TurnEnded, {})
    assert call.values.get("agreed") is not True


def test_compensated_is_taken_back_when_the_tool_succeeds(begin: Any) -> None:
    call = begin("""
flow: p
tools: {charge: {commit: true, compensate_with: refund}, refund: {}}
phases: {a: {initial: true}}
""")
    call.tool("charge", "c1")
    call.answer(call.run("c1"), None, "failed", "x")
    call.answer(call.run("c1:compensation"), {})
    assert call.values["compensated:charge"] is True
    call.tool("charge", "c2")
    call.answer(call.run("c2"), {"id": 1})
    assert "compensated:charge" not in call.values


@pytest.mark.parametrize(
    "error", ["invalid_arguments", "not_allowed", "missing_value", "unknown_server"]
)
def test_what_never_ran_is_not_compensated(begin: Any, error: str) -> None:
    call = begin("""
flow: p
tools: {charge: {commit: true, compensate_with: refund}, refund: {}}
phases: {a: {initial: true}}
""")
    call.tool("charge", "c1")
    call.answer(call.run("c1"), None, "failed", error)
    assert not call.asked(RunTool)


def test_commit_cut_by_an_interruption_keeps_its_place_or_is_compensated(begin: Any) -> None:
    call = begin("""
flow: p
tools: {charge: {commit: true, on_interruption: cancel, compensate_with: refund}, refund: {}}
phases: {a: {initial: true}}
""")
    call.tool("charge", "c1")
    run = call.run("c1")
    call.send(Said, "one mom", True)
    call.answer(run, None, "cancelled", "cancelled")
    undone = call.asked(RunTool)
    call.tool("charge", "c2")
    assert undone or not call.asked(RunTool)


def test_a_raising_text_still_answers_the_call(begin: Any) -> None:
    functions = Functions()

    @functions.text
    def words(state: Any) -> str:
        raise ValueError

    call = begin(
        """
flow: p
tools: {charge: {when: is_true(x)}}
phases: {a: {initial: true, instruction: {run: words}}}
""",
        functions,
    )
    step = call.tool("charge", "c1")
    assert [a.status for _, a in call.answers] == ["denied"], step


SILENT = """
flow: s
extract: [{name: X, schema: {properties: {ok: {}}}, promote: [{field: ok}]}]
tools: {pay: {when: is_true(ok)}, ask: {confirm: Sure?}}
phases:
  a:
    initial: true
    no_input: [{after: 1s, do: [{say: Still there?}]}, {after: 1s, do: [{say: Bye}]}]
"""


def test_silence_goes_on_after_a_call_that_waited_was_denied(begin: Any) -> None:
    call = begin(SILENT)
    call.turn("hm", "Hello")
    call.tool("pay", "c1")  # waits for X
    call.ring()  # its deadline
    assert [a.status for _, a in call.answers] == ["denied"]
    call.answer(call.run("X"), {})
    assert call.snapshot.wait.timer is not None


def test_silence_goes_on_after_a_confirmation_was_declined(begin: Any) -> None:
    call = begin(SILENT)
    call.turn("", "Hello")
    call.tool("ask", "c1")
    run = call.run("c1")
    call.at += 60_000
    call.answer(run, False)
    assert call.snapshot.wait.timer is not None


def test_an_input_at_the_instant_of_the_timer_does_not_take_it_away(begin: Any) -> None:
    call = begin(SILENT)
    call.turn("", "Hello")
    _, due = call.snapshot.wait.timer
    call.at = due
    call.set(x=1)
    assert call.snapshot.wait.timer is not None or call.happened(NoInput)


def test_a_barrier_is_settled_even_if_another_input_comes_at_its_instant(begin: Any) -> None:
    call = begin("""
flow: s
extract: [{name: X, schema: {properties: {ok: {}}}}]
phases: {a: {initial: true}}
""")
    call.turn("well")
    assert call.snapshot.wait.barrier
    call.at = call.snapshot.wait.barrier.due_at
    call.set(x=1)
    assert call.snapshot.wait.barrier is None or call.snapshot.wait.timer is not None


def test_noise_is_no_turn_of_the_caller(begin: Any) -> None:
    call = begin("""
flow: s
phases: {a: {initial: true, transitions: [{to: b}]}, b: {}}
""")
    call.turn("   ")
    assert call.phase == "a"


def test_silence_is_counted_after_a_turn_that_failed(begin: Any) -> None:
    call = begin("""
flow: s
state: {n: integer}
phases: {a: {initial: true, no_input: [{after: 1s, do: [{say: Still there?}]}]}}
""")
    call.turn("hello", n="x")
    assert call.snapshot.wait.timer is not None


def test_a_claim_that_comes_in_two_pieces_is_found(begin: Any) -> None:
    from flowengine.facts import EventOffered

    call = begin("""
flow: c
tools: {refill: {claims: [refill is submitted]}}
phases: {a: {initial: true}}
""")
    call.send(Said, "Your refill is")
    call.send(Said, "submitted.")
    assert [f.event for f in call.happened(EventOffered)] == ["claim:refill"]


def _private(call: Any, *values: str) -> list[Any]:
    return [f for f in call.facts if any(v in json.dumps(as_json(f)) for v in values)]


def test_computed_function_with_tracked_reads_of_a_pii_key(begin: Any) -> None:
    functions = Functions()

    @functions.computed
    def greeting(state: Any) -> Any:
        name = state.get("name")
        return f"Dear {name}" if name else None

    call = begin(
        """
flow: p
state: {name: {type: string, pii: true}}
computed: {greeting: {run: greeting}}
phases: {a: {initial: true}}
""",
        functions,
    )
    call.set(name="Jane Smith")
    assert _private(call, "Jane") == []


def test_dotted_pii(begin: Any) -> None:
    call = begin("""
flow: p
state: {person: {type: object, pii: true}}
extract: [{name: X, schema: {properties: {name: {}}}, promote: [{field: name, to: person.name}]}]
phases: {a: {initial: true}}
""")
    call.turn("Jane Smith")
    call.answer(call.run("X"), {"name": "Jane Smith"})
    assert _private(call, "Jane") == []


def test_computed_of_a_path_into_pii(begin: Any) -> None:
    call = begin("""
flow: p
state: {person: {type: object, pii: true}}
computed: {first: {of: person.name, map: {}, else: null}, again: {value: {key: person.name}}}
phases: {a: {initial: true}}
""")
    call.set(person={"name": "Jane"})
    assert _private(call, "Jane") == []


def _transcript(call: Any) -> str:
    from flowengine.runtime.redaction import redacted

    return str(redacted(call.kernel.compiled, call.snapshot))


@pytest.mark.parametrize("prefix", ["turn", "phase"])
def test_a_late_field_of_a_left_phase_or_an_ended_turn_is_dropped(begin: Any, prefix: str) -> None:
    call = begin(f"""
flow: f
state: {{slot: string}}
records:
  r:
    fields:
      slot: {{recognize: {{one_of: [seven, nine]}}}}
      price: {{resolve: prices, args: [slot], to: "{prefix}:price"}}
resolvers: {{prices: {{args: [slot]}}}}
phases: {{a: {{initial: true, transitions: [{{to: b, on: go}}]}}, b: {{}}}}
""")
    call.turn("seven")
    run = call.run("r.price")
    call.ring()  # the barrier is over
    call.set("go")
    assert call.phase == "b"
    call.answer(run, "5")
    assert f"{prefix}:price" not in call.values


@pytest.mark.parametrize(
    "guard", ["confidence(amount) > 0.5", "grounded(amount)", "captured(amount)"]
)
def test_a_call_reads_for_evidence_too(begin: Any, guard: str) -> None:
    call = begin(f"""
flow: f
state: {{amount: decimal}}
records: {{r: {{fields: {{amount: {{recognize: money}}}}}}}}
tools: {{charge: {{when: {guard}}}}}
phases: {{a: {{initial: true}}}}
""")
    call.turn("hello")
    call.send(Heard, "two hundred dollars")
    call.tool("charge")
    assert call.asked(RunTool), call.answers


def test_copy_of_a_pii_key(begin: Any) -> None:
    call = begin("""
flow: p
state: {name: {type: string, pii: true}}
watch: [{key: name, changed: true, do: [{copy: {previous: name}}]}]
phases: {a: {initial: true}}
""")
    call.set(name="Jane Smith")
    assert call.values["previous"] == "Jane Smith"
    assert _private(call, "Jane") == []


def test_result_of_a_resolver_or_a_record_function(begin: Any) -> None:
    functions = Functions()

    @functions.watcher
    async def follow(values: Any) -> Any:
        return {}

    call = begin(
        """
flow: p
state: {name: {type: string, pii: true}}
resolvers: {account: {args: [name]}}
phases: {a: {initial: true, on_enter: [{resolve: account}]}}
""",
        functions,
        name="Jane Smith",
    )
    call.answer(call.run("account"), {"owner": "Jane Smith", "balance": 5})
    assert _private(call, "Jane") == []
