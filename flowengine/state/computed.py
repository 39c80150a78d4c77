"""Keys worked out from others: each runs at most once a pass, after everything it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flowengine.errors import CycleError, FunctionError, UnknownKeyError
from flowengine.inputs import Json
from flowengine.state.evidence import plain
from flowengine.state.keys import bare, checked
from flowengine.state.state import State

BY = "computed"


@dataclass(frozen=True, slots=True)
class Computed:
    """`derived:{name}` = `work(view)`; None clears it, and so does a strict read of nothing.

    With `reads=None` what the function reads is tracked: it runs whenever State has changed, after
    the computed keys that it turns out to read.
    """

    name: str
    work: Callable[[Any], Any]
    reads: tuple[str, ...] | None = None


class ReadOnly:
    """State as a function may see it: to be read, never written."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    def find(self, key: str) -> Json:
        return self._state.find(key)

    def get(self, key: str, default: Any = None) -> Any:
        return default if self.find(key) is None else self._state.get(key, default)

    def __getitem__(self, key: str) -> Any:
        self.find(key)
        return self._state.require(key)

    def __contains__(self, key: str) -> bool:
        return self.find(key) is not None


class ComputedKeys:
    """A set of computed keys in a stable order: by dependency, then as declared."""

    __slots__ = ("_affected", "_nodes", "_open", "_order")

    def __init__(self, nodes: Iterable[Computed] = ()) -> None:
        self._nodes = {node.name: node for node in nodes}
        self._order = tuple(self._sorted())
        self._open = any(node.reads is None for node in self._nodes.values())
        self._affected = self._dependents()

    @property
    def order(self) -> tuple[str, ...]:
        return self._order

    @property
    def reads(self) -> Mapping[str, tuple[str, ...] | None]:
        """Each with what it reads; None if that is only tracked."""
        return {name: node.reads for name, node in self._nodes.items()}

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
        order: dict[str, None] = {}
        path: dict[str, None] = {}

        def visit(name: str) -> None:
            if name in order:
                return
            if name in path:
                raise CycleError(_cycle([*path, name]))
            path[name] = None
            for key in self._nodes[name].reads or ():
                if bare(key) in self._nodes:
                    visit(bare(key))
            del path[name]
            order[name] = None

        for name in self._nodes:
            visit(name)
        return list(order)

    def _dependents(self) -> dict[str, frozenset[str]]:
        """For each key, the computed keys that read it, directly or through others."""
        sources: dict[str, set[str]] = {}
        found: dict[str, set[str]] = {}
        for name in self._order:
            reads = set(map(bare, self._nodes[name].reads or ()))
            sources[name] = reads.union(*(sources.get(key, ()) for key in reads))
            for key in sources[name]:
                found.setdefault(key, set()).add(name)
        return {key: frozenset(names) for key, names in found.items()}


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
        """Bring one key up to date, after all that it is declared to read."""
        if name in self.running:
            raise CycleError(_cycle([*self.running, name]))
        if name in self.ran:
            return
        self.running.append(name)
        node = self.nodes[name]
        for key in map(bare, node.reads or ()):
            if key in self.nodes:
                self.ensure(key)
        if name in self.due:
            self.write(name, self.value(node))
        self.running.pop()
        self.ran.add(name)

    def write(self, name: str, value: Any) -> None:
        if self.state.write_derived(f"derived:{name}", value, plain(BY)):
            self.due |= self.affected.get(name, frozenset())

    def value(self, node: Computed) -> Any:
        view: Any = self.state if node.reads is not None else _Tracked(self)
        try:
            value = node.work(view)
        except UnknownKeyError:
            return None
        except (CycleError, FunctionError):
            raise
        except Exception as error:
            raise FunctionError("computed key", node.name, error) from error
        spec = self.state.keys.spec(node.name)
        return value if spec.type is None else checked(node.name, spec, value)


class _Tracked(ReadOnly):
    """Brings a computed key up to date before it is read."""

    __slots__ = ("_pass",)

    def __init__(self, current: _Pass) -> None:
        super().__init__(current.state)
        self._pass = current

    def find(self, key: str) -> Json:
        name = bare(key)
        if name in self._pass.nodes:
            self._pass.ensure(name)
        return super().find(key)


def _cycle(path: list[str]) -> str:
    """The path from the first visit of its last name, which closes the cycle."""
    return f"computed keys depend on each other: {' -> '.join(path[path.index(path[-1]) :])}"
