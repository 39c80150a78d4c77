"""Asks the model again: its own answer, then what was wrong with it; only the newest failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from flowengine.llm.data import compact, is_object
from flowengine.llm.jsontext import NotJson, parse_strict
from flowengine.llm.messages import ChatResponse, Message, ToolResult
from flowengine.llm.reasons import Reason

MAX_QUOTE = 4096


@dataclass(frozen=True)
class Rejected:
    """An answer that could not be used; `tool` is the synthetic tool's name, if one was asked."""

    response: ChatResponse
    reason: Reason
    tool: str | None


ReaskBuilder: TypeAlias = Callable[[Rejected], tuple[Message, ...]]


def reask(rejected: Rejected) -> tuple[Message, ...]:
    """The messages to append to the original conversation."""
    return _as_call(rejected) or _as_text(rejected)


def _as_call(rejected: Rejected) -> tuple[Message, ...]:
    """The rejected call and its result, as long as the call can be repeated word for word."""
    calls = rejected.response.tool_calls
    if rejected.tool is None or len(calls) != 1 or calls[0].name != rejected.tool:
        return ()
    try:
        repeatable = is_object(parse_strict(calls[0].arguments))
    except NotJson:
        return ()
    if not repeatable or len(calls[0].arguments.encode()) > MAX_QUOTE:
        return ()
    error = compact({"error": instruction(rejected)})
    answer = ToolResult(name=rejected.tool, content=error, id=calls[0].id, is_error=True)
    return (
        Message(role="model", tool_calls=calls),
        Message(role="user", tool_results=(answer,)),
    )


def _as_text(rejected: Rejected) -> tuple[Message, ...]:
    said = rejected.response.text or "".join(c.arguments for c in rejected.response.tool_calls)
    request = Message(role="user", text=instruction(rejected))
    if not said.strip():
        return (request,)
    return (Message(role="model", text=bounded(said)), request)


def instruction(rejected: Rejected) -> str:
    how = f"Call {rejected.tool} again" if rejected.tool else "Answer again with JSON only"
    advice = bounded(rejected.reason.advice())
    return f"That could not be used: {advice}. {how}, with this corrected and the rest unchanged."


def bounded(text: str) -> str:
    """At most 4 kB of a text, so that a failure cannot make the next request grow without end."""
    data = text.encode(errors="replace")
    if len(data) <= MAX_QUOTE:
        return text
    return data[: MAX_QUOTE - 4].decode(errors="ignore") + " ..."
