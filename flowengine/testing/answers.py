"""Scripted answers to effects: what an extractor, a resolver or a tool brings back in a test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

from flowengine.decide.decider import Question
from flowengine.effects import (
    AskConfirmation,
    Decide,
    Resolve,
    RunExtractor,
    RunFunction,
    RunTool,
)
from flowengine.errors import FlowError
from flowengine.flow.functions import Functions
from flowengine.flow.model import Flow
from flowengine.inputs import Json, Outcome
from flowengine.transcript import Turn


class Failure(NamedTuple):
    """An answer that is none: the run failed, timed out or was cancelled; `error` is a code."""

    status: Literal["failed", "timed_out", "cancelled"] = "failed"
    error: str = "failed"


class _Open(Enum):
    PENDING = "pending"


PENDING: Final = _Open.PENDING
"""No answer yet: the run stays open until it is answered, or until the clock ends the wait."""

Pending: TypeAlias = Literal[_Open.PENDING]
Extract: TypeAlias = Callable[[tuple[Turn, ...], Mapping[str, Json]], Mapping[str, Json]]
Fields: TypeAlias = Mapping[str, Json] | Failure | Pending
"""What an extractor answers."""
Answer: TypeAlias = Json | Failure | Pending
"""What anything else answers."""
Decisions: TypeAlias = Mapping[str, Json] | Failure | Pending
"""What a round of questions answers: question -> probability, option, level, or all in full; a
question that is left out is unsure."""
Agreement: TypeAlias = bool | str
"""Whoever is asked to confirm a call agrees, or declines, perhaps with a reason."""
Task: TypeAlias = RunExtractor | Resolve | Decide | RunFunction | RunTool | AskConfirmation
"""An effect that wants an answer."""


def failure(error: str) -> Failure:
    """How a run ends by this code; `timed_out` and `cancelled` are ends of their own."""
    return Failure(error if error in ("timed_out", "cancelled") else "failed", error)


def outcome(effect: str, at: int, answer: Any) -> Outcome:
    """The input that brings an answer back."""
    id = f"outcome-{effect}"
    if isinstance(answer, Failure):
        return Outcome(id, at, effect, answer.status, None, answer.error or answer.status)
    if isinstance(answer, Mapping):
        answer = dict(cast("Mapping[str, Json]", answer))
    return Outcome(id, at, effect, "ok", answer)


def registered(functions: Functions, flow: Flow, task: Task) -> Callable[[], Any] | None:
    """The flow's own function behind an effect, ready to call; None if it has none or is async."""
    match task:
        case RunExtractor(_, name, _, window, known):
            return _bound(functions, "extractor", name, window, known)
        case Resolve(_, name, args, _):
            spec = flow.resolvers.get(name)
            return _bound(functions, "resolver", (spec and spec.run) or name, **args)
        case RunFunction(_, name, values):
            return _bound(functions, "watcher", name, values)
        case RunTool(_, _, name, args, _):
            return _bound(functions, "tool", flow.tools[name].run or name, **args)
        case Decide() | AskConfirmation():
            return None


def call(function: Callable[[], Any]) -> Answer:
    """What a function of the flow answers; if it raises, that is its answer."""
    try:
        return function()
    except Exception as error:  # noqa: BLE001 - an effect's fault is its outcome
        return Failure("failed", error.code if isinstance(error, FlowError) else _name(error))


def rule(functions: Functions, flow: Flow, id: str, task: Decide) -> Callable[[], Any] | None:
    """The flow's own function for a question, ready to call; None if it has none or is async."""
    question = Question(id, flow.decisions[id], task.options[id])
    name = question.spec.run or id
    return _bound(functions, "decision", name, task.window, question)


def _bound(functions: Functions, kind: str, name: str, /, *args: Any, **kwargs: Any) -> Any:
    function = functions.of(kind).get(name)
    if function is None or inspect.iscoroutinefunction(function):
        return None
    return lambda: function(*args, **kwargs)


def _name(error: Exception) -> str:
    return type(error).__name__
