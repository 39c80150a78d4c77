"""Keys worked out from others: each runs at most once a pass, after everything it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flowengine.errors import CycleError, FunctionError
from flowengine.inputs import Json
from flowengine.state.evidence import plain
from flowengine.state.keys import bare
from flowengine.state.state import State

BY = "computed"


@dataclass(frozen=True, slots=True)
class Computed:
    """`derived:{name}` = `work(view)`; a None clears it.

    With `reads=None` what the function reads is tracked: it runs whenever State has changed, after
    the computed keys that it turns out to read.
    """

    name: str
    work: Callable[[Any], Json]
    reads: tuple[str, ...] | None = None


class ComputedKeys:
    """A set of computed keys in a stable order: by dependency, then as declared."""

    __slots__ = ("_affected", "_nodes", "_open", "_order")

    def __init__(self, nodes: Iterable[Computed] = ()) -> None:
        self._nodes = {node.name: node for node in nodes}
        self._order = tuple(self._sorted())
        self._open = any(node.reads is None for node in self._nodes.values())
        self._affected: dict[str, frozenset[str]] = {}
        for name in self._order:
            for key in self._sources(name):
                self._affected[key] = self._affected.get(key, frozenset()) | {name}

    @property
    def order(self) -> tuple[str, ...]:
        return self._order

    def recompute(self, state: State, changed: Iterable[str] | None = None) -> None:
        """Bring every computed key that depends on `changed` (all, if None) up to date."""
        if not self._nodes:
            return
        if changed is None:
            due = set(self._nodes)
        else:
            due = {n for key in changed for n in self._affected.get(bare(key), ())}
            if self._open and changed:
                due |= {n.name for n in self._nodes.values() if n.reads is None}
        if due:
            _Pass(self._nodes, state, due, self._affected).run(self._order)

    def _sorted(self) -> list[str]:
        order: list[str] = []
        path: list[str] = []

        def visit(name: str) -> None:
            if name in order:
                return
            if name in path:
                raise CycleError(_cycle([*path[path.index(name) :], name]))
            path.append(name)
            for key in self._nodes[name].reads or ():
                if bare(key) in self._nodes:
                    visit(bare(key))
            path.pop()
            order.append(name)

        for name in self._nodes:
            visit(name)
        return order

    def _sources(self, name: str) -> set[str]:
        """Every key that it reads, directly or through other computed keys."""
        found: set[str] = set()
        for key in map(bare, self._nodes[name].reads or ()):
            found.add(key)
            if key in self._nodes:
                found |= self._sources(key)
        return found


class _Pass:
    """One recomputation: who has run, who is running, and who is due."""

    def __init__(
        self,
        nodes: Mapping[str, Computed],
        state: State,
        due: set[str],
        affected: Mapping[str, frozenset[str]],
    ) -> None:
        self.nodes, self.state, self.due, self.affected = nodes, state, due, affected
        self.ran: set[str] = set()
        self.running: list[str] = []

    def run(self, order: tuple[str, ...]) -> None:
        for name in order:
            self.ensure(name)

    def ensure(self, name: str) -> None:
        if name in self.running:
            raise CycleError(_cycle([*self.running[self.running.index(name) :], name]))
        if name in self.ran or name not in self.due:
            return
        self.running.append(name)
        node = self.nodes[name]
        view: Any = self.state if node.reads is not None else _Tracked(self)
        try:
            value = node.work(view)
        except (CycleError, FunctionError):
            raise
        except Exception as error:
            raise FunctionError("computed key", name, error) from error
        self.running.pop()
        self.ran.add(name)
        if self.state.write_derived(f"derived:{name}", value, plain(BY)):
            self.due |= self.affected.get(name, frozenset())


class _Tracked:
    """A read-only State that brings a computed key up to date before it is read."""

    def __init__(self, current: _Pass) -> None:
        self._pass = current

    def find(self, key: str) -> Json:
        name = bare(key)
        if name in self._pass.nodes:
            self._pass.ensure(name)
        return self._pass.state.find(key)

    def get(self, key: str, default: Any = None) -> Any:
        value = self.find(key)
        return default if value is None else value

    def __getitem__(self, key: str) -> Any:
        self.find(key)
        return self._pass.state.require(key)

    def __contains__(self, key: str) -> bool:
        return self.find(key) is not None


def _cycle(names: list[str]) -> str:
    return f"computed keys depend on each other: {' -> '.join(names)}"
