"""An input whose consequences fail: calls are answered, ledgers right, others' values not lost."""

from __future__ import annotations

from typing import Any

from flowengine import Functions
from flowengine.effects import AskConfirmation, RunTool
from flowengine.facts import BarrierSettled, InputFailed, NoInput

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


TURNS = """
flow: t
state: {amount: decimal, n: integer, word: string}
records: {r: {fields: {amount: {recognize: money}}}}
extract:
  - {name: Mood, schema: {properties: {mood: {}}}}
  - {name: Word, schema: {properties: {word: {}}}, promote: [{field: word, grounding: accept}]}
watch:
  - {key: mood, changed: true, do: [{run: fuss}]}
  - {key: go, changed: true, do: [{run: fuss}]}
phases:
  a:
    initial: true
    needs: [amount]
    no_input: [{after: 5s, do: [{run: fuss}]}, {after: 5s, do: [{say: Hello?}]}]
    transitions: [{to: b, when: captured(amount)}]
  b: {say: Thank you.}
"""


def fussy() -> Functions:
    functions = Functions()

    @functions.watcher
    def fuss(new: Any) -> Any:
        if new != "calm":
            raise ValueError(new)
        return {}

    return functions


def test_a_turn_that_fails_takes_nothing_from_the_one_before(begin: Any) -> None:
    call = begin(TURNS, fussy())
    call.turn("fifty dollars")
    step = call.turn("ok", n="x")
    assert step.error is not None
    assert (call.values["amount"], call.phase, call.said) == ("50", "b", ["Thank you."])
    assert call.happened(BarrierSettled) == [BarrierSettled(1, "next turn")]
    assert isinstance(call.facts[-1], InputFailed)
    for id in list(call.snapshot.wait.runs):
        call.answer(id, {})
    call.turn("ok")
    assert call.values["amount"] == "50"


def test_a_turn_that_fails_after_one_that_fails_too_still_closes_both(begin: Any) -> None:
    call = begin(TURNS, fussy())
    call.turn("fifty dollars")
    call.answer(call.run("Mood"), {"mood": "angry"})
    step = call.turn("ok", n="x")
    assert step.error is not None
    assert call.happened(BarrierSettled) == [BarrierSettled(1, "failed")]
    assert [turn.user for turn in call.snapshot.transcript.turns] == ["fifty dollars", "ok"]
    assert call.snapshot.wait.barrier is None


def test_a_run_whose_value_fails_takes_nothing_from_the_others(begin: Any) -> None:
    call = begin(TURNS, fussy())
    call.turn("fifty dollars")
    call.answer(call.run("Word"), {"word": "dollars"})
    step = call.answer(call.run("Mood"), {"mood": "angry"})
    assert step.error is not None
    assert (call.values["amount"], call.values["word"], call.phase) == ("50", "dollars", "b")
    assert "derived:mood" not in call.values


def test_another_input_that_fails_leaves_a_due_barrier_to_its_timer(begin: Any) -> None:
    call = begin(TURNS, fussy())
    call.turn("fifty dollars")
    call.at = call.snapshot.wait.barrier.due_at
    call.set(go=True)
    assert call.happened(InputFailed)
    assert call.snapshot.wait.barrier is not None
    call.ring()
    assert call.values["amount"] == "50"


def test_a_step_of_silence_that_fails_is_not_taken_again_and_again(begin: Any) -> None:
    call = begin(TURNS, fussy())
    for rung in (0, 1):
        call.ring()
        assert call.happened(NoInput) == [NoInput("a", rung)]
        assert bool(call.happened(InputFailed)) is (rung == 0)


def test_a_step_of_silence_that_fails_takes_nothing_from_the_turn_it_comes_with(begin: Any) -> None:
    call = begin(TURNS.replace("captured(amount)", "is_true(go)"), fussy())
    call.turn("fifty dollars")
    call.ring()
    assert call.happened(NoInput) == [NoInput("a", 0)]
    assert call.happened(BarrierSettled) == [BarrierSettled(1, "timed out")]
    assert call.happened(InputFailed)
    assert call.values["amount"] == "50"
