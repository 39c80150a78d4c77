"""Circles in a graph of names, found without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


def cycles(ways: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """One circle for each group of names that lead to each other, in declaration order.

    A name that is no key of `ways` leads nowhere.
    """
    done: set[str] = set()
    for start in ways:
        path: list[str] = []
        stack: list[Iterator[str]] = [iter([start])]
        while stack:
            name = next(stack[-1], None)
            if name is None:
                stack.pop()
                if path:
                    done.add(path.pop())
            elif name in path:
                yield path[path.index(name) :]
            elif name in ways and name not in done:
                path.append(name)
                stack.append(iter(ways[name]))
