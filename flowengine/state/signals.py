"""Publishing what happened: one blinker signal per key and per fact, in order of connection.

blinker keeps receivers in a set and weakly by default: a lambda would never fire, and the order
would be arbitrary. Here they are held strongly and called in the order they were connected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableSet
from typing import Any

from blinker import Signal


class _Ordered(MutableSet[Any]):
    """A set that remembers the order of arrival, with the little that blinker asks of a set."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._items = dict.fromkeys(items)

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def add(self, value: Any) -> None:
        self._items[value] = None

    def discard(self, value: Any) -> None:
        self._items.pop(value, None)

    def copy(self) -> _Ordered:
        return _Ordered(self._items)


class OrderedSignal(Signal):
    set_class = _Ordered  # pyright: ignore[reportAssignmentType]


class Signals:
    """Signals by name, made when the first receiver connects."""

    __slots__ = ("_signals",)

    def __init__(self) -> None:
        self._signals: dict[str, OrderedSignal] = {}

    def connect(self, name: str, receiver: Callable[..., Any]) -> Callable[[], None]:
        """Call `receiver(sender, **payload)` from now on; the result takes that back."""
        signal = self._signals.setdefault(name, OrderedSignal())
        signal.connect(receiver, weak=False)
        return lambda: signal.disconnect(receiver)

    def publish(self, name: str, sender: Any, **payload: Any) -> None:
        """Call the receivers of `name`; costs a look-up where there are none."""
        signal = self._signals.get(name)
        if signal is not None and signal.receivers:
            signal.send(sender, **payload)

    def __bool__(self) -> bool:
        return bool(self._signals)
