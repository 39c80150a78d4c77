"""What makes a State used alone react: computed keys, watchers and signals after each batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flowengine.errors import OwnershipError
from flowengine.inputs import Json
from flowengine.state.computed import Computed, ComputedKeys, ReadOnly
from flowengine.state.signals import Signals
from flowengine.state.state import State
from flowengine.state.types import copied
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
        self, name: str, work: Callable[[Any], Any], *, reads: tuple[str, ...] | None = None
    ) -> None:
        """Keep `derived:{name}` equal to `work(state)`; a name given again is replaced.

        Raises:
            CycleError: it would depend on itself.
            OwnershipError: the key belongs to a writer.
            FunctionError: it cannot be worked out now. In each case nothing is registered.
        """
        if self._state.keys.spec(name).owned:
            raise OwnershipError(f"key {name!r} belongs to its writers: it cannot be computed")

        def read_only(state: State) -> Any:
            return work(ReadOnly(state))

        nodes = [node for node in self._computed if node.name != name]
        nodes.append(Computed(name, work if reads is None else read_only, reads))
        before = self._computed, self._keys
        self._computed, self._keys = nodes, ComputedKeys(nodes)
        try:
            with self._state.batch("computed"):
                self._keys.recompute(self._state)
        except BaseException:
            self._computed, self._keys = before
            raise

    def watch(
        self,
        key: str,
        action: Callable[[Json, Json, State], None],
        predicate: Predicate = changed,
    ) -> None:
        """Call `action(old, new, state)` at the end of a batch that changed `key` in this way.

        The action belongs to the batch: what it writes is settled too, and if it raises, all is
        rolled back. Receivers of `signals` are called after the commit instead.
        """
        self._watchers.append(Watcher(key, predicate, action, position=len(self._watchers)))
        self._table = WatchTable(self._watchers)

    def _settle(self) -> Callable[[], None]:
        touched = sorted(settle(self._state, self._keys, self._table, self._fire))
        return lambda: self._publish(touched)

    def _fire(self, watcher: Watcher, old: Json, new: Json) -> None:
        with self._state.batch(f"watcher:{watcher.key}"):
            watcher.action(copied(old), copied(new), self._state)

    def _publish(self, touched: list[str]) -> None:
        for key in touched if self.signals else ():
            self.signals.publish(key, self._state, value=copied(self._state.find(key)))
