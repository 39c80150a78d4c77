"""A sub-agent as a source: whatever reads State and comes back with an answer."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from flowengine.inputs import Json
from flowengine.sources.function import called

Run: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[Any] | Any]


class Agent(Protocol):
    """Works on a conversation's State, which it reads and does not write."""

    async def run(self, state: Mapping[str, Any], /) -> Any: ...


@dataclass(frozen=True, slots=True)
class AgentSource:
    """The agent sees the arguments before State; it is an object with `run`, or a function."""

    name: str
    agent: Agent | Run = field(repr=False)
    kind: str = "resolver"
    reads: tuple[str, ...] = ()

    async def fetch(self, args: Mapping[str, Json], state: Mapping[str, Any]) -> Json:
        run: Any = getattr(self.agent, "run", self.agent)
        seen = MappingProxyType(ChainMap(dict(args), state))  # pyright: ignore[reportArgumentType] - only read
        return await called(self.kind, self.name, lambda: run(seen))
