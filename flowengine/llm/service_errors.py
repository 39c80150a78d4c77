"""Tells the errors of a model service and its transport apart, by status and by message."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from flowengine.llm.data import is_array, is_object
from flowengine.llm.errors import (
    AuthFailed,
    BadPayload,
    ConnectionFailed,
    ContextTooLong,
    InvalidRequest,
    ModelNotFound,
    Overloaded,
    ProviderError,
    RateLimited,
    SchemaRejected,
    StreamBroken,
    Timeout,
)

E = TypeVar("E", bound=Exception)

_SCHEMA = re.compile(
    r"schema|too many states|additional_?properties|unknown name|property_?ordering"
    r"|constraint|function_?declarations",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"(token count|context|input).{0,60}(exceed|too (long|large))", re.IGNORECASE
)
_HEADER = re.compile(r"[\x21-\x7e]+")
_KEY = re.compile(r"api[ _]key", re.IGNORECASE)
_TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "aiohttp"})


def status_error(
    provider: str,
    code: int | None,
    status: str | None,
    message: str,
    retry_after: float | None = None,
) -> ProviderError:
    """The error of an answer with this HTTP status; `message` is kept unchanged."""
    kind = _kind_of(code, message)
    return kind(
        message,
        code=code,
        status=status,
        provider=provider,
        retry_after=retry_after,
        retryable=True if kind is ProviderError and (code or 0) >= 500 else None,
    )


def transport_error(provider: str, error: Exception, *, begun: bool) -> ProviderError | None:
    """The error of a call that got no whole answer; None for what is not the transport's fault.

    By name rather than by class, because several HTTP libraries may carry the call.
    """
    name = type(error).__name__
    if isinstance(error, TimeoutError) or ("Timeout" in name and _from_transport(error)):
        return Timeout(name, provider=provider)
    if _from_transport(error) or isinstance(error, OSError):
        return (StreamBroken if begun else ConnectionFailed)(name, provider=provider)
    if isinstance(error, ValueError) and name == "JSONDecodeError":
        return BadPayload("the answer is not JSON", provider=provider)
    return None


def usable_key(provider: str, key: str) -> str:
    """A key without the blanks round it, such as a file's last newline.

    Raises `AuthFailed` for what no header can carry, before an HTTP library quotes it.
    """
    bare = key.strip()
    if not _HEADER.fullmatch(bare):
        status = "the key is empty or holds characters that no header can carry"
        raise AuthFailed(status=status, provider=provider)
    return bare


def retry_after(details: Any, headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from the error's RetryInfo, else from the Retry-After header."""
    body: Any = details.get("error", details) if is_object(details) else {}
    listed: Any = body.get("details") if is_object(body) else None
    for entry in listed if is_array(listed) else ():
        seconds = _seconds(str(entry.get("retryDelay", ""))) if is_object(entry) else None
        if seconds is not None:
            return seconds
    return _seconds(headers.get("retry-after", ""))


def without_body(error: E) -> E:
    """The SDK's error with its printed form reduced to the status.

    It prints the whole body, which may quote the request; as a cause it would reach tracebacks.
    """
    error.args = (f"{getattr(error, 'code', '')} {getattr(error, 'status', '')}".strip(),)
    return error


def _kind_of(code: int | None, message: str) -> type[ProviderError]:
    match code:
        case 401 | 403:
            return AuthFailed
        case 404:
            return ModelNotFound
        case 408 | 504:
            return Timeout
        case 429:
            return RateLimited
        case 502 | 503 | 529:
            return Overloaded
        case int() if 400 <= code < 500:
            return _kind_of_request(message)
        case _:
            return ProviderError


def _kind_of_request(message: str) -> type[ProviderError]:
    if _KEY.search(message):
        return AuthFailed
    if _TOO_LONG.search(message):
        return ContextTooLong
    return SchemaRejected if _SCHEMA.search(message) else InvalidRequest


def _from_transport(error: Exception) -> bool:
    return any(cls.__module__.partition(".")[0] in _TRANSPORTS for cls in type(error).__mro__)


def _seconds(text: str) -> float | None:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*s?\s*", text)
    return float(found.group(1)) if found else None
