"""The errors of talking to models: a provider that failed, or an output that is not a value.

FlowLLMError
├── ProviderError          the call failed; `retryable` and `retry_after` say what may help
│   ├── RateLimited        429
│   ├── Overloaded         503 and other passing 5xx
│   ├── AuthFailed         401, 403, a wrong key
│   ├── InvalidRequest     other 4xx
│   │   └── SchemaRejected the schema is what the provider did not like
│   ├── ModelNotFound
│   ├── ContextTooLong
│   ├── Timeout
│   ├── ConnectionFailed
│   ├── StreamBroken       the stream ended before it was done
│   └── BadPayload         success by status, but not JSON
├── Refusal                a provider that will not send a request, before any I/O
├── TapeMiss               a replay without a recorded answer
└── ExtractFailure         responses came, none was a value

Messages quote neither the caller, the model, nor the provider's free text: that is in attributes.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from flowengine.errors import ModelError
from flowengine.llm.messages import ChatResponse
from flowengine.llm.metadata import CONTEXT_KEY, FOREIGN_ATTRIBUTE, ExtractionMetadata
from flowengine.llm.reasons import Reason

_BARE = re.compile(r"((request contains )?an )?invalid argument\.?|bad request\.?|", re.IGNORECASE)


class FlowLLMError(ModelError):
    """The root of this package's errors."""

    code = "llm"


class ProviderError(FlowLLMError):
    """A failed call. `message` is the provider's text, unchanged; `str()` leaves it out."""

    kind: ClassVar[str] = "provider"
    cure: ClassVar[str] = ""
    passing: ClassVar[bool] = False

    def __init__(
        self,
        message: str = "",
        *,
        code: int | None = None,
        status: str | None = None,
        provider: str = "",
        retryable: bool | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.provider = provider
        self.retryable = self.passing if retryable is None else retryable
        self.retry_after = retry_after
        self.context: dict[str, Any] = {}

    def __str__(self) -> str:
        facts = [str(self.code or ""), self.status or ""]
        wait = f"retry after {self.retry_after:g} s" if self.retry_after is not None else ""
        told = (self.provider, self.kind, " ".join(filter(None, facts)), wait, self.cure)
        return ": ".join(filter(None, told))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class RateLimited(ProviderError):
    kind = "rate_limited"
    cure = "wrap the provider in RetryingProvider"
    passing = True


class Overloaded(ProviderError):
    kind = "overloaded"
    passing = True


class AuthFailed(ProviderError):
    kind = "auth_failed"
    cure = "check the API key"


class InvalidRequest(ProviderError):
    kind = "invalid_request"
    cure = "see .message for the provider's words"

    @property
    def names_nothing(self) -> bool:
        """Whether the provider did not say what was invalid."""
        return bool(_BARE.fullmatch(self.message.strip()))


class SchemaRejected(InvalidRequest):
    kind = "schema_rejected"
    cure = "the schema is too complex or not in its dialect; see .message"


class ModelNotFound(ProviderError):
    kind = "model_not_found"
    cure = "check the model's name"


class ContextTooLong(ProviderError):
    kind = "context_too_long"
    cure = "shorten the conversation"


class Timeout(ProviderError):
    kind = "timeout"
    cure = "raise the timeout or try again"
    passing = True


class ConnectionFailed(ProviderError):
    kind = "connection_failed"
    cure = "check the network and base_url"
    passing = True


class StreamBroken(ProviderError):
    kind = "stream_broken"
    passing = True


class BadPayload(ProviderError):
    kind = "bad_payload"
    passing = True


class Refusal(FlowLLMError):
    """A provider will not send this request as it is; nothing was sent."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"refused before sending ({self.code}): {self.message}"


class TapeMiss(FlowLLMError):
    """A replayed tape holds no answer to this request; no live call is made instead."""

    code = "tape_miss"


class ExtractFailure(FlowLLMError):
    """Why no value came: `error` is the reason, `response` the last answer, if there was one."""

    code = "extract"
    retryable = False
    retry_after: float | None = None

    def __init__(
        self, error: Reason, response: ChatResponse | None, metadata: ExtractionMetadata
    ) -> None:
        super().__init__(error, response, metadata)
        self.error = error
        self.response = response
        self.metadata = metadata

    @property
    def raw_output(self) -> str | None:
        """The model's text, only where it could not be parsed."""
        raw: object = getattr(self.error, "raw", None)
        return raw if isinstance(raw, str) else None

    def to_dict(self) -> dict[str, Any]:
        """Everything, the response included: for a debugger, not for a log."""
        return {
            "error": self.error.model_dump(mode="json"),
            "response": self.response and self.response.model_dump(mode="json"),
            "metadata": self.metadata.model_dump(mode="json"),
        }

    def to_log(self) -> dict[str, Any]:
        """The reason's code and the record, without texts, keys or values."""
        code: object = getattr(self.error, "code", None)
        return {"error": code, **self.metadata.to_log()}

    def __str__(self) -> str:
        passes = self.metadata.passes
        return f"{self.error.summary()} ({passes} pass{'' if passes == 1 else 'es'})"

    def __repr__(self) -> str:
        return f"ExtractFailure({str(self)!r})"


def attach_record(error: BaseException, metadata: ExtractionMetadata) -> None:
    """Leave the record on an error that is passed on unchanged."""
    if isinstance(error, ProviderError):
        error.context[CONTEXT_KEY] = metadata
        return
    try:
        setattr(error, FOREIGN_ATTRIBUTE, metadata)
    except AttributeError:
        return  # an exception with slots cannot carry it; `from_error` then says None
