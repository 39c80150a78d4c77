"""A loopback server that answers from a script and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest


class Asked(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: str


class Loopback(ThreadingHTTPServer):
    """`answers` maps a path to (status, headers, body); every path not in it echoes."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[Asked] = []
        self.slow = threading.Event()
        """A path that ends in `/slow` is answered once this is set."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def says(self, path: str, body: Any = None, status: int = 200, **headers: str) -> None:
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers[path] = (status, {"content-type": "application/json", **told}, raw)


class Handler(BaseHTTPRequestHandler):
    server: Loopback  # pyright: ignore

    def do_GET(self) -> None:
        length = int(self.headers.get("content-length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers, self.rfile.read(length).decode())
        self.server.asked.append(asked)
        if self.path.endswith("/slow"):
            self.server.slow.wait(10)
        echo = json.dumps({"path": self.path, "body": asked.body}).encode()
        default = (200, {"content-type": "application/json"}, echo)
        status, told, body = self.server.answers.get(self.path, default)
        self.send_response(status)
        for name, value in told.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_DELETE = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield from _serving()


@pytest.fixture
def elsewhere() -> Iterator[Loopback]:
    """A second server: the same host, another port, so another place."""
    yield from _serving()


def _serving() -> Iterator[Loopback]:
    with Loopback() as loopback:
        thread = threading.Thread(target=loopback.serve_forever, args=(0.01,))
        thread.start()
        yield loopback
        loopback.slow.set()
        loopback.shutdown()
        thread.join()
