"""Tools as a flow declares them: plain data, gated by the kernel and run elsewhere."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

from pydantic import Field, JsonValue, field_validator, model_validator

from flowengine.data import Data, Duration
from flowengine.errors import did_you_mean
from flowengine.guards import Guard
from flowengine.sources.spec import HttpRequest, McpCall

Times: TypeAlias = Literal["once", "per_correction", "per_arguments"]
"""How often a tool may succeed: once in a call; once until something it rests on is corrected;
once for each set of arguments. A call under way counts, a failed one does not."""


JSON_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")


class Tool(Data):
    """A function that the model may call; it runs only if the gate admits the call."""

    description: str = ""
    args: dict[str, Any] = Field(default_factory=dict)
    """Argument name -> its JSON Schema; `name: string` is short for the type alone."""
    when: Guard | None = None
    """Must hold, over State and `args.x`, for a call to run."""
    times: Times | None = None
    commit: bool = False
    """It cannot be undone: `times` is `once` unless it says otherwise, and a guard is expected."""
    idempotency_key: str | None = None
    """A template over `{args.x}` and `{key}`: a call whose key has succeeded gets that result."""
    compensate_with: str | None = None
    """The tool that is run with the same arguments when this one fails."""
    confirm: str | bool = False
    """Someone outside the conversation must agree to each call; a text is the question."""
    background: Literal["when_idle", "interrupt", "silent"] | None = None
    """The model is answered at once; the result is told later, in this manner."""
    ambient: bool = False
    """Open in every phase, whatever the phases' `allow` lists say; all else still binds."""
    claims: tuple[str, ...] = ()
    """Patterns of the model's words that say it was done, such as `refill is submitted`: said
    before the tool has succeeded, they raise the event `claim:{tool}`."""
    cache: bool | Duration = False
    """Reuse a success for the same arguments, for the whole call or for a time."""
    on_interruption: Literal["cancel", "finish"] | None = None
    """What an interruption does to a running call; a commit finishes, anything else is cancelled,
    unless it says otherwise."""
    run: str | None = None
    """The registered function; the tool's own name if absent."""
    http: HttpRequest | None = None
    mcp: McpCall | None = None
    respond: JsonValue = None
    """A canned response, for flows without code and for tests."""
    set: dict[str, JsonValue] = Field(default_factory=dict)
    """Keys written when the call succeeds; `result.x` in a string value reads the response."""
    save_as: str | None = None
    """The key that keeps the whole response."""
    timeout: Duration = "10s"

    @field_validator("args", mode="before")
    @classmethod
    def _arg_types(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        given = cast("dict[Any, Any]", value)
        args = {k: {"type": v} if isinstance(v, str) else v for k, v in given.items()}
        for name, schema in args.items():
            if isinstance(schema, dict) and "type" in schema:
                _check_type(str(name), schema["type"])  # pyright: ignore[reportUnknownArgumentType]
        return args

    @model_validator(mode="after")
    def _has_one_source(self) -> Tool:
        given = [n for n in ("run", "http", "mcp") if getattr(self, n) is not None]
        if len(given) > 1:
            raise ValueError(f"a tool has one source; it has {' and '.join(given)}")
        if self.background and self.commit:
            raise ValueError("a commit answers with its result: it cannot run in the background")
        return self

    @property
    def limit(self) -> Times | None:
        """How often it may succeed."""
        return self.times or ("once" if self.commit else None)

    @property
    def finishes(self) -> bool:
        """Whether a running call outlives an interruption."""
        default = "finish" if self.commit or self.background else "cancel"
        return (self.on_interruption or default) == "finish"


def _check_type(argument: str, declared: object) -> None:
    """A misspelt type would only be found when the model calls the tool."""
    names = cast("list[object]", declared) if isinstance(declared, list) else [declared]
    for name in names:
        if name not in JSON_TYPES:
            guess = did_you_mean(str(name), JSON_TYPES)
            raise ValueError(f"argument {argument!r}: there is no type {name!r}.{guess}")
