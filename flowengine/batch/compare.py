"""The facts of a replayed call beside those that were recorded: where they part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from flowengine.facts import Fact, SessionStarted, as_json, canonical_json
from flowengine.inputs import Json

STARTED = SessionStarted.__name__


class Difference(NamedTuple):
    """The first fact that is not the same; None where one side has no more facts."""

    id: str
    """The fact's id: `{number of the input}.{its place}`."""
    recorded: Mapping[str, Json] | None
    replayed: Mapping[str, Json] | None


def first_difference(
    recorded: Iterable[Mapping[str, Json]], replayed: Iterable[tuple[int, Sequence[Fact]]]
) -> Difference | None:
    """None if both tell the same story.

    The first fact names the version of the flow and of the kernel: it is what the two are meant to
    differ in, and is left out.
    """
    old = [dict(fact) for fact in recorded if fact.get("fact") != STARTED]
    new = [_numbered(seq, at, fact) for seq, facts in replayed for at, fact in enumerate(facts)]
    new = [fact for fact in new if fact["fact"] != STARTED]
    for one, other in zip_longest(old, new):
        if one is None or other is None or canonical_json(one) != canonical_json(other):
            return Difference(str((one or other or {}).get("id", "")), one, other)
    return None


def _numbered(seq: int, ordinal: int, fact: Fact) -> dict[str, Any]:
    return {"id": f"{seq}.{ordinal}", **as_json(fact)}
