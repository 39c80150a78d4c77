"""Talking to language models: typed values out of chat providers, and an honest record of how.

Names are fetched on first use: `import flowengine.llm` loads no provider's SDK, and a part of it
not the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowengine.lazy import lazily

if TYPE_CHECKING:
    from flowengine.llm.errors import (
        AuthFailed,
        BadPayload,
        ConnectionFailed,
        ContextTooLong,
        ExtractFailure,
        FlowLLMError,
        InvalidRequest,
        ModelNotFound,
        Overloaded,
        ProviderError,
        RateLimited,
        Refusal,
        SchemaRejected,
        StreamBroken,
        TapeMiss,
        Timeout,
    )
    from flowengine.llm.extractor import Extractor, extract
    from flowengine.llm.fallback import Backup, FallbackProvider
    from flowengine.llm.gemini import GeminiProvider
    from flowengine.llm.grounding import GroundingPolicy
    from flowengine.llm.hooks import Hooks
    from flowengine.llm.limits import UsageLimits
    from flowengine.llm.messages import (
        ChatRequest,
        ChatResponse,
        Message,
        ToolCall,
        ToolResult,
        ToolSpec,
    )
    from flowengine.llm.metadata import (
        Attempt,
        AutoFallback,
        Evidence,
        Extracted,
        ExtractionMetadata,
        Fallback,
        Repair,
    )
    from flowengine.llm.openai import OpenAIProvider
    from flowengine.llm.profiles import ModelProfile
    from flowengine.llm.provider import ChatProvider, Prepared, StreamEvent, Warmable, warm
    from flowengine.llm.reasons import ExtractError
    from flowengine.llm.retry import RetryingProvider, RetryPolicy
    from flowengine.llm.scripted import ScriptedProvider, text_response
    from flowengine.llm.settings import AskAgain, ValidatorContext
    from flowengine.llm.stream import ExtractionStream, Item, Partial, Restarted
    from flowengine.llm.tape import TapeProvider
    from flowengine.llm.update import SlotDelta
    from flowengine.llm.usage import Usage
    from flowengine.llm.vocabulary import (
        Capability,
        ExtractionMode,
        FinishReason,
        RepairLevel,
        RequestField,
        SchemaEnforcement,
        Support,
    )
    from flowengine.llm.warnings import Warning_

_HOME = {
    "flowengine.llm.errors": (
        "AuthFailed",
        "BadPayload",
        "ConnectionFailed",
        "ContextTooLong",
        "ExtractFailure",
        "FlowLLMError",
        "InvalidRequest",
        "ModelNotFound",
        "Overloaded",
        "ProviderError",
        "RateLimited",
        "Refusal",
        "SchemaRejected",
        "StreamBroken",
        "TapeMiss",
        "Timeout",
    ),
    "flowengine.llm.extractor": (
        "Extractor",
        "extract",
    ),
    "flowengine.llm.fallback": (
        "Backup",
        "FallbackProvider",
    ),
    "flowengine.llm.gemini": ("GeminiProvider",),
    "flowengine.llm.grounding": ("GroundingPolicy",),
    "flowengine.llm.hooks": ("Hooks",),
    "flowengine.llm.limits": ("UsageLimits",),
    "flowengine.llm.messages": (
        "ChatRequest",
        "ChatResponse",
        "Message",
        "ToolCall",
        "ToolResult",
        "ToolSpec",
    ),
    "flowengine.llm.metadata": (
        "Attempt",
        "AutoFallback",
        "Evidence",
        "Extracted",
        "ExtractionMetadata",
        "Fallback",
        "Repair",
    ),
    "flowengine.llm.openai": ("OpenAIProvider",),
    "flowengine.llm.profiles": ("ModelProfile",),
    "flowengine.llm.provider": (
        "ChatProvider",
        "Prepared",
        "StreamEvent",
        "Warmable",
        "warm",
    ),
    "flowengine.llm.reasons": ("ExtractError",),
    "flowengine.llm.retry": (
        "RetryingProvider",
        "RetryPolicy",
    ),
    "flowengine.llm.scripted": (
        "ScriptedProvider",
        "text_response",
    ),
    "flowengine.llm.settings": (
        "AskAgain",
        "ValidatorContext",
    ),
    "flowengine.llm.stream": (
        "ExtractionStream",
        "Item",
        "Partial",
        "Restarted",
    ),
    "flowengine.llm.tape": ("TapeProvider",),
    "flowengine.llm.update": ("SlotDelta",),
    "flowengine.llm.usage": ("Usage",),
    "flowengine.llm.vocabulary": (
        "Capability",
        "ExtractionMode",
        "FinishReason",
        "RepairLevel",
        "RequestField",
        "SchemaEnforcement",
        "Support",
    ),
    "flowengine.llm.warnings": ("Warning_",),
}

__all__ = [
    "AskAgain",
    "Attempt",
    "AuthFailed",
    "AutoFallback",
    "Backup",
    "BadPayload",
    "Capability",
    "ChatProvider",
    "ChatRequest",
    "ChatResponse",
    "ConnectionFailed",
    "ContextTooLong",
    "Evidence",
    "extract",
    "Extracted",
    "ExtractError",
    "ExtractFailure",
    "ExtractionMetadata",
    "ExtractionMode",
    "ExtractionStream",
    "Extractor",
    "Fallback",
    "FallbackProvider",
    "FinishReason",
    "FlowLLMError",
    "GeminiProvider",
    "GroundingPolicy",
    "Hooks",
    "InvalidRequest",
    "Item",
    "Message",
    "ModelNotFound",
    "ModelProfile",
    "OpenAIProvider",
    "Overloaded",
    "Partial",
    "Prepared",
    "ProviderError",
    "RateLimited",
    "Refusal",
    "Repair",
    "RepairLevel",
    "RequestField",
    "Restarted",
    "RetryingProvider",
    "RetryPolicy",
    "SchemaEnforcement",
    "SchemaRejected",
    "ScriptedProvider",
    "SlotDelta",
    "StreamBroken",
    "StreamEvent",
    "Support",
    "TapeMiss",
    "TapeProvider",
    "text_response",
    "Timeout",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "Usage",
    "UsageLimits",
    "ValidatorContext",
    "warm",
    "Warmable",
    "Warning_",
]

__getattr__, __dir__ = lazily(__name__, _HOME)
