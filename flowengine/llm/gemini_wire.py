"""Requests and answers in Gemini's own JSON, both ways; knows nothing of the SDK."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from flowengine.llm.data import JSON, Schema, compact, is_object
from flowengine.llm.dialect import GEMINI, ForeignReference, Loss
from flowengine.llm.errors import BadPayload, Refusal
from flowengine.llm.foreign import a_text, an_object, first_object, objects
from flowengine.llm.messages import (
    ChatRequest,
    ChatResponse,
    Message,
    RequiredTool,
    Thinking,
    ToolCall,
)
from flowengine.llm.provider import Done, StreamEvent, TextDelta, ToolCallDelta, UsageUpdate
from flowengine.llm.usage import Usage
from flowengine.llm.vocabulary import FinishReason, RequestField, WarningKind
from flowengine.llm.warnings import Warning_

NAME = "gemini"
_FINISH = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    "MALFORMED_FUNCTION_CALL": FinishReason.MALFORMED_CALL,
    "MALFORMED_RESPONSE": FinishReason.MALFORMED_CALL,
    "UNEXPECTED_TOOL_CALL": FinishReason.MALFORMED_CALL,
}
_BLOCKING = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR")
_CHOICES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


@dataclass(frozen=True)
class Wire:
    """The `contents` and `config` of a call, and what was lost in them."""

    contents: list[dict[str, Any]] = field(repr=False)
    config: dict[str, Any] = field(repr=False)
    warnings: tuple[Warning_, ...]


def write_request(request: ChatRequest) -> Wire:
    """The request as the SDK takes it, without thinking. Raises `Refusal`."""
    if not request.messages:
        raise Refusal("request.empty", "a request needs at least one message")
    config: dict[str, Any] = {
        "system_instruction": request.system,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_output_tokens": request.max_output_tokens,
        "stop_sequences": list(request.stop) or None,
        "presence_penalty": request.presence_penalty,
        "frequency_penalty": request.frequency_penalty,
        "seed": request.seed,
    }
    losses: list[Warning_] = []
    if request.response_format is not None:
        config["response_mime_type"] = "application/json"
        if request.response_format.json_schema is not None:
            schema, lost = _adapted(request.response_format.json_schema)
            config["response_json_schema"] = schema
            losses += [loss.warning(NAME, RequestField.RESPONSE_FORMAT) for loss in lost]
    if request.tools:
        config["tools"], lost_in_tools = _tools(request)
        losses += lost_in_tools
        config["tool_config"] = _tool_config(request)
    if request.parallel_tool_calls is not None:
        losses.append(_NO_PARALLEL)
    sent = {key: value for key, value in config.items() if value is not None}
    return Wire([_content(message) for message in request.messages], sent, tuple(losses))


def thinking_config(thinking: Thinking) -> dict[str, Any]:
    """The config's part about thinking; budget and level are never both sent."""
    if thinking is None:
        return {}
    key = "thinking_level" if isinstance(thinking, str) else "thinking_budget"
    return {"thinking_config": {key: thinking}}


def read_response(text: str, warnings: tuple[Warning_, ...]) -> ChatResponse:
    """The response of a whole body. Raises `BadPayload` for one that is not a JSON object."""
    try:
        body: JSON = json.loads(text)
    except ValueError:
        body = None
    if not is_object(body):
        raise BadPayload("the answer is not a JSON object", code=200, provider=NAME)
    parts = _parts(body)
    texts = [str(part["text"]) for part in parts if _is_text(part)]
    calls = tuple(_call(part) for part in parts if "functionCall" in part)
    finish, detail = _finish(body)
    if finish == FinishReason.STOP and calls:
        finish = FinishReason.TOOL_CALLS
    return ChatResponse(
        text="".join(texts) if texts else None,
        tool_calls=calls,
        finish_reason=finish,
        finish_detail=detail,
        usage=_usage(body),
        warnings=warnings,
        model=a_text(body.get("modelVersion")),
        id=a_text(body.get("responseId")),
        raw=body,
    )


