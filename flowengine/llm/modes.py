"""The modes of extraction: which may be used, what is sent in each, and where the answer stands."""

from __future__ import annotations

from typing import Any

from flowengine.llm.data import compact
from flowengine.llm.messages import (
    MODE_OPTION,
    ChatRequest,
    ChatResponse,
    Message,
    RequiredTool,
    ResponseFormat,
    ToolSpec,
)
from flowengine.llm.nulls import strict_schema
from flowengine.llm.provider import ChatProvider
from flowengine.llm.reasons import (
    Blocked,
    Empty,
    MalformedCall,
    MissingText,
    MissingToolCall,
    Reason,
    ToolCallCount,
    Truncated,
)
from flowengine.llm.relax import relax
from flowengine.llm.schema import Target
from flowengine.llm.vocabulary import (
    Capability,
    ExtractionMode,
    FinishReason,
    RequestField,
    SchemaEnforcement,
    Support,
    WarningKind,
    relied_field,
)
from flowengine.llm.warnings import Warning_

SUBMIT_TOOL = "submit_structured_output"
ASK = "Give the value now, from the conversation above."
PREFILL = Warning_(
    kind=WarningKind.CHANGED,
    field=RequestField.OTHER,
    code="prefill.avoided",
    message="the conversation did not end with the user, so a user message asking for the value "
    "was added; most providers refuse a schema together with a started answer",
)
PROMPTED = Warning_(
    kind=WarningKind.IGNORED,
    field=RequestField.RESPONSE_FORMAT,
    code="format.prompted",
    message="the schema is only part of the prompt",
)


def mode_of(request: ChatRequest, default: ExtractionMode) -> ExtractionMode:
    """The mode asked for by the request's option, else the default."""
    return ExtractionMode(request.options.get(MODE_OPTION, default))


def usable_modes(
    provider: ChatProvider, model: str, mode: ExtractionMode, *, allow_prompted: bool
) -> tuple[ExtractionMode, ...]:
    """The modes to try, best first; an explicit mode is tried whatever the provider reports."""
    if mode is not ExtractionMode.AUTO:
        return (mode,)
    ways = (
        (ExtractionMode.NATIVE, Capability.STRUCTURED_OUTPUT),
        (ExtractionMode.FORCED_TOOL, Capability.TOOL_CALLS),
    )
    found = [way for way, cap in ways if provider.capability(model, cap) is Support.SUPPORTED]
    return (*found, ExtractionMode.PROMPTED) if allow_prompted else tuple(found)


def derive(
    request: ChatRequest, target: Target[Any], mode: ExtractionMode, level: int
) -> tuple[ChatRequest, tuple[Warning_, ...]]:
    """A new request that asks for the target; everything not about the output stays as it is."""
    schema, losses = relax(target.schema, level)
    warnings = tuple(loss.warning("", relied_field(mode)) for loss in losses)
    update: dict[str, Any] = {
        "options": {k: v for k, v in request.options.items() if k != MODE_OPTION},
        "response_format": None,
        "tools": (),
        "tool_choice": None,
        "parallel_tool_calls": None,
    }
    if mode is ExtractionMode.FORCED_TOOL:
        tool = ToolSpec(name=SUBMIT_TOOL, description="Submit the value.", parameters=schema)
        update |= {"tools": (tool,), "tool_choice": RequiredTool(name=SUBMIT_TOOL)}
    elif mode is ExtractionMode.PROMPTED:
        words = f"Answer with JSON only, which fits this JSON Schema: {compact(schema)}"
        update |= {
            "response_format": ResponseFormat(name=target.name, strict=False),
            "system": f"{request.system}\n\n{words}" if request.system else words,
        }
        warnings = (*warnings, PROMPTED)
    else:
        strict = target.strict if level == 0 else strict_schema(schema)
        update["response_format"] = ResponseFormat(name=target.name, schema=strict)
    return request.model_copy(update=update), warnings


def end_with_user(request: ChatRequest) -> tuple[ChatRequest, tuple[Warning_, ...]]:
    """The request with a last message of the user's, added when there is none."""
    if request.messages and request.messages[-1].role == "user":
        return request, ()
    asked = (*request.messages, Message(role="user", text=ASK))
    return request.model_copy(update={"messages": asked}), (PREFILL,)


def answer_of(response: ChatResponse, mode: ExtractionMode, provider: str) -> str | Reason:
    """The JSON text of an answer, or why there is none."""
    thoughts = response.usage.reasoning_tokens if response.usage else None
    match response.finish_reason:
        case FinishReason.BLOCKED:
            return Blocked(reason=response.finish_detail or "blocked")
        case FinishReason.LENGTH | FinishReason.REPETITION as finish:
            return Truncated(finish=str(finish), thought_tokens=thoughts)
        case FinishReason.MALFORMED_CALL:
            return MalformedCall()
        case _ if mode is ExtractionMode.FORCED_TOOL:
            return _call_arguments(response, provider)
        case _:
            return _text(response, mode, provider)


def _text(response: ChatResponse, mode: ExtractionMode, provider: str) -> str | Reason:
    if response.text is None:
        return MissingText(mode=mode, provider=provider)
    if not response.text.strip():
        return Empty(finish=response.finish_reason)
    return response.text


def _call_arguments(response: ChatResponse, provider: str) -> str | Reason:
    calls = [call for call in response.tool_calls if call.name == SUBMIT_TOOL]
    if not calls:
        return MissingToolCall(tool=SUBMIT_TOOL, provider=provider)
    if len(calls) > 1:
        return ToolCallCount(tool=SUBMIT_TOOL, provider=provider, count=len(calls))
    return calls[0].arguments


def enforcement_of(warnings: tuple[Warning_, ...], mode: ExtractionMode) -> SchemaEnforcement:
    """How far the schema was enforced in one pass, by the warnings on the field it travels in."""
    if mode is ExtractionMode.PROMPTED:
        return SchemaEnforcement.NOT_ENFORCED
    kinds = {warning.kind for warning in warnings if warning.field is relied_field(mode)}
    if WarningKind.IGNORED in kinds:
        return SchemaEnforcement.NOT_ENFORCED
    return SchemaEnforcement.PARTIAL if kinds else SchemaEnforcement.ENFORCED
