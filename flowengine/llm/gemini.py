"""Gemini through the google-genai SDK, which is only imported when a call is made.

The SDK is kept from doing anything unseen: no retries of its own, no hidden resend of a dropped
connection, no automatic function calls or continuations. One call is one request, except along
the thinking ladder, whose further requests are counted.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flowengine.llm.connections import limits
from flowengine.llm.errors import AuthFailed, BadPayload, ProviderError
from flowengine.llm.foreign import a_text
from flowengine.llm.gemini_wire import (
    NAME,
    ChunkReader,
    Wire,
    read_response,
    thinking_config,
    write_request,
)
from flowengine.llm.messages import ChatRequest, ChatResponse
from flowengine.llm.profiles import ModelProfile
from flowengine.llm.provider import Prepared, StreamEvent, Warned, closing_stream
from flowengine.llm.resends import resent
from flowengine.llm.service_errors import (
    retry_after,
    status_error,
    transport_error,
    usable_key,
    without_body,
)
from flowengine.llm.thinking import Climb, ThinkingLadder
from flowengine.llm.tls import tls_context
from flowengine.llm.vocabulary import Capability, Support

if TYPE_CHECKING:
    from google.genai import Client

# What the SDK raises over a chunk of another shape than it expects; the request was built before.
_UNREADABLE = (AttributeError, KeyError, TypeError, ValueError)


class GeminiProvider:
    """One client, made at the first call; the key is `api_key`, else GOOGLE_API_KEY or
    GEMINI_API_KEY. A `client` of one's own is used as it is, hidden resends included."""

    name = NAME

    def __init__(
        self,
        client: Client | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        profile: ModelProfile | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        self._given = client
        self._api_key = api_key
        self._base_url = base_url
        self._profile = profile
        self._timeout_s = timeout_s
        self._thinking = ThinkingLadder()

    def profile(self, model: str) -> ModelProfile:
        return self._profile or ModelProfile.for_model(model)

    def capability(self, model: str, capability: Capability) -> Support:
        profile = self.profile(model)
        supported = {
            Capability.STRUCTURED_OUTPUT: profile.structured_output,
            Capability.TOOL_CALLS: profile.tool_calls,
            Capability.STREAMING: True,
            Capability.TOOLS_WITH_SCHEMA: profile.tools_with_schema,
        }
        return Support.SUPPORTED if supported[capability] else Support.UNSUPPORTED

    def prepare(self, request: ChatRequest) -> Prepared:
        wire, climb = self._planned(request)
        return Prepared(request, (*wire.warnings, *climb.warnings(NAME)))

    async def chat(self, request: ChatRequest) -> ChatResponse:
        wire, climb = self._planned(request)
        while True:
            try:
                body = await self._generate(request.model, wire, climb)
            except ProviderError as error:
                if not climb.rejected(error):
                    raise
                resent()
                continue
            climb.worked()
            return read_response(body, (*wire.warnings, *climb.warnings(NAME)))

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        wire, climb = self._planned(request)
        while True:
            begun = False
            try:
                async with closing_stream(self._chunks(request.model, wire, climb)) as events:
                    async for event in events:
                        if not begun:
                            begun = True
                            climb.worked()
                            for warning in (*wire.warnings, *climb.warnings(NAME)):
                                yield Warned(warning)
                        yield event
                return
            except ProviderError as error:
                if begun or not climb.rejected(error):
                    raise
                resent()

    async def warm(self, model: str) -> None:
        """Load the SDK, open a connection, and ask the service for what it knows of the model."""
        try:
            await self._client.aio.models.get(model=model)
        except Exception as error:
            failure = _translated(error, begun=False)
            if failure is None:
                raise
            raise failure from error

    async def aclose(self) -> None:
        """Close the connections of the client made here."""
        if self._given is None and "_client" in self.__dict__:
            await self._client.aio.aclose()
            self._client.close()

    def _planned(self, request: ChatRequest) -> tuple[Wire, Climb]:
        profile = self.profile(request.model)
        return write_request(request), self._thinking.climb(
            request.model, request.thinking, profile
        )

    async def _generate(self, model: str, wire: Wire, climb: Climb) -> str:
        """The body as it came: the SDK's own reading of it drops parse errors silently."""
        config = {**self._config(wire, climb), "should_return_http_response": True}
        try:
            response = await self._client.aio.models.generate_content(
                model=model, contents=_any(wire.contents), config=_any(config)
            )
        except Exception as error:
            failure = _translated(error, begun=False)
            if failure is None:
                raise
            raise failure from error
        http = response.sdk_http_response
        return (http.body if http else None) or ""

    async def _chunks(self, model: str, wire: Wire, climb: Climb) -> AsyncIterator[StreamEvent]:
        reader = ChunkReader()
        async with aclosing(self._bodies(model, wire, climb)) as bodies:
            async for body in bodies:
                for event in reader.read(body):
                    yield event
        for event in reader.end():
            yield event

    async def _bodies(self, model: str, wire: Wire, climb: Climb) -> AsyncGenerator[dict[str, Any]]:
        # The SDK warns of every finish reason it does not know yet; extraction passes it on.
        warnings.filterwarnings("ignore", message=r".* is not a valid \w+$", category=UserWarning)
        client, config = self._client, _any(self._config(wire, climb))
        chunks: Any = await client.aio.models.generate_content_stream(
            model=model, contents=_any(wire.contents), config=config
        )
        begun = False
        try:
            async with aclosing(chunks):
                async for chunk in chunks:
                    begun = True
                    yield _body(chunk)
        except _UNREADABLE:
            # What the SDK says of an answer it cannot read quotes that answer.
            raise BadPayload("a chunk cannot be read", provider=NAME) from None
        except Exception as error:
            failure = _translated(error, begun=begun)
            if failure is None:
                raise
            raise failure from error

    def _config(self, wire: Wire, climb: Climb) -> dict[str, Any]:
        return {
            **wire.config,
            **thinking_config(climb.thinking),
            "automatic_function_calling": {"disable": True},
            "automatic_continuation": False,
        }

    @cached_property
    def _client(self) -> Client:
        if self._given is not None:
            return self._given
        # Heavy, and not needed by anyone who never calls Gemini.
        from google.genai import Client

        http = _http()
        tls = tls_context(http.__name__)
        options: dict[str, Any] = {
            "timeout": int(self._timeout_s * 1000),
            "retry_options": {"attempts": 1},
            # An explicit transport keeps the SDK off aiohttp, which resends unseen.
            "async_client_args": {
                "transport": http.AsyncHTTPTransport(verify=tls, limits=limits(http)),
                "verify": tls,
                "ssl": tls,  # what the SDK would keep for a websocket, and load anew
            },
            "client_args": {"verify": tls},
        }
        if self._base_url:
            options["base_url"] = self._base_url
        key = self._api_key or os.environ.get("GOOGLE_API_KEY") or os.environ.get("GEMINI_API_KEY")
        try:
            return Client(api_key=key and usable_key(NAME, key), http_options=_any(options))
        except ValueError:
            status = "no key, pass api_key or set GEMINI_API_KEY"
            raise AuthFailed(status=status, provider=NAME) from None


def _http() -> Any:
    """The HTTP library the SDK will use; a transport must come from the same one."""
    chosen = os.environ.get("GOOGLE_GENAI_HTTP_CLIENT", "").strip().lower()
    return importlib.import_module("httpx" if chosen == "httpx" else "httpx2")


def _any(value: Any) -> Any:
    """Plain JSON where the SDK's types ask for its own classes, which it builds itself."""
    return value


def _body(chunk: Any) -> dict[str, Any]:
    return chunk.model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude={"sdk_http_response", "parsed"}
    )


def _translated(error: Exception, *, begun: bool) -> ProviderError | None:
    """Our error for one of the SDK's or the transport's; None for a fault of another kind."""
    from google.genai.errors import APIError

    if not isinstance(error, APIError):
        return transport_error(NAME, error, begun=begun)
    response: Any = _any(error).response
    wait = retry_after(error.details, response.headers if response is not None else {})
    without_body(error)
    status, message = a_text(error.status), a_text(error.message) or ""
    return status_error(NAME, error.code, status, message, wait)
