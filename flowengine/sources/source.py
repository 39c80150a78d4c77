"""What every source is: something that gives a JSON value for arguments, later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from flowengine.guards.lookup import look_up
from flowengine.inputs import Json
from flowengine.sources.cache import cache_key
from flowengine.state.types import json_form


class Source(Protocol):
    """A function, a request, a server's tool, a prompt or an agent."""

    @property
    def reads(self) -> tuple[str, ...]:
        """What it reads of State besides its arguments."""
        ...

    async def fetch(self, args: Mapping[str, Json], state: Mapping[str, Any]) -> Json:
        """The value.

        Raises:
            FlowEngineError: its `code` says why there is none; its words quote no caller
        """
        ...


def key_of(name: str, source: Source, args: Mapping[str, Json], state: Mapping[str, Any]) -> str:
    """The cache's key: the arguments, and whatever else of State decides the value."""
    read = {f"state.{key}": json_form(look_up(key, state.get)) for key in source.reads}
    return cache_key(name, {**args, **read})
