"""Which addresses a process lets a flow reach: prefixes of URLs, compared as parsed URLs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias, cast
from urllib.parse import unquote

import httpx2

from flowengine.errors import SourceError

Headers: TypeAlias = Mapping[str, str]
Allowed: TypeAlias = str | Iterable[str] | Mapping[str, Headers]
"""URL prefixes; as a mapping, each with headers that the process adds there, such as a key."""

PORTS = {"http": 80, "https": 443}


class AllowList:
    """URL prefixes such as `https://api.example.com/v1`, which covers `/v1` and all below it."""

    def __init__(self, allowed: Allowed = ()) -> None:
        given = _with_headers(allowed)
        pairs = [(_prefix(text), headers) for text, headers in given.items()]
        # the longest prefix is the most particular one
        self._entries = sorted(pairs, key=lambda pair: -len(pair[0].path))

    def headers_for(self, url: httpx2.URL) -> Headers:
        """The headers that the process adds to requests to this URL.

        Raises:
            SourceError: `not_allowed`; no prefix covers the URL
        """
        if not url.userinfo and url.scheme in PORTS and not climbs(url.path):
            place = _place(url)
            for prefix, headers in self._entries:
                if prefix.covers(place):
                    return headers
        raise SourceError(
            "the address is not allowed: the process that runs the flow has to allow its scheme, "
            "host, port and path",
            code="not_allowed",
        )


class _Place(NamedTuple):
    scheme: str
    host: bytes
    port: int
    path: tuple[bytes, ...]

    def covers(self, other: _Place) -> bool:
        return self[:3] == other[:3] and other.path[: len(self.path)] == self.path


def origin(url: httpx2.URL) -> tuple[str, bytes, int]:
    """Scheme, host and port: what a header is meant for."""
    return _place(url)[:3]


def parsed(text: str) -> httpx2.URL:
    """The URL, as it will be sent.

    Raises:
        SourceError: `bad_url`; the message does not quote it
    """
    # a backslash and a space are read differently by different readers of URLs
    if "\\" in text or any(c.isspace() for c in text) or climbs(text.partition("?")[0]):
        raise SourceError("a URL holds no space, no backslash and no `..`", code="bad_url")
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL:
        raise SourceError("the URL cannot be read", code="bad_url") from None
    if url.scheme not in PORTS or not url.host:
        raise SourceError("a URL begins with http:// or https:// and a host", code="bad_url")
    return url


def climbs(path: str) -> bool:
    """Whether some reader of the path, decoding it once or more, would find `..` or `.` in it."""
    while (decoded := unquote(path)) != path:
        path = decoded
    steps = path.replace("\\", "/").split("/")
    return any(step.partition(";")[0] in (".", "..") for step in steps)


def _with_headers(allowed: Allowed) -> Mapping[str, Headers]:
    if isinstance(allowed, Mapping):
        return cast("Mapping[str, Headers]", allowed)
    prefixes = (allowed,) if isinstance(allowed, str) else allowed
    return {prefix: {} for prefix in prefixes}


def _place(url: httpx2.URL) -> _Place:
    path = url.raw_path.partition(b"?")[0]
    port = url.port if url.port is not None else PORTS[url.scheme]
    return _Place(url.scheme, url.raw_host, port, tuple(path.split(b"/")[1:]))


def _prefix(text: str) -> _Place:
    url = parsed(text)
    if url.userinfo or url.query or url.fragment:
        raise SourceError(
            "an allowed prefix is a scheme, a host, a port and a path, such as "
            "https://api.example.com/v1, without user and query",
            code="bad_url",
        )
    place = _place(url)
    return place._replace(path=place.path[:-1] if place.path[-1:] == (b"",) else place.path)
