"""Requests against a real server: what is sent, where it may go, and how it fails."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import pytest

from flowengine.errors import SourceError
from flowengine.sources.http import Http
from flowengine.sources.spec import HttpRequest
from flowengine.state import State
from flowengine.state.keys import KeySpec, KeyTable
from flowengine.state.types import KEY_TYPES
from flowengine.state.view import StateView

pytestmark = pytest.mark.anyio


@pytest.fixture
async def http(server: Any) -> AsyncIterator[Http]:
    sending = Http([server.url], most_bytes=2000)
    yield sending
    await sending.aclose()


async def code_of(http: Http, request: HttpRequest, **args: Any) -> str:
    """The code of the failure, after a look at its words."""
    with pytest.raises(SourceError) as caught:
        await http.send(request, args)
    for value in args.values():
        assert len(str(value)) < 3 or str(value) not in str(caught.value)
    assert caught.value.__suppress_context__
    return caught.value.code


# -- what is sent -------------------------------------------------------------------------------


async def test_values_fill_path_query_headers_and_body(server: Any, http: Http) -> None:
    request = HttpRequest(
        method="POST",
        url=f"{server.url}/u/{{args.name}}?q={{state.topic.word}}",
        headers={"X-Call": "call {args.n}"},
        query={"day": "{args.day}"},
        body={"n": "{args.n}", "text": "n is {args.n}", "list": ["{args.tags}"], "flat": [1, None]},
    )
    state = {"topic": {"word": "a&b=c"}}
    args = {"name": "José / Ann?#", "n": 4, "day": "3 May", "tags": ["x", {"y": True}]}
    answer: Any = await http.send(request, args, state)
    assert answer["path"] == "/u/Jos%C3%A9%20%2F%20Ann%3F%23?q=a%26b%3Dc&day=3%20May"
    assert answer["body"] == (
        '{"n": 4, "text": "n is 4", "list": [["x", {"y": true}]], "flat": [1, null]}'
    )
    assert server.asked[0].headers["x-call"] == "call 4"
    assert server.asked[0].headers["content-type"] == "application/json"


async def test_state_is_read_under_its_lookup_rule_and_sent_as_stored(
    server: Any, http: Http
) -> None:
    keys = KeyTable({"amount": KeySpec(type=KEY_TYPES["decimal"])})
    state = State({"amount": "12.50", "derived:mood": "calm"}, keys=keys)
    request = HttpRequest(url=f"{server.url}/{{state.amount}}/{{state.mood}}")
    answer: Any = await http.send(request, state=StateView(state))
    assert answer["path"] == "/12.50/calm"


async def test_a_value_is_never_read_as_a_placeholder(server: Any, http: Http) -> None:
    request = HttpRequest(method="POST", url=f"{server.url}/x", body="say {args.a}")
    answer: Any = await http.send(request, {"a": "{args.b}", "b": "secret"})
    assert answer["body"] == '"say {args.b}"'


@pytest.mark.parametrize(
    "field", [{"url": "/{args.gone}"}, {"query": {"q": "{args.gone}"}}, {"body": ["{args.gone}"]}]
)
async def test_a_missing_value_is_named(server: Any, http: Http, field: dict[str, Any]) -> None:
    request = HttpRequest(**{**field, "url": server.url + field.get("url", "/")})
    with pytest.raises(SourceError, match=r"\{args\.gone\} has no value: pass the argument") as e:
        await http.send(request, {"gone": None})
    assert e.value.code == "missing_value"
    assert server.asked == []


@pytest.mark.parametrize("value", ["a\r\nx: y", "a\nb", "a\x00b", "naïve"])
async def test_a_header_takes_one_line_of_ascii(server: Any, http: Http, value: str) -> None:
    request = HttpRequest(url=server.url, headers={"x-name": "{args.v}"})
    assert await code_of(http, request, v=value) == "bad_header"
    assert server.asked == []


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding"])
async def test_a_request_does_not_say_how_it_travels(server: Any, http: Http, name: str) -> None:
    request = HttpRequest(url=server.url, headers={name: "x"})
    assert await code_of(http, request) == "bad_header"


@pytest.mark.parametrize(
    "value", ["..", ".", "../admin", "..\\admin", "%2e%2e", "%252e%252e/x", "", "..;a"]
)
async def test_a_value_cannot_climb_out_of_its_step(server: Any, http: Http, value: str) -> None:
    request = HttpRequest(url=f"{server.url}/accounts/{{args.id}}/balance")
    assert await code_of(http, request, id=value) == "bad_url"
    assert server.asked == []


# -- where it may go ----------------------------------------------------------------------------


async def test_nothing_is_allowed_by_default(server: Any) -> None:
    assert await code_of(Http(), HttpRequest(url=server.url)) == "not_allowed"
    assert server.asked == []


async def test_a_redirect_is_followed_within_what_is_allowed(server: Any, http: Http) -> None:
    server.says("/old", status=302, location="/new?x=1")
    answer: Any = await http.send(HttpRequest(url=f"{server.url}/old"))
    assert answer["path"] == "/new?x=1"


async def test_a_redirect_to_another_place_is_checked_again(
    server: Any, elsewhere: Any, http: Http
) -> None:
    server.says("/old", status=302, location=f"{elsewhere.url}/new")
    assert await code_of(http, HttpRequest(url=f"{server.url}/old")) == "not_allowed"
    assert elsewhere.asked == []


@pytest.mark.parametrize("location", ["file:///etc/passwd", "mailto:a@b", "//\\x"])
async def test_a_redirect_to_no_address_is_a_bad_answer(
    server: Any, http: Http, location: str
) -> None:
    server.says("/old", status=302, location=location)
    assert await code_of(http, HttpRequest(url=f"{server.url}/old")) == "bad_answer"


async def test_another_host_gets_no_secrets(server: Any, elsewhere: Any) -> None:
    http = Http({server.url: {"Authorization": "Bearer ours"}, elsewhere.url: {"x-key": "theirs"}})
    server.says("/old", status=307, location=f"{elsewhere.url}/new")
    secrets = {"X-Api-Key": "flow", "Cookie": "a=b", "Accept-Language": "es"}
    request = HttpRequest(method="POST", url=f"{server.url}/old", headers=secrets, body=[1])
    await http.send(request)
    await http.aclose()
    first, second = server.asked[0].headers, elsewhere.asked[0].headers
    assert (first["authorization"], first["x-api-key"]) == ("Bearer ours", "flow")
    assert {"authorization", "x-api-key", "cookie"} & set(second) == set()
    assert (second["x-key"], second["accept-language"]) == ("theirs", "es")
    assert (elsewhere.asked[0].method, elsewhere.asked[0].body) == ("POST", "[1]")


@pytest.mark.parametrize(("status", "method", "body"), [(303, "GET", ""), (308, "POST", "[1]")])
async def test_a_redirect_keeps_the_method_as_its_status_says(
    server: Any, http: Http, status: int, method: str, body: str
) -> None:
    server.says("/old", status=status, location="/new")
    await http.send(HttpRequest(method="POST", url=f"{server.url}/old", body=[1]))
    assert (server.asked[1].method, server.asked[1].body) == (method, body)


async def test_a_circle_of_redirects_ends(server: Any, http: Http) -> None:
    server.says("/a", status=302, location="/b")
    server.says("/b", status=302, location="/a")
    assert await code_of(http, HttpRequest(url=f"{server.url}/a")) == "too_many_redirects"
    assert len(server.asked) == 6


async def test_no_cookie_goes_from_one_request_to_the_next(server: Any, http: Http) -> None:
    server.says("/in", status=302, location="/home", set_cookie="session=jane")
    await http.send(HttpRequest(url=f"{server.url}/in"))
    await http.send(HttpRequest(url=f"{server.url}/next"))
    assert [asked.headers.get("cookie") for asked in server.asked] == [None] * 3


# -- what comes back ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pick", "value"), [(None, {"a": [{"b": 7}]}), ("a", [{"b": 7}]), ("a.0.b", 7)]
)
async def test_a_part_can_be_picked(server: Any, http: Http, pick: str | None, value: Any) -> None:
    server.says("/x", {"a": [{"b": 7}]})
    assert await http.send(HttpRequest(url=f"{server.url}/x", pick=pick)) == value


async def test_text_comes_as_text_and_nothing_as_null(server: Any, http: Http) -> None:
    server.says("/t", "é".encode("latin-1"), content_type="text/plain; charset=latin-1")
    server.says("/odd", "é".encode(), content_type="text/plain; charset=klingon")
    assert await http.send(HttpRequest(url=f"{server.url}/odd")) == "é"
    server.says("/none", b"", status=200)
    assert await http.send(HttpRequest(url=f"{server.url}/t")) == "é"
    assert await http.send(HttpRequest(url=f"{server.url}/none")) is None


@pytest.mark.parametrize(
    ("body", "status", "headers", "code"),
    [
        ({"detail": "jane smith"}, 503, {}, "http_503"),
        ({}, 404, {}, "http_404"),
        ({}, 304, {}, "http_304"),
        (b"{", 200, {}, "bad_answer"),
        (b"[NaN]", 200, {}, "bad_answer"),
        (b'"\\ud800"', 200, {}, "bad_answer"),
        (b"[" * 1500, 200, {}, "bad_answer"),
        (b"x" * 2001, 200, {"content_type": "text/plain"}, "too_large"),
        (gzip.compress(b"0" * 10**6), 200, {"content_encoding": "gzip"}, "bad_answer"),
        ({"b": 1}, 200, {}, "missing_part"),
    ],
)
async def test_failures_have_codes(
    server: Any, http: Http, body: Any, status: int, headers: dict[str, str], code: str
) -> None:
    server.says("/x", body, status, **headers)
    assert await code_of(http, HttpRequest(url=f"{server.url}/x", pick="a")) == code


async def test_a_failure_says_where_without_values(server: Any, http: Http) -> None:
    server.says("/u/jane%20smith?key=s3cret", {"about": "jane"}, 500)
    request = HttpRequest(url=f"{server.url}/u/{{args.name}}?key=s3cret")
    with pytest.raises(SourceError) as caught:
        await http.send(request, {"name": "jane smith"})
    assert str(caught.value) == f"GET {server.url}/u/{{args.name}}: answered 500"


async def test_a_server_that_is_not_there_is_a_failed_connection(server: Any) -> None:
    http = Http("http://127.0.0.1:1")
    assert await code_of(http, HttpRequest(url="http://127.0.0.1:1/x")) == "connection_failed"
    await http.aclose()


async def test_a_cancelled_request_leaves_the_next_one_alone(server: Any, http: Http) -> None:
    waiting = asyncio.ensure_future(http.send(HttpRequest(url=f"{server.url}/slow")))
    while not server.asked:
        await asyncio.sleep(0.005)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await http.send(HttpRequest(url=f"{server.url}/fast"))
