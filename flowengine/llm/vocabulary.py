"""The words of typed extraction: small closed sets, with names that are safe to store."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from flowengine.errors import did_you_mean


class ExtractionMode(StrEnum):
    """How the model is asked for the value; `auto` picks by what the provider supports."""

    AUTO = "auto"
    NATIVE = "native"
    FORCED_TOOL = "forced_tool"
    PROMPTED = "prompted"

    @classmethod
    def _missing_(cls, value: object) -> ExtractionMode:
        names = [mode.value for mode in cls]
        hint = did_you_mean(value, names) if isinstance(value, str) else ""
        raise ValueError(f"not an extraction mode; use one of {', '.join(names)}.{hint}")


class SchemaEnforcement(IntEnum):
    """How far the provider says it held the output to the schema; ordered, so `min` is the worst.

    Stored by name, because the numbers only serve the order.
    """

    NOT_ENFORCED = 0
    PARTIAL = 1
    ENFORCED = 2

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls._read,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda level: level.name.lower(), return_schema=core_schema.str_schema()
            ),
        )

    @classmethod
    def _read(cls, value: object) -> SchemaEnforcement:
        if isinstance(value, str) and value.upper() in cls.__members__:
            return cls[value.upper()]
        if isinstance(value, SchemaEnforcement):
            return value
        raise ValueError("not a schema enforcement; use not_enforced, partial or enforced")


class Support(StrEnum):
    """What a provider says of a capability; `unknown` never counts as supported."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


class Capability(StrEnum):
    """What may be asked of a provider, per model."""

    STRUCTURED_OUTPUT = "structured_output"
    TOOL_CALLS = "tool_calls"
    STREAMING = "streaming"
    TOOLS_WITH_SCHEMA = "tools_with_schema"


class RepairLevel(StrEnum):
    """How much is mended locally before another call is paid for."""

    OFF = "off"
    SYNTAX = "syntax"
    ALIGN = "align"


class RequestField(StrEnum):
    """The part of a request that a warning is about."""

    RESPONSE_FORMAT = "response_format"
    TOOLS = "tools"
    THINKING = "thinking"
    SAMPLING = "sampling"
    OTHER = "other"


class WarningKind(StrEnum):
    """`ignored`: the whole field had no effect; every other kind: a part of it was lost."""

    DROPPED = "dropped"
    LOOSENED = "loosened"
    CHANGED = "changed"
    IGNORED = "ignored"


class FinishReason(StrEnum):
    """Why a model stopped, as far as extraction must tell apart; other words pass as they are."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    BLOCKED = "blocked"
    MALFORMED_CALL = "malformed_call"
    REPETITION = "repetition"


def relied_field(mode: ExtractionMode) -> RequestField:
    """The request field that carries the schema in a mode, whose warnings lower enforcement."""
    if mode is ExtractionMode.FORCED_TOOL:
        return RequestField.TOOLS
    return RequestField.RESPONSE_FORMAT
