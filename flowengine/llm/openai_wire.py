"""Requests and answers in the JSON of OpenAI's chat completions, both ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flowengine.llm.data import Schema, is_object
from flowengine.llm.dialect import OPENAI_STRICT, ForeignReference
from flowengine.llm.errors import Refusal
from flowengine.llm.foreign import a_count, a_text, an_object, first_object, objects
from flowengine.llm.messages import (
    ChatRequest,
    ChatResponse,
    Message,
    RequiredTool,
    ResponseFormat,
    ToolCall,
)
from flowengine.llm.nulls import strict_schema
from flowengine.llm.provider import Done, StreamEvent, TextDelta, ToolCallDelta, UsageUpdate
from flowengine.llm.refs import children
from flowengine.llm.usage import Usage
from flowengine.llm.vocabulary import FinishReason, RequestField, WarningKind
from flowengine.llm.warnings import Warning_

_FINISH = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.BLOCKED,
}


def write_request(
    request: ChatRequest, provider: str, cap: str
) -> tuple[dict[str, Any], tuple[Warning_, ...]]:
    """The request's body and what was lost in it; `cap` names the token limit's field."""
    system = [{"role": "system", "content": request.system}] if request.system else []
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [*system, *(line for m in request.messages for line in _messages(m))],
        "temperature": request.temperature,
        "top_p": request.top_p,
        cap: request.max_output_tokens,
        "stop": list(request.stop) or None,
        "presence_penalty": request.presence_penalty,
        "frequency_penalty": request.frequency_penalty,
        "seed": request.seed,
        # A budget has no counterpart here; only a level does.
        "reasoning_effort": request.thinking if isinstance(request.thinking, str) else None,
        "parallel_tool_calls": request.parallel_tool_calls,
    }
    losses: list[Warning_] = []
    if isinstance(request.thinking, int) and request.thinking > 0:
        losses.append(_no_budget(provider))
    if request.response_format is not None:
        body["response_format"] = _format(request.response_format, provider, losses)
    if request.tools:
        body["tools"] = [
            _tool(tool.name, tool.description, tool.parameters, provider, losses)
            for tool in request.tools
        ]
        body["tool_choice"] = _choice(request)
    return {key: value for key, value in body.items() if value is not None}, tuple(losses)


def read_response(body: dict[str, Any], warnings: tuple[Warning_, ...]) -> ChatResponse:
    choice = _choice_of(body)
    message = an_object(choice.get("message"))
    finish, detail = _finish(choice, refused=bool(message.get("refusal")))
    return ChatResponse(
        text=a_text(message.get("content")),
        tool_calls=tuple(_call(call) for call in objects(message.get("tool_calls"))),
        finish_reason=finish,
        finish_detail=detail,
        usage=_usage(body),
        warnings=warnings,
        model=a_text(body.get("model")),
        id=a_text(body.get("id")),
        raw=body,
    )


class ChunkReader:
    """Turns the chunks of one stream into events; usage comes after the finish reason."""

    def __init__(self) -> None:
        self._done: Done | None = None
        self._refused = False

    def read(self, body: dict[str, Any]) -> Iterator[StreamEvent]:
        choice = _choice_of(body)
        delta = an_object(choice.get("delta"))
        self._refused = self._refused or bool(delta.get("refusal"))
        text = a_text(delta.get("content"))
        if text:
            yield TextDelta(text)
        for call in objects(delta.get("tool_calls")):
            told = _call(call)
            index = a_count(call.get("index")) or 0
            yield ToolCallDelta(index, told.arguments, told.name or None, told.id)
        usage = _usage(body)
        if usage is not None:
            yield UsageUpdate(usage)
        finish, detail = _finish(choice, refused=self._refused)
        if a_text(choice.get("finish_reason")) is not None:
            model, answer_id = a_text(body.get("model")), a_text(body.get("id"))
            self._done = Done(finish, detail, model, answer_id)

    def end(self) -> Iterator[StreamEvent]:
        if self._done is not None:
            yield self._done


def _messages(message: Message) -> list[dict[str, Any]]:
    results = [
        {"role": "tool", "tool_call_id": result.id, "content": result.content}
        for result in message.tool_results
    ]
    if results:
        return results
    role = "assistant" if message.role == "model" else "user"
    line: dict[str, Any] = {"role": role, "content": message.text}
    if message.tool_calls:
        line["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    return [line]


def _no_budget(provider: str) -> Warning_:
    return Warning_(
        kind=WarningKind.DROPPED,
        field=RequestField.THINKING,
        provider=provider,
        code="thinking.dropped",
        message="a thinking budget cannot be sent here; use a level",
    )


def _format(wanted: ResponseFormat, provider: str, losses: list[Warning_]) -> dict[str, Any]:
    if wanted.json_schema is None:
        return {"type": "json_object"}
    told = _schema(wanted.json_schema, provider, RequestField.RESPONSE_FORMAT, losses)
    return {"type": "json_schema", "json_schema": {"name": wanted.name, **told}}


def _tool(
    name: str, description: str, schema: Schema, provider: str, losses: list[Warning_]
) -> dict[str, Any]:
    told = _schema(schema, provider, RequestField.TOOLS, losses)
    parameters = told.pop("schema")
    function = {"name": name, "description": description, "parameters": parameters, **told}
    return {"type": "function", "function": function}


def _schema(
    schema: Schema, provider: str, field: RequestField, losses: list[Warning_]
) -> dict[str, Any]:
    """`schema` and `strict`; a map cannot be said strictly, so its schema goes unenforced."""
    if has_map(schema):
        losses.append(
            Warning_(
                kind=WarningKind.IGNORED,
                field=field,
                provider=provider,
                code="schema.not_strict",
                message="a map of any keys cannot be enforced; the schema is sent as a hint",
            )
        )
        return {"schema": schema, "strict": False}
    try:
        adapted, lost = OPENAI_STRICT.adapt(strict_schema(schema))
    except ForeignReference as error:
        raise Refusal("schema.foreign_reference", str(error)) from None
    losses += [loss.warning(provider, field) for loss in lost]
    return {"schema": adapted, "strict": True}


def has_map(node: Any) -> bool:
    """Whether some object in the schema takes keys it does not name."""
    if not is_object(node):
        return False
    if node.get("additionalProperties", False) is not False:
        return True
    bare = node.get("type") == "object" and "properties" not in node
    return bare or any(has_map(child) for _, child in children(node))


def _choice(request: ChatRequest) -> Any:
    choice = request.tool_choice
    if isinstance(choice, RequiredTool):
        return {"type": "function", "function": {"name": choice.name}}
    return choice


def _choice_of(body: dict[str, Any]) -> dict[str, Any]:
    return first_object(body.get("choices"))


def _finish(choice: dict[str, Any], *, refused: bool) -> tuple[str | None, str | None]:
    if refused:
        return FinishReason.BLOCKED, "refusal"
    reason = a_text(choice.get("finish_reason"))
    return (None, None) if reason is None else (_FINISH.get(reason, reason), reason)


def _call(call: dict[str, Any]) -> ToolCall:
    told = an_object(call.get("function"))
    name, arguments = a_text(told.get("name")) or "", a_text(told.get("arguments")) or ""
    return ToolCall(name=name, arguments=arguments, id=a_text(call.get("id")))


def _usage(body: dict[str, Any]) -> Usage | None:
    counts: Any = body.get("usage")
    if not is_object(counts):
        return None
    prompt = an_object(counts.get("prompt_tokens_details"))
    completion = an_object(counts.get("completion_tokens_details"))
    return Usage(
        input_tokens=a_count(counts.get("prompt_tokens")),
        output_tokens=a_count(counts.get("completion_tokens")),
        total_tokens=a_count(counts.get("total_tokens")),
        cached_input_tokens=a_count(prompt.get("cached_tokens")),
        reasoning_tokens=a_count(completion.get("reasoning_tokens")),
    )
