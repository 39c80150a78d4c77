"""Sends a declared request, to where the process allows it, and reads the answer as JSON or text.

Redirects are followed by hand: each address is checked again, and at another host the request's
own headers are left out. Nothing of one request, such as a cookie, is seen by the next.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, NamedTuple

import httpx2

from flowengine.errors import SourceError
from flowengine.guards.lookup import look_up
from flowengine.inputs import NOTHING, Json
from flowengine.sources.address import address
from flowengine.sources.allow import Allowed, AllowList, origin, parsed
from flowengine.sources.spec import HttpRequest
from flowengine.sources.template import Values, fill, filled

MOST_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
ANYWHERE = frozenset({"accept", "accept-language", "content-type", "user-agent"})
"""Headers that may go along to another host; any other may be a secret."""
OURS = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding"})
"""Headers that a request may not set: they say where and how it travels."""
SLOWEST = 60.0
"""Seconds that a silent server is waited for, if the caller sets no time of its own."""


class Http:
    """Sends requests; one for a process. `allow` names URL prefixes, none means nowhere.

    `allow={"https://api.example.com/v1": {"authorization": "Bearer ..."}}` adds headers there, so
    that a flow's file needs no key.
    """

    def __init__(self, allow: Allowed = (), *, most_bytes: int = 1 << 20) -> None:
        self._allow = AllowList(allow)
        self._most_bytes = most_bytes
        self._client: httpx2.AsyncClient | None = None

    async def send(
        self,
        request: HttpRequest,
        args: Mapping[str, Any] = NOTHING,
        state: Mapping[str, Any] = NOTHING,
    ) -> Json:
        """The answer, or the part of it that `pick` names.

        Raises:
            SourceError: its code is `missing_value`, `bad_url`, `bad_header`, `not_allowed`,
                `timed_out`, `connection_failed`, `too_many_redirects`, `too_large`, `bad_answer`,
                `missing_part` or `http_` and the status.
        """
        place = f"{request.method} {request.url.partition('?')[0]}"
        try:
            hop = _first(request, Values(args, state))
            for _ in range(MOST_REDIRECTS + 1):
                answer = await self._exchange(hop)
                if answer.status not in REDIRECTS or "location" not in answer.headers:
                    return _picked(_value(answer), request.pick)
                hop = _next(hop, answer)
            raise SourceError("it redirects without end", code="too_many_redirects")
        except SourceError as error:
            # the template of the address says where, without anybody's values
            raise SourceError(f"{place}: {error}", code=error.code) from None

    async def aclose(self) -> None:
        """Close the connections; the next request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _exchange(self, hop: _Hop) -> _Answer:
        headers = {**hop.headers, **_lower(self._allow.headers_for(hop.url))}
        if self._client is None:
            self._client = httpx2.AsyncClient(
                timeout=SLOWEST, cookies=CookieJar(DefaultCookiePolicy(allowed_domains=()))
            )
        sent = self._client.stream(hop.method, hop.url, headers=headers, content=hop.content)
        try:
            async with sent as response:
                body = b"" if response.status_code in REDIRECTS else await self._read(response)
                return _Answer(response.status_code, response.headers, body)
        except httpx2.TimeoutException:
            raise SourceError("no answer in time", code="timed_out") from None
        except httpx2.HTTPError as error:
            kind = type(error).__name__
            raise SourceError(f"no answer ({kind})", code="connection_failed") from None

    async def _read(self, response: httpx2.Response) -> bytes:
        """The body as sent: compression, which was not asked for, could hide its size."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise SourceError("it answers compressed, unasked", code="bad_answer")
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > self._most_bytes:
                size = f"more than {self._most_bytes} bytes"
                raise SourceError(f"it answers with {size}", code="too_large")
        return bytes(body)


@dataclass(frozen=True, slots=True)
class HttpSource:
    """A declared request as a source."""

    request: HttpRequest
    http: Http

    @property
    def reads(self) -> tuple[str, ...]:
        return self.request.reads

    async def fetch(self, args: Mapping[str, Json], state: Mapping[str, Any]) -> Json:
        return await self.http.send(self.request, args, state)


class _Hop(NamedTuple):
    method: str
    url: httpx2.URL
    headers: Mapping[str, str]
    content: bytes | None


class _Answer(NamedTuple):
    status: int
    headers: httpx2.Headers
    body: bytes


def _first(request: HttpRequest, values: Values) -> _Hop:
    headers = {"accept": "application/json, text/*;q=0.5", "accept-encoding": "identity"}
    content = None
    if request.body is not None:
        headers["content-type"] = "application/json"
        content = json.dumps(filled(request.body, values)).encode()
    for name, text in request.headers.items():
        headers[name.lower()] = _header(name, text, values)
    return _Hop(request.method, address(request.url, request.query, values), headers, content)


def _header(name: str, text: str, values: Values) -> str:
    if name.lower() in OURS:
        raise SourceError(f"header {name!r} is not a request's to set", code="bad_header")
    value = fill(text, values).strip()
    if not value.isascii() or not value.isprintable():
        raise SourceError(
            f"header {name!r} takes one line of ASCII; send other text in the query or the body",
            code="bad_header",
        )
    return value


def _next(hop: _Hop, answer: _Answer) -> _Hop:
    try:
        url = parsed(str(hop.url.join(answer.headers["location"])))
    except (httpx2.InvalidURL, SourceError):
        raise SourceError("it redirects to no address", code="bad_answer") from None
    method, headers, content = hop.method, dict(hop.headers), hop.content
    if answer.status == 303 or (answer.status in (301, 302) and method == "POST"):
        method, content = "GET", None
        headers.pop("content-type", None)
    if origin(url) != origin(hop.url):
        headers = {name: value for name, value in headers.items() if name in ANYWHERE | OURS}
    return _Hop(method, url, headers, content)


def _value(answer: _Answer) -> Json:
    if answer.status >= 300:
        raise SourceError(f"answered {answer.status}", code=f"http_{answer.status}")
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not answer.body:
        return None
    if kind == "application/json" or kind.endswith("+json"):
        return _json(answer.body)
    return answer.body.decode(_charset(answer.headers), errors="replace")


def _charset(headers: httpx2.Headers) -> str:
    named = httpx2.Response(200, headers=headers).charset_encoding or "utf-8"
    try:
        return codecs.lookup(named).name
    except LookupError:
        return "utf-8"


def _json(body: bytes) -> Json:
    try:
        value = json.loads(body, parse_constant=_no_number)
        if b"\\u" in body:  # half a character cannot be stored
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except (ValueError, RecursionError):
        raise SourceError("it answers with broken JSON", code="bad_answer") from None


def _no_number(word: str) -> None:
    raise ValueError("not JSON")


def _picked(value: Json, path: str | None) -> Json:
    if path is None:
        return value
    part = look_up(f"answer.{path}", {"answer": value}.get)
    if part is None:
        raise SourceError(f"the answer has no {path!r}", code="missing_part")
    return part


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
