"""What is sent to a chat model and what comes back, in no provider's dialect."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import ConfigDict, Field

from flowengine.llm.data import Data, Schema
from flowengine.llm.usage import Usage
from flowengine.llm.vocabulary import ExtractionMode
from flowengine.llm.warnings import Warning_

MODE_OPTION = "extraction_mode"

ThinkingLevel: TypeAlias = Literal["minimal", "low", "medium", "high"]
Thinking: TypeAlias = int | ThinkingLevel | None


class ToolCall(Data):
    """A call the model asks for; `arguments` is its JSON text, whole or cut, as it came."""

    name: str
    arguments: str = Field(repr=False)
    id: str | None = None
    signature: str | None = Field(default=None, repr=False)


class ToolResult(Data):
    """The answer to a `ToolCall`."""

    name: str
    content: str = Field(repr=False)
    id: str | None = None
    is_error: bool = False


class Message(Data):
    """One message of a conversation: words, calls, or results of calls."""

    role: Literal["user", "model"]
    text: str = Field(default="", repr=False)
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()


class ToolSpec(Data):
    """A function the model may call; `parameters` is a JSON Schema."""

    name: str
    description: str = ""
    parameters: Schema = Field(repr=False)


class RequiredTool(Data):
    """The choice of one tool that must be called."""

    name: str


class ResponseFormat(Data):
    """JSON output; without a schema only the syntax is asked for."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    name: str
    json_schema: Schema | None = Field(default=None, alias="schema", repr=False)
    strict: bool = True


class ChatRequest(Data):
    """One request. `thinking`: 0 asks for none, a number is a budget in tokens, a word is a level,
    None leaves the model's default."""

    model: str
    system: str | None = Field(default=None, repr=False)
    messages: tuple[Message, ...] = ()
    temperature: float | None = None
    max_output_tokens: int | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    seed: int | None = None
    thinking: Thinking = 0
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: Literal["auto", "none", "required"] | RequiredTool | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    options: dict[str, Any] = Field(default_factory=dict, repr=False)

    def user(self, text: str) -> ChatRequest:
        """A copy that ends with these words of the user's."""
        return self._append(Message(role="user", text=text))

    def said(self, text: str) -> ChatRequest:
        """A copy that ends with these words of the model's."""
        return self._append(Message(role="model", text=text))

    def with_option(self, mode: ExtractionMode) -> ChatRequest:
        """A copy that asks for an extraction mode, which wins over the extractor's own."""
        return self.model_copy(update={"options": {**self.options, MODE_OPTION: mode.value}})

    def _append(self, message: Message) -> ChatRequest:
        return self.model_copy(update={"messages": (*self.messages, message)})


class ChatResponse(Data):
    """One answer. `text` is None without a text part; thoughts are never part of it.

    `finish_reason` is a `FinishReason` or the provider's own word in lower case; `raw` is the
    body as it came.
    """

    text: str | None = Field(default=None, repr=False)
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    finish_detail: str | None = Field(default=None, repr=False)
    usage: Usage | None = None
    warnings: tuple[Warning_, ...] = ()
    model: str | None = None
    id: str | None = None
    raw: dict[str, Any] | None = Field(default=None, repr=False)
