"""Any service that speaks OpenAI's chat completions, over httpx2; no SDK is needed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import httpx2

from flowengine.llm.connections import limits
from flowengine.llm.data import JSON, is_object
from flowengine.llm.errors import BadPayload, ContextTooLong, ProviderError
from flowengine.llm.messages import ChatRequest, ChatResponse
from flowengine.llm.openai_wire import ChunkReader, read_response, write_request
from flowengine.llm.provider import Prepared, StreamEvent, Warned
from flowengine.llm.service_errors import retry_after, status_error, transport_error, usable_key
from flowengine.llm.tls import tls_context
from flowengine.llm.vocabulary import Capability, Support
from flowengine.llm.warnings import Warning_


class OpenAIProvider:
    """`base_url` ends before `/chat/completions`, such as `http://127.0.0.1:11434/v1`.

    `capabilities` overrides what is assumed: that everything is supported at OpenAI itself, and
    unknown elsewhere. One call is one request.
    """

    def __init__(
        self,
        *,
        base_url: str = "https://api.openai.com/v1",
        api_key: str | None = None,
        name: str = "openai",
        capabilities: dict[Capability, Support] | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        self.name = name
        self._own = base_url.startswith("https://api.openai.com")
        known = Support.SUPPORTED if self._own else Support.UNKNOWN
        self._capabilities = {**dict.fromkeys(Capability, known), **(capabilities or {})}
        bearer = f"Bearer {usable_key(name, api_key)}" if api_key is not None else None
        headers = {"authorization": bearer} if bearer else {}
        self._client = httpx2.AsyncClient(
            base_url=base_url,
            headers=headers,
            timeout=timeout_s,
            verify=tls_context("httpx2"),
            limits=limits(httpx2),
        )

    def capability(self, model: str, capability: Capability) -> Support:
        return self._capabilities[capability]

    def prepare(self, request: ChatRequest) -> Prepared:
        return Prepared(request, self._write(request, stream=False)[1])

    async def chat(self, request: ChatRequest) -> ChatResponse:
        body, warnings = self._write(request, stream=False)
        try:
            answer = await self._client.post("chat/completions", json=body)
        except httpx2.HTTPError as error:
            raise self._failure(error, begun=False) from error
        self._check(answer.status_code, answer.text, answer.headers)
        return read_response(self._object(answer.text), warnings)

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        body, warnings = self._write(request, stream=True)
        begun = False
        try:
            async with self._client.stream("POST", "chat/completions", json=body) as answer:
                if answer.status_code != 200:
                    text = (await answer.aread()).decode(errors="replace")
                    self._check(answer.status_code, text, answer.headers)
                reader = ChunkReader()
                async for line in answer.aiter_lines():
                    for event in self._events(reader, line):
                        if not begun:
                            begun = True
                            for warning in warnings:
                                yield Warned(warning)
                        yield event
        except httpx2.HTTPError as error:
            raise self._failure(error, begun=begun) from error
        for event in reader.end():
            yield event

    async def warm(self, model: str) -> None:
        """Open a connection, and ask the service for what it knows of the model.

        Not every service can tell: where it answers that it has no such page, rather than no such
        model, the connection is all that is known to be good.
        """
        try:
            answer = await self._client.get(f"models/{quote(model, safe='')}")
        except httpx2.HTTPError as error:
            raise self._failure(error, begun=False) from error
        try:
            self._check(answer.status_code, answer.text, answer.headers)
        except ProviderError as error:
            if answer.status_code not in (404, 405) or _names(error, model):
                raise

    async def aclose(self) -> None:
        await self._client.aclose()

    def _write(
        self, request: ChatRequest, *, stream: bool
    ) -> tuple[dict[str, Any], tuple[Warning_, ...]]:
        cap = "max_completion_tokens" if self._own else "max_tokens"
        body, warnings = write_request(request, self.name, cap)
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body, warnings

    def _events(self, reader: ChunkReader, line: str) -> list[StreamEvent]:
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or data == "[DONE]":
            return []
        body = self._object(data)
        if "error" in body:
            raise self._status_failure(None, body, {})
        return list(reader.read(body))

    def _object(self, text: str) -> dict[str, Any]:
        try:
            body: JSON = json.loads(text)
        except ValueError:
            body = None
        if not is_object(body):
            raise BadPayload("the answer is not a JSON object", provider=self.name)
        return body

    def _check(self, status: int, text: str, headers: httpx2.Headers) -> None:
        if status == 200:
            return
        try:
            body: JSON = json.loads(text)
        except ValueError:
            body = {"error": {"message": text}}
        raise self._status_failure(status, body if is_object(body) else {}, headers)

    def _status_failure(
        self, status: int | None, body: dict[str, Any], headers: Any
    ) -> ProviderError:
        error: Any = body.get("error")
        told: dict[str, Any] = error if is_object(error) else {"message": str(error or "")}
        name = told.get("code") or told.get("type")
        message = str(told.get("message", ""))
        if name == "context_length_exceeded":
            return ContextTooLong(message, code=status, status=str(name), provider=self.name)
        # A fault inside a stream comes without a status.
        code = status or (429 if name == "rate_limit_exceeded" else 500)
        wait = retry_after({}, headers)
        return status_error(self.name, code, str(name) if name else None, message, wait)

    def _failure(self, error: httpx2.HTTPError, *, begun: bool) -> ProviderError:
        failure = transport_error(self.name, error, begun=begun)
        return failure or ProviderError(type(error).__name__, provider=self.name)


def _names(error: ProviderError, model: str) -> bool:
    """Whether a "not found" is about the model."""
    return error.status == "model_not_found" or model in error.message
