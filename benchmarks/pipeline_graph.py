"""The same turn as a graph of LangGraph, with its checkpoints in memory: a peer for pipeline.py.

It does less: nothing is recognized, and nothing is looked up in the caller's words.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph


class Known(TypedDict, total=False):
    said: str
    mood: str
    name: str
    phase: str


def graph(extract: Callable[[str], Awaitable[dict[str, str]]]) -> Any:
    """A model reads the turn, then the next phase is chosen."""

    async def read(known: Known) -> dict[str, str]:
        return await extract(known.get("said", ""))

    made = StateGraph(Known)
    made.add_node("extract", read)
    made.add_node("ask", lambda known: {"phase": "ask"})
    made.add_node("confirm", lambda known: {"phase": "confirm"})
    made.add_edge(START, "extract")
    made.add_conditional_edges("extract", _next, ["ask", "confirm"])
    made.add_edge("ask", END)
    made.add_edge("confirm", END)
    return made.compile(checkpointer=InMemorySaver())


def _next(known: Known) -> str:
    return "confirm" if known.get("name") else "ask"
