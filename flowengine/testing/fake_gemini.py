"""A Gemini on the loopback: a real HTTP server that the real SDK talks to, answering by script.

    with FakeGemini() as gemini:
        gemini.says('{"name": "Ada"}')
        provider = GeminiProvider(api_key="test", base_url=gemini.url)

It logs and counts every request, is as strict about schemas and settings as the service is known
to be, and can fail in the ways the service and the network do.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

from flowengine.testing.gemini_rules import request_faults

Body: TypeAlias = dict[str, Any]
Fault: TypeAlias = Literal["drop", "hang"]

ANY_MODEL = ""


@dataclass(frozen=True)
class Seen:
    """One request as it arrived; the key is not kept."""

    path: str
    model: str
    method: str
    headers: dict[str, str]
    body: Body


@dataclass(frozen=True)
class Reply:
    """One whole answer: a JSON body or text with a status, or a fault instead of one."""

    body: Body | str = field(default_factory=dict[str, Any])
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    fault: Fault | None = None


@dataclass(frozen=True)
class Chunks:
    """A streamed answer; after the last chunk it ends, drops the connection, or hangs.

    A text among the chunks is sent as it is, not as a server-sent event.
    """

    bodies: Sequence[Body | str]
    fault: Fault | None = None


class FakeGemini:
    """Serves on 127.0.0.1 while it is entered. Replies are used up in order, per model first."""

    def __init__(self, *, strict: bool = True) -> None:
        self.strict = strict
        self.requests: list[Seen] = []
        self.connections = 0
        self.key: str | None = None
        """The only key that is good; any is if None."""
        self.lacks: set[str] = set()
        """Models that do not exist."""
        self._scripts: dict[str, deque[Reply | Chunks]] = defaultdict(deque)
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.gemini = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def calls(self) -> int:
        return len(self.requests)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def script(self, *replies: Reply | Chunks, model: str = ANY_MODEL) -> None:
        """Add replies, for one model or for any."""
        self._scripts[model].extend(replies)

    def clear(self) -> None:
        """Forget the replies that were not used."""
        self._scripts.clear()

    def says(self, text: str, *, finish: str = "STOP", **usage: int) -> None:
        """Add an answer of text; `usage` as in `usage_counts`."""
        self.script(Reply(answer({"text": text}, finish=finish, usage=usage_counts(**usage))))

    def calls_tool(self, name: str, args: Body, **usage: int) -> None:
        """Add an answer that calls one function."""
        part = {"functionCall": {"id": "call-1", "name": name, "args": args}}
        self.script(Reply(answer(part, usage=usage_counts(**usage))))

    def streams(self, *texts: str, finish: str = "STOP", fault: Fault | None = None) -> None:
        """Add a streamed answer of these pieces, with running usage and the finish at the end."""
        bodies = [
            answer({"text": text}, finish=None, usage=usage_counts(prompt=10, candidates=n))
            for n, text in enumerate(texts, 1)
        ]
        if fault is None and bodies:
            bodies[-1]["candidates"][0]["finishReason"] = finish
        self.script(Chunks(bodies, fault))

    def fails(
        self,
        status: int,
        message: str = "failed",
        *,
        name: str = "",
        retry_delay: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Add an error in the service's form; `retry_delay` such as "3s" adds a RetryInfo."""
        self.script(error_reply(status, message, name, retry_delay, headers))

    def wait(self) -> None:
        """Block a request until the server closes."""
        self._closing.wait(30)

    def reply_to(self, seen: Seen) -> Reply | Chunks:
        """Log a request and take its reply."""
        self.requests.append(seen)
        if seen.model in self.lacks:
            name = f"models/{seen.model}"
            return error_reply(404, f"{name} is not found for API version v1beta", "NOT_FOUND")
        if seen.method == "get":
            return Reply({"name": f"models/{seen.model}", "version": "fake-1"})
        faults = request_faults(seen.model, seen.body) if self.strict else []
        if faults:
            return error_reply(400, faults[0], "INVALID_ARGUMENT")
        for model in (seen.model, ANY_MODEL):
            if self._scripts[model]:
                return self._scripts[model].popleft()
        return error_reply(501, f"no reply is scripted for request {self.calls}", "UNIMPLEMENTED")

    def refused(self, seen: Seen) -> Reply:
        """Log a request without the right key; its script waits for one that has it."""
        self.requests.append(seen)
        return _WRONG_KEY


