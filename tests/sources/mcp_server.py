"""A small MCP server over standard input and output, or over HTTP if given a port: for tests."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer

server = MCPServer("desk")
calls: list[str] = []


@server.tool()
def slots(day: str, party: int = 2) -> dict[str, Any]:
    return {"day": day, "free": ["19:00", "20:30"][: max(party - 1, 0)]}


@server.tool()
def echo(words: str) -> str:
    return words


@server.tool()
def count() -> int:
    calls.append("count")
    return len(calls)


@server.tool()
def words() -> str:
    return "all is well"


@server.tool()
def listed() -> list[int]:
    return [1, 2]


@server.tool()
def result() -> dict[str, Any]:
    return {"result": 7}


@server.tool()
def variable(name: str) -> str:
    return os.environ.get(name, "unset")


@server.tool()
def fail(words: str) -> str:
    raise ValueError(words)


@server.tool()
async def slow(seconds: float) -> str:
    await anyio.sleep(seconds)
    return "late"


@server.tool()
def crash() -> str:
    os._exit(3)


@server.tool()
def crash_soon() -> int:
    """Answers, and ends a moment later."""
    import threading

    threading.Timer(0.05, os._exit, (3,)).start()
    return os.getpid()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        time.sleep(float(sys.argv[2]))
    if len(sys.argv) > 1 and sys.argv[1] != "-":
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run()
