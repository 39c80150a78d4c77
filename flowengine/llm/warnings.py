"""A warning: one thing the provider could not do as it was asked."""

from __future__ import annotations

from flowengine.llm.data import Data
from flowengine.llm.vocabulary import RequestField, WarningKind


class Warning_(Data):
    """Compared and hashed by content; `code` is stable, `message` is for people and quotes nobody.

    `path` is the place in the value the schema speaks of, such as `items[].price`.
    """

    kind: WarningKind
    field: RequestField
    path: str | None = None
    provider: str | None = None
    code: str | None = None
    message: str = ""
    cause: str | None = None


def distinct(*groups: tuple[Warning_, ...]) -> tuple[Warning_, ...]:
    """All warnings in order, each once."""
    return tuple(dict.fromkeys(warning for group in groups for warning in group))
