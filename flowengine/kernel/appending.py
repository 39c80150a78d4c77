"""Lists that several calls append to at once: their items stand in the order of the requests."""

from __future__ import annotations

from bisect import bisect_right

from flowengine.inputs import Json
from flowengine.kernel.work import Work


def insert(work: Work, key: str, value: Json, by: str, order: int) -> None:
    """Put the items of the call with this order before those of later calls."""
    present = work.values.get(key)
    items = list(present) if isinstance(present, list) else []
    orders = work.wait.appended.get(key, ())
    if len(orders) != len(items):
        # Somebody else wrote the list meanwhile: what is there stays first.
        orders = (0,) * len(items)
    new = list(value) if isinstance(value, list) else [value]
    at = bisect_right(orders, order)
    work.put_whole(key, [*items[:at], *new, *items[at:]], by)
    placed = (*orders[:at], *(order,) * len(new), *orders[at:])
    work.wait = work.wait._replace(appended={**work.wait.appended, key: placed})
