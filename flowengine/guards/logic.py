"""Three values after Kleene: unknown unless the known parts decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from flowengine.guards.view import View

Truth3: TypeAlias = "Callable[[View], bool | None]"


def kleene(truths: Sequence[Truth3], *, decisive: bool) -> Truth3:
    """`and` when False is decisive, `or` when True is."""
    parts = tuple(truths)
    if len(parts) == 1:
        return parts[0]

    def truth(view: View) -> bool | None:
        answer: bool | None = not decisive
        for part in parts:
            value = part(view)
            if value is decisive:
                return value
            if value is None:
                answer = None
        return answer

    return truth


def negated(inner: Truth3) -> Truth3:
    def truth(view: View) -> bool | None:
        value = inner(view)
        return None if value is None else not value

    return truth
