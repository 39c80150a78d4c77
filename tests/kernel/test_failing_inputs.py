"""An input whose consequences fail: every call is answered and its place in the ledger is right."""

from __future__ import annotations

from typing import Any

from flowengine import Functions
from flowengine.effects import AskConfirmation, RunTool

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
