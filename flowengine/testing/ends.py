"""Where an order of inputs ends: phases, values and answers, which all orders should share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from flowengine.facts import canonical_json
from flowengine.inputs import Json
from flowengine.kernel import CompiledFlow
from flowengine.testing.expect import End
from flowengine.testing.orders import Answered, Node

PASSING = ("turn:", "phase:", "session:", "repair:", "decision:")
"""Keys that tell when something happened rather than what is known."""


class Ended(NamedTuple):
    """What is compared between orders."""

    phase: str
    phases: tuple[str, ...]
    ended: bool
    keys: Mapping[str, Json]
    calls: tuple[Answered, ...]
    """Call, tool, status, code of a failure, and value, by call id. Which rule refuses a call may
    depend on the order; that it is refused may not."""
    broken: tuple[str, ...]
    failed: tuple[str, ...]

    def __str__(self) -> str:
        return canonical_json([*self])

    def find(self, key: str) -> Json:
        own = self.keys.get(key)
        return own if own is not None or ":" in key else self.keys.get(f"derived:{key}")

    @property
    def by_tool(self) -> dict[str, tuple[str, ...]]:
        """Tool -> how its calls ended."""
        tools = dict.fromkeys(tool for _, tool, *_ in self.calls)
        return {name: tuple(c[2] for c in self.calls if c[1] == name) for name in tools}


def end_of(node: Node, flow: CompiledFlow) -> Ended:
    place, values = node.snapshot.place, node.snapshot.values
    return Ended(
        flow.chart.main_leaf(place.active),
        place.active,
        place.ended,
        {k: v for k, v in sorted(values.items()) if not k.startswith(PASSING)},
        tuple(sorted(map(_without_rule, node.answered), key=_place)),
        node.broken,
        tuple(sorted(node.failed)),
    )


def _place(answer: Answered) -> tuple[str, int, str]:
    """Call ids in the order in which they were given: "charge-10" comes after "charge-3"."""
    name, _, number = answer[0].rpartition("-")
    return (name, int(number), "") if number.isdecimal() else (answer[0], 0, number)


def _without_rule(answer: Answered) -> Answered:
    call, tool, status, _, value = answer
    return (call, tool, status, "", value) if status in ("denied", "ran") else answer


def is_like(end: Ended, declared: End) -> bool:
    """Whether an end is one that was declared."""
    wanted = {**dict.fromkeys(declared.absent), **declared.keys}
    return (
        declared.phase in (None, end.phase)
        and declared.phases in (None, end.phases)
        and declared.ended in (None, end.ended)
        and all(canonical_json(end.find(k)) == canonical_json(v) for k, v in wanted.items())
        and all(_ended_so(end.by_tool.get(t, ()), how) for t, how in declared.calls.items())
    )


def _ended_so(found: tuple[str, ...], wanted: str | tuple[str, ...]) -> bool:
    if isinstance(wanted, str):
        return bool(found) and set(found) == {wanted}
    return found == wanted


def differences(one: Ended, other: Ended) -> Iterator[tuple[str, str, str]]:
    """What differs, in the one and in the other end."""
    if one.phases != other.phases:
        yield "phases", ", ".join(one.phases), ", ".join(other.phases)
    if one.ended != other.ended:
        yield "ended", canonical_json(one.ended), canonical_json(other.ended)
    for key in sorted({*one.keys, *other.keys}):
        left, right = _shown(one.keys.get(key)), _shown(other.keys.get(key))
        if left != right:
            yield key, left, right
    calls = {call: tool for call, tool, *_ in (*one.calls, *other.calls)}
    for call, tool in calls.items():
        left, right = _how(one, call), _how(other, call)
        if left != right:
            yield f"call of {tool}", left, right
    if one.failed != other.failed:
        yield "failed inputs", ", ".join(one.failed) or "-", ", ".join(other.failed) or "-"
    if one.broken != other.broken:
        yield "never", "; ".join(one.broken) or "-", "; ".join(other.broken) or "-"


def _how(end: Ended, call: str) -> str:
    ends = [
        status
        if status in ("accepted", "denied", "cancelled")
        else f"{status} {kind or _shown(value)}"
        for id, _, status, kind, value in end.calls
        if id == call
    ]
    return ", ".join(ends) or "no answer"


def _shown(value: Json) -> str:
    return "absent" if value is None else canonical_json(value)
