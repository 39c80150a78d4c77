"""What makes a State used alone react: computed keys, watchers and signals after each batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flowengine.inputs import Json
from flowengine.state.computed import Computed, ComputedKeys
from flowengine.state.keys import bare
from flowengine.state.signals import Signals
from flowengine.state.state import State
from flowengine.state.watchers import Predicate, Watcher, WatchTable, changed, settle


class Reactor:
    """Settles one State whenever its outermost batch ends.

    ```python
    state = State()
    reactor = Reactor(state)
    reactor.computed("total", lambda s: s["price"] * s["quantity"], reads=("price", "quantity"))
    reactor.watch("total", lambda old, new, state: print(new))
    state.update({"price": 3, "quantity": 2})
    ```
    """

    def __init__(self, state: State) -> None:
        self.signals = Signals()
        self._state = state
        self._computed: list[Computed] = []
        self._watchers: list[Watcher] = []
        self._keys = ComputedKeys()
        self._table = WatchTable()
        state.attach(self._settle)

    def computed(
        self, name: str, work: Callable[[Any], Json], *, reads: tuple[str, ...] | None = None
    ) -> None:
        """Keep `derived:{name}` equal to `work(state)`; a name given again is replaced.

        Raises:
            CycleError: it would depend on itself; nothing is registered.
        """
        nodes = [node for node in self._computed if node.name != name]
        nodes.append(Computed(name, work, reads))
        self._keys = ComputedKeys(nodes)
        self._computed = nodes
        with self._state.batch("computed"):
            self._keys.recompute(self._state)

    def watch(
        self,
        key: str,
        action: Callable[[Json, Json, State], None],
        predicate: Predicate = changed,
    ) -> None:
        """Call `action(old, new, state)` after a batch that changed `key` in this way."""
        self._watchers.append(Watcher(key, predicate, action, position=len(self._watchers)))
        self._table = WatchTable(self._watchers)

    def _settle(self) -> None:
        touched = settle(
            self._state, self._keys, self._table,
            lambda watcher, old, new: watcher.action(old, new, self._state),
        )  # fmt: skip
        for key in sorted(map(bare, touched)) if self.signals else ():
            self.signals.publish(key, self._state, value=self._state.find(key))
