"""What a guard may look at: two protocols that State and the kernel keep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from flowengine.inputs import Json
from flowengine.state.evidence import Evidence


class KeyType(Protocol):
    """A declared type; `parse` turns a stored value into something that compares."""

    @property
    def name(self) -> str: ...
    @property
    def parse(self) -> Any: ...


class Keys(Protocol):
    """How a flow's keys are looked up and typed."""

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """Key -> stored names in lookup order, such as ("x", "derived:x")."""
        ...

    def type_of(self, key: str) -> KeyType | None: ...


class Decision(NamedTuple):
    """An answer given this turn: outcome yes, no, chosen, none, scored or unsure."""

    outcome: str
    value: Json = None
    confidence: float = 1.0


class View(Protocol):
    """One moment of a session; `phase` is the guard's owner, None the phase of rest."""

    @property
    def values(self) -> Mapping[str, Json]: ...
    @property
    def evidence(self) -> Mapping[str, Evidence]: ...
    @property
    def args(self) -> Mapping[str, Json]: ...
    @property
    def state(self) -> Any: ...
    @property
    def holding(self) -> object:
        """Truthy while any key is held; `held` is asked only then."""
        ...

    def held(self, key: str) -> bool: ...
    def resolved(self, name: str) -> bool: ...
    def failed(self, name: str) -> bool: ...
    def called_ok(self, tool: str) -> bool: ...
    def done(self, phase: str) -> bool: ...
    def in_phase(self, phase: str) -> bool: ...
    def corrected(self, key: str) -> bool: ...
    def decided(self, id: str) -> Decision | None: ...
    def caller_spoke(self, phase: str | None) -> bool: ...
    def turns_in_phase(self, phase: str | None) -> int: ...
    def elapsed(self, phase: str | None) -> int:
        """Milliseconds."""
        ...
