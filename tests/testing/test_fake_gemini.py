"""The loopback Gemini: its strictness, its faults, its log."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from flowengine.testing.fake_gemini import (
    Chunks,
    FakeGemini,
    Reply,
    answer,
)
from flowengine.testing.gemini_rules import request_faults, schema_faults

HELLO = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


def post(gemini: FakeGemini, body: Any, model: str = "m", method: str = "generateContent") -> Any:
    data = json.dumps(body).encode()
    headers = {"content-type": "application/json", "x-goog-api-key": "secret"}
    url = f"{gemini.url}/v1beta/models/{model}:{method}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(url, data, headers), timeout=5) as answered:
        return answered.read().decode()


def test_replies_are_used_up_in_order_and_a_models_own_come_first() -> None:
    with FakeGemini() as gemini:
        gemini.says("one")
        gemini.script(Reply(answer({"text": "mine"})), model="special")
        assert "mine" in post(gemini, HELLO, "special")
        assert "one" in post(gemini, HELLO, "special")
        assert [seen.model for seen in gemini.requests] == ["special", "special"]


def test_a_request_with_a_wrong_key_takes_no_reply_of_the_script() -> None:
    with FakeGemini() as gemini:
        gemini.says("one")
        gemini.key = "another"
        with pytest.raises(urllib.error.HTTPError) as caught:
            post(gemini, HELLO)
        caught.value.close()
        assert caught.value.code == 400
        gemini.key = "secret"
        assert "one" in post(gemini, HELLO)


def test_every_request_is_logged_without_its_key() -> None:
    with FakeGemini() as gemini:
        gemini.says("one")
        post(gemini, HELLO)
        [seen] = gemini.requests
    assert (seen.model, seen.method, seen.body) == ("m", "generateContent", HELLO)
    assert "secret" not in repr(seen)


def test_an_unscripted_request_is_an_error_that_is_seen() -> None:
    with FakeGemini() as gemini, pytest.raises(urllib.error.HTTPError) as caught:
        post(gemini, HELLO)
    with caught.value as refused:
        assert refused.code == 501
        assert "no reply is scripted for request 1" in refused.read().decode()


def test_a_stream_is_sent_as_server_sent_events() -> None:
    with FakeGemini() as gemini:
        gemini.streams("a", "b")
        text = post(gemini, HELLO, method="streamGenerateContent")
    frames = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    assert [frame["candidates"][0].get("finishReason") for frame in frames] == [None, "STOP"]
    assert frames[-1]["usageMetadata"]["candidatesTokenCount"] == 2


@pytest.mark.parametrize("reply", [Reply(fault="drop"), Chunks([answer({"text": "a"})], "drop")])
def test_a_drop_is_a_broken_connection(reply: Reply | Chunks) -> None:
    with FakeGemini() as gemini:
        gemini.script(reply)
        with pytest.raises((OSError, http.client.HTTPException)):
            post(gemini, HELLO)
        assert gemini.calls == 1


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "string", "pattern": "a"}, 'Unknown name "pattern"'),
        ({"properties": {"a": {"const": 1}}}, 'Unknown name "const" at schema.a'),
        ({"$defs": {"A": {"allOf": []}}}, 'Unknown name "allOf"'),
        ({"$ref": "#/$defs/A", "description": "x"}, "no siblings"),
        ({"type": "string", "format": "uuid"}, "format"),
        ({"enum": [True]}, "strings and numbers"),
        ({"items": {"anyOf": [{"default": 1}]}}, 'Unknown name "default"'),
    ],
)
def test_schemas_are_read_strictly(schema: dict[str, Any], fault: str) -> None:
    assert fault in schema_faults(schema)[0]


def test_a_plain_schema_has_no_fault() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}, "default": {"type": ["string", "null"]}},
        "additionalProperties": {"type": "integer"},
        "$defs": {"A": {"enum": ["x", 1], "title": "A"}},
    }
    assert schema_faults(schema) == []


@pytest.mark.parametrize(
    ("model", "body", "fault"),
    [
        ("m", {}, "contents"),
        ("m", {**HELLO, "generationConfig": {"responseJsonSchema": {}}}, "response_mime_type"),
        (
            "m",
            {
                **HELLO,
                "generationConfig": {
                    "responseJsonSchema": {},
                    "response_schema": {},
                    "responseMimeType": "application/json",
                },
            },
            "only one of",
        ),
        (
            "gemini-2.5-flash",
            {**HELLO, "generationConfig": {"thinkingConfig": {"thinking_level": "low"}}},
            "Thinking level",
        ),
        (
            "gemini-2.5-pro",
            {**HELLO, "generation_config": {"thinkingConfig": {"thinkingBudget": 0}}},
            "thinking mode",
        ),
        (
            "gemini-2.5-flash",
            {
                **HELLO,
                "tools": [{"functionDeclarations": [{"name": "f"}]}],
                "generationConfig": {
                    "responseJsonSchema": {},
                    "responseMimeType": "application/json",
                },
            },
            "function calling",
        ),
    ],
)
def test_settings_the_service_rejects_are_rejected_in_either_spelling(
    model: str, body: dict[str, Any], fault: str
) -> None:
    assert fault in request_faults(model, body)[0]
    with FakeGemini() as gemini:
        gemini.says("never sent")
        with pytest.raises(urllib.error.HTTPError) as caught:
            post(gemini, body, model)
    with caught.value as refused:
        assert refused.code == 400


def test_strictness_can_be_switched_off() -> None:
    with FakeGemini(strict=False) as gemini:
        gemini.says("fine")
        assert "fine" in post(gemini, {})


def test_a_client_that_hangs_up_is_nothing_to_print(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeGemini() as gemini:
        threads = threading.active_count()
        port = int(gemini.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as left:
            left.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            left.sendall(b"POST /v1/models/m:f HTTP/1.1\r\ncontent-length: 99\r\n\r\n")
            while threading.active_count() == threads:
                time.sleep(0.001)  # until the request is being read
        while threading.active_count() > threads:
            time.sleep(0.001)
    assert capsys.readouterr().err == ""


def test_many_clients_may_call_at_once() -> None:
    with FakeGemini() as gemini:
        for number in range(60):
            gemini.says(str(number))
        with ThreadPoolExecutor(60) as pool:
            found = list(pool.map(lambda _: post(gemini, HELLO), range(60)))
    assert len(set(found)) == 60


def test_replies_that_were_not_used_can_be_forgotten() -> None:
    with FakeGemini() as gemini:
        gemini.says("old")
        gemini.clear()
        gemini.says("new")
        assert "new" in post(gemini, HELLO)


def test_a_text_among_the_chunks_is_sent_as_it_is() -> None:
    with FakeGemini() as gemini:
        gemini.script(Chunks(["<html>"]))
        assert post(gemini, HELLO, method="streamGenerateContent") == "<html>"


def test_a_hanging_request_is_released_when_the_server_closes() -> None:
    with FakeGemini() as gemini:
        gemini.script(Reply(fault="hang"))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        url = f"{gemini.url}/v1/models/m:generateContent"
        with pytest.raises(TimeoutError):
            opener.open(urllib.request.Request(url, b'{"contents": [1]}'), timeout=0.05)