def answer(
    *parts: Body, finish: str | None = "STOP", usage: Body | None = None, **more: Any
) -> Body:
    """A response body with one candidate."""
    candidate: Body = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    if not parts:
        del candidate["content"]
    body: Body = {"candidates": [candidate], "modelVersion": "fake-1", "responseId": "r1", **more}
    return {**body, "usageMetadata": usage} if usage else body


def usage_counts(
    prompt: int | None = None,
    candidates: int | None = None,
    thoughts: int | None = None,
    cached: int | None = None,
) -> Body:
    """A usageMetadata of the known counts and their total; cached tokens lie in the prompt's."""
    counts = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": candidates,
        "thoughtsTokenCount": thoughts,
    }
    known: Body = {name: count for name, count in counts.items() if count is not None}
    if known:
        known["totalTokenCount"] = sum(known.values())
    return known if cached is None else {**known, "cachedContentTokenCount": cached}


def blocked(reason: str = "SAFETY") -> Body:
    """The body of a prompt that was blocked: no candidate at all."""
    return {"promptFeedback": {"blockReason": reason}, "modelVersion": "fake-1"}


def error_reply(
    status: int,
    message: str,
    name: str = "",
    retry_delay: str | None = None,
    headers: dict[str, str] | None = None,
) -> Reply:
    """An error body as the service sends it."""
    error: Body = {"code": status, "message": message, "status": name or f"STATUS_{status}"}
    if retry_delay is not None:
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": retry_delay}
        error["details"] = [info]
    return Reply({"error": error}, status, headers or {})


_WRONG_KEY = error_reply(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # many calls may begin at once
    gemini: FakeGemini

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up, as one that timed out does, is no fault worth printing."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes; the second must not wait
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def setup(self) -> None:
        self.server.gemini.connections += 1
        super().setup()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        gemini = self.server.gemini
        seen = self._seen()
        is_known = gemini.key in (None, self.headers.get("x-goog-api-key"))
        # A script is for requests that a real service would look at.
        reply = gemini.reply_to(seen) if is_known else gemini.refused(seen)
        if reply.fault == "hang" and isinstance(reply, Reply):
            gemini.wait()
        elif reply.fault == "drop" and isinstance(reply, Reply):
            self._drop()
        elif isinstance(reply, Chunks):
            self._send_chunks(reply)
        else:
            self._send(reply)

    def _seen(self) -> Seen:
        data = self.rfile.read(int(self.headers.get("content-length", 0)))
        place = self.path.partition("?")[0].rpartition("/")[2]
        model, _, method = place.rpartition(":") if self.command == "POST" else (place, "", "get")
        headers = {key.lower(): value for key, value in self.headers.items()}
        headers.pop("x-goog-api-key", None)
        return Seen(self.path, model, method, headers, json.loads(data or b"{}"))

    def _send(self, reply: Reply) -> None:
        is_text = isinstance(reply.body, str)
        text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        data = text.encode()
        self.send_response(reply.status)
        self.send_header("content-type", "text/html" if is_text else "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _send_chunks(self, reply: Chunks) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for body in reply.bodies:
            text = body if isinstance(body, str) else f"data: {json.dumps(body)}\r\n\r\n"
            frame = text.encode()
            self.wfile.write(f"{len(frame):x}\r\n".encode() + frame + b"\r\n")
            self.wfile.flush()
        if reply.fault == "drop":
            self._drop()
            return
        if reply.fault == "hang":
            self.server.gemini.wait()
        self.wfile.write(b"0\r\n\r\n")

    def _drop(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr: the log is `FakeGemini.requests`."""
