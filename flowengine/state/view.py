"""State as functions of the flow see it: to be read, never written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flowengine.state.state import State


class StateView(Mapping[str, Any]):
    """A read-only mapping under State's lookup rule, typed as declared; containers are copies."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    def __getitem__(self, key: str) -> Any:
        value = self._state.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._state.values)

    def __len__(self) -> int:
        return len(self._state.values)

    def __repr__(self) -> str:
        """The keys alone: values may be what a caller said."""
        return f"StateView({sorted(self._state.values)})"

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._state.find(key) is not None
