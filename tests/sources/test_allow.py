"""Prefixes of URLs: what they cover, and the tricks they do not fall for."""

from __future__ import annotations

import pytest

from flowengine.errors import SourceError
from flowengine.sources.allow import AllowList, climbs, parsed

ALLOWED = AllowList(
    ["https://good.example/api", "http://127.0.0.1:8080", "https://bücher.example/", "http://[::1]"]
)


@pytest.mark.parametrize(
    "url",
    [
        "https://good.example/api",
        "https://good.example/api/",
        "https://good.example/api/x?y=https://evil.example",
        "HTTPS://GOOD.example:443/api/x",
        "http://127.0.0.1:8080/anything",
        "https://xn--bcher-kva.example/a",
        "https://BÜCHER.example/a",
        "http://[::1]:80/",
    ],
)
def test_a_prefix_covers_itself_and_what_is_below(url: str) -> None:
    assert ALLOWED.headers_for(parsed(url)) == {}


@pytest.mark.parametrize(
    "url",
    [
        "http://good.example/api",  # another scheme
        "https://good.example:8443/api",  # another port
        "https://good.example.evil.com/api",
        "https://evil.good.example/api",
        "https://good.example./api",
        "https://good.example/apixyz",
        "https://good.example/API",
        "https://good.example/",
        "https://good.example//api",
        "https://good.example/api/%2e%2e/admin",
        "https://good.example/api/..%2fadmin",
        "https://good.example/api/%252e%252e/admin",
        "https://good.example@evil.example/api",
        "https://user:word@good.example/api",
        "https://evil.example/https://good.example/api",
        "https://evil.example?https://good.example/api",
        "https://evil.example#https://good.example/api",
        "https://good.example\\@evil.example/api",
        "https://good.example/api/../admin",
        "https://g\u043eod.example/api",  # a Cyrillic o
        "https://bucher.example/",
        "http://127.1:8080/",
        "http://2130706433:8080/",
        "http://0x7f.0.0.1:8080/",
        "http://[::ffff:127.0.0.1]:8080/",
        "ftp://good.example/api",
        "//good.example/api",
        "https:good.example/api",
        "https:///good.example/api",
        " https://good.example/api",
        "https://good.example/api\n",
        "",
    ],
)
def test_whatever_only_looks_like_it_is_refused(url: str) -> None:
    with pytest.raises(SourceError) as caught:
        ALLOWED.headers_for(parsed(url))
    assert caught.value.code in ("not_allowed", "bad_url")
    assert not url or url not in str(caught.value)


def test_the_longest_prefix_gives_the_headers() -> None:
    allowed = AllowList({"https://a.example": {"x": "all"}, "https://a.example/v1": {"x": "one"}})
    assert allowed.headers_for(parsed("https://a.example/v1/y"))["x"] == "one"
    assert allowed.headers_for(parsed("https://a.example/v2"))["x"] == "all"


@pytest.mark.parametrize(
    "prefix",
    ["a.example", "https://", "https://u@a.example", "https://a.example/?x", "https://a.example/#x",
     "https://a.example/v1/../v2", "https://a.example/%2e%2e"],
)  # fmt: skip
def test_a_prefix_that_says_more_or_less_is_an_error(prefix: str) -> None:
    with pytest.raises(SourceError):
        AllowList([prefix])


def test_one_prefix_need_not_be_in_a_list() -> None:
    assert AllowList("https://a.example").headers_for(parsed("https://a.example/x")) == {}


@pytest.mark.parametrize(
    ("path", "does"),
    [("/a/b", False), ("/a..b/...", False), ("/%2E.", True), ("/a/.", True), ("/..;x=1/b", True),
     ("/a%5c..%5cb", True), ("/100%", False)],
)  # fmt: skip
def test_climbing_is_seen_through_encodings(path: str, does: bool) -> None:
    assert climbs(path) is does
