"""Why an output was not a value: one small record per reason, told apart by `code`.

`summary()` is safe to print: it names places of the schema, never what the model wrote there.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from flowengine.llm.data import Data
from flowengine.llm.vocabulary import ExtractionMode


class Reason(Data):
    """`retryable`: asking the same model again may help."""

    retryable: ClassVar[bool] = True

    def summary(self) -> str:
        raise NotImplementedError

    def advice(self) -> str:
        """What the model is told when it is asked again; may quote its own output."""
        return self.summary()


class Unsupported(Reason):
    code: Literal["unsupported"] = "unsupported"
    mode: ExtractionMode
    provider: str
    detail: str = ""
    retryable: ClassVar[bool] = False

    def summary(self) -> str:
        why = self.detail or "it reports neither structured output nor tool calls for this model"
        return f"{self.provider} cannot extract in {self.mode} mode: {why}"


class ToolConflict(Reason):
    code: Literal["tool_conflict"] = "tool_conflict"
    mode: ExtractionMode
    retryable: ClassVar[bool] = False

    def summary(self) -> str:
        return (
            "the request has tools of its own; start a fresh request from its messages, "
            "or clear tools and tool_choice on a copy"
        )


class MissingText(Reason):
    code: Literal["missing_text"] = "missing_text"
    mode: ExtractionMode
    provider: str

    def summary(self) -> str:
        return f"{self.provider} answered without any text in {self.mode} mode"


class MissingToolCall(Reason):
    code: Literal["missing_tool_call"] = "missing_tool_call"
    tool: str
    provider: str

    def summary(self) -> str:
        return f"{self.provider} answered without calling {self.tool}"


class ToolCallCount(Reason):
    code: Literal["tool_call_count"] = "tool_call_count"
    tool: str
    provider: str
    count: int

    def summary(self) -> str:
        return f"{self.provider} called {self.tool} {self.count} times instead of once"


class ParseFailed(Reason):
    code: Literal["parse"] = "parse"
    mode: ExtractionMode
    provider: str
    raw: str = Field(repr=False)
    message: str
    line: int
    col: int

    def summary(self) -> str:
        return f"the output is not JSON: {self.message} at line {self.line}, column {self.col}"


class Issue(Data):
    """One field error; `place` is `loc` without the keys that the schema does not name."""

    loc: tuple[str | int, ...] = Field(repr=False)
    msg: str = Field(repr=False)
    type: str
    place: str = "$"


class ValidationFailed(Reason):
    code: Literal["validation"] = "validation"
    errors: tuple[Issue, ...]

    def summary(self) -> str:
        shown = ", ".join(f"{issue.place} ({issue.type})" for issue in self.errors[:5])
        more = len(self.errors) - 5
        return f"the value does not fit: {shown}" + (f" and {more} more" if more > 0 else "")

    def advice(self) -> str:
        return "; ".join(
            f"{'.'.join(map(str, issue.loc)) or '$'}: {issue.msg}" for issue in self.errors[:20]
        )


class UndeclaredKey(Data):
    """A key the schema does not declare, where it stood, and what is declared there.

    `place` is `path` made safe to print: an unknown name appears only as a near miss.
    """

    key: str = Field(repr=False)
    path: str = Field(repr=False)
    declared: tuple[str, ...]
    place: str = "$"


class Undeclared(Reason):
    code: Literal["undeclared_key"] = "undeclared_key"
    undeclared: UndeclaredKey

    def summary(self) -> str:
        declared = ", ".join(self.undeclared.declared) or "no keys"
        return f"undeclared key at {self.undeclared.place}; declared there: {declared}"

    def advice(self) -> str:
        declared = ", ".join(self.undeclared.declared) or "no keys"
        return f"{self.undeclared.path} is not a key of the schema; use only: {declared}"


class Truncated(Reason):
    code: Literal["truncated"] = "truncated"
    finish: str | None
    thought_tokens: int | None = None

    def summary(self) -> str:
        thoughts = f", {self.thought_tokens} tokens went to thinking" if self.thought_tokens else ""
        return (
            f"the output was cut off (finish reason {self.finish or 'none'}{thoughts}); "
            "raise max_output_tokens or lower thinking"
        )

    def advice(self) -> str:
        return "the JSON was cut off; answer with the complete value, as short as it can be"


class Blocked(Reason):
    code: Literal["blocked"] = "blocked"
    reason: str
    retryable: ClassVar[bool] = False

    def summary(self) -> str:
        return f"the provider blocked the answer ({self.reason})"


class MalformedCall(Reason):
    code: Literal["malformed_call"] = "malformed_call"

    def summary(self) -> str:
        return "the model attempted a tool call that the provider could not read"


class Empty(Reason):
    code: Literal["empty"] = "empty"
    finish: str | None = None

    def summary(self) -> str:
        return f"the answer was empty (finish reason {self.finish or 'none'})"


class Ungrounded(Reason):
    code: Literal["ungrounded"] = "ungrounded"
    paths: tuple[str, ...] = Field(repr=False)
    places: tuple[str, ...] = ()

    def summary(self) -> str:
        return f"not found in the user's words: {', '.join(self.places)}"

    def advice(self) -> str:
        return f"not found in what the user said: {', '.join(self.paths)}; use their own words"


class Budget(Reason):
    code: Literal["budget"] = "budget"
    limit: str
    after: str | None = None
    retryable: ClassVar[bool] = False

    def summary(self) -> str:
        before = f"; the last output was rejected: {self.after}" if self.after else ""
        return f"the limit {self.limit} forbids another call{before}"


class SchemaFailed(Reason):
    code: Literal["schema"] = "schema"
    message: str
    retryable: ClassVar[bool] = False

    def summary(self) -> str:
        return f"what was asked for has no usable JSON Schema: {self.message}"


ExtractError: TypeAlias = Annotated[
    Unsupported
    | ToolConflict
    | MissingText
    | MissingToolCall
    | ToolCallCount
    | ParseFailed
    | ValidationFailed
    | Undeclared
    | Truncated
    | Blocked
    | MalformedCall
    | Empty
    | Ungrounded
    | Budget
    | SchemaFailed,
    Field(discriminator="code"),
]