class ChunkReader:
    """Turns the chunks of one stream into events; calls are numbered across chunks."""

    def __init__(self) -> None:
        self._calls = 0
        self._done: Done | None = None

    def read(self, body: dict[str, Any]) -> Iterator[StreamEvent]:
        for part in _parts(body):
            if _is_text(part):
                yield TextDelta(str(part["text"]))
            elif "functionCall" in part:
                call = _call(part)
                yield ToolCallDelta(
                    self._calls, call.arguments, call.name, id=call.id, signature=call.signature
                )
                self._calls += 1
        usage = _usage(body)
        if usage is not None:
            yield UsageUpdate(usage)
        finish, detail = _finish(body)
        if finish is not None:
            if finish == FinishReason.STOP and self._calls:
                finish = FinishReason.TOOL_CALLS
            model, answer_id = a_text(body.get("modelVersion")), a_text(body.get("responseId"))
            self._done = Done(finish, detail, model, answer_id)

    def end(self) -> Iterator[StreamEvent]:
        """The closing event, none for a stream that was cut."""
        if self._done is not None:
            yield self._done


_NO_PARALLEL = Warning_(
    kind=WarningKind.IGNORED,
    field=RequestField.OTHER,
    provider=NAME,
    code="unsupported.parallel_tool_calls",
    message="Gemini has no such setting",
)


def _adapted(schema: Schema) -> tuple[Schema, tuple[Loss, ...]]:
    try:
        return _adapted_text(compact(schema))
    except ForeignReference as error:
        raise Refusal("schema.foreign_reference", str(error)) from None


@lru_cache(maxsize=256)
def _adapted_text(schema: str) -> tuple[Schema, tuple[Loss, ...]]:
    return GEMINI.adapt(json.loads(schema))


def _tools(request: ChatRequest) -> tuple[list[dict[str, Any]], list[Warning_]]:
    declared: list[dict[str, Any]] = []
    losses: list[Warning_] = []
    for tool in request.tools:
        schema, lost = _adapted(tool.parameters)
        declared.append(
            {
                "name": tool.name,
                "description": tool.description,
                "parameters_json_schema": schema,
            }
        )
        losses += [loss.warning(NAME, RequestField.TOOLS) for loss in lost]
    return [{"function_declarations": declared}], losses


def _tool_config(request: ChatRequest) -> dict[str, Any] | None:
    choice = request.tool_choice
    if choice is None:
        return None
    if isinstance(choice, RequiredTool):
        calling = {"mode": "ANY", "allowed_function_names": [choice.name]}
    else:
        calling = {"mode": _CHOICES[choice]}
    return {"function_calling_config": calling}


def _content(message: Message) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": message.text}] if message.text else []
    for call in message.tool_calls:
        named = {"name": call.name, "id": call.id, "args": _arguments(call)}
        part: dict[str, Any] = {"function_call": named}
        if call.signature:
            part["thought_signature"] = base64.urlsafe_b64decode(call.signature)
        parts.append(part)
    for result in message.tool_results:
        response = {"name": result.name, "id": result.id, "response": _result(result.content)}
        parts.append({"function_response": response})
    return {"role": message.role, "parts": parts}


def _arguments(call: ToolCall) -> dict[str, Any]:
    try:
        value: JSON = json.loads(call.arguments or "{}")
    except ValueError:
        value = None
    if not is_object(value):
        raise Refusal("tool_call.arguments", f"a call of {call.name} has no JSON arguments")
    return value


def _result(content: str) -> dict[str, Any]:
    try:
        value: JSON = json.loads(content)
    except ValueError:
        value = content
    return value if is_object(value) else {"output": value}


def _candidate(body: dict[str, Any]) -> dict[str, Any]:
    return first_object(body.get("candidates"))


def _parts(body: dict[str, Any]) -> list[dict[str, Any]]:
    return objects(an_object(_candidate(body).get("content")).get("parts"))


def _is_text(part: dict[str, Any]) -> bool:
    return isinstance(part.get("text"), str) and not part.get("thought")


def _call(part: dict[str, Any]) -> ToolCall:
    call = an_object(part.get("functionCall"))
    signature = a_text(part.get("thoughtSignature"))
    return ToolCall(
        name=a_text(call.get("name")) or "",
        arguments=compact(call.get("args") or {}),
        id=a_text(call.get("id")),
        signature=signature.replace("+", "-").replace("/", "_") if signature else None,
    )


def _finish(body: dict[str, Any]) -> tuple[str | None, str | None]:
    blocked = a_text(an_object(body.get("promptFeedback")).get("blockReason"))
    if blocked:
        return FinishReason.BLOCKED, blocked
    reason = a_text(_candidate(body).get("finishReason"))
    if reason is None:
        return None, None
    if any(word in reason for word in _BLOCKING):
        return FinishReason.BLOCKED, reason
    return _FINISH.get(reason, reason.lower()), reason


def _usage(body: dict[str, Any]) -> Usage | None:
    counts: Any = body.get("usageMetadata")
    return Usage.from_gemini(counts) if is_object(counts) else None
