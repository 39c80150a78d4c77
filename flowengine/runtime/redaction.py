"""The transcript as readers outside the process may see it: without the values of `pii` keys.

Masked is what such a key holds and what it held before, whoever said it: where evidence places
it, where it stands as it is written, and where the recognizers read it in other words. Long
numbers are masked whether or not a key holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flowengine.extract.grounding import CallerWords
from flowengine.extract.meaning import Setting
from flowengine.facts import MASK
from flowengine.inputs import Json
from flowengine.kernel import CompiledFlow, Snapshot
from flowengine.runtime.long_numbers import long_numbers
from flowengine.transcript import ToolCall, Turn

Span = tuple[int, int]


def redacted(flow: CompiledFlow, snapshot: Snapshot) -> tuple[Turn, ...]:
    """The closed turns and the one in progress, masked; alternatives are left out."""
    values = dict(_private(flow, snapshot))
    return tuple(_masked(flow, snapshot, turn, values) for turn in snapshot.transcript.so_far)


def _private(flow: CompiledFlow, snapshot: Snapshot) -> Iterator[tuple[str, list[Json]]]:
    """Each pii key with the values that it holds or has held."""
    for key, spec in flow.keys.declared().items():
        if spec.pii:
            known = snapshot.evidence.get(key)
            values = [snapshot.values.get(key), *(known.superseded if known else ())]
            yield key, [leaf for value in values for leaf in _leaves(value)]


def _leaves(value: Json) -> Iterator[Json]:
    if isinstance(value, dict):
        for child in value.values():
            yield from _leaves(child)
    elif isinstance(value, list):
        for child in value:
            yield from _leaves(child)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value


def _masked(
    flow: CompiledFlow, snapshot: Snapshot, turn: Turn, values: dict[str, list[Json]]
) -> Turn:
    placed = [
        known.span
        for key in values
        if (known := snapshot.evidence.get(key)) and known.turn == turn.number and known.span
    ]
    setting = Setting(flow.flow.locale, None, flow.flow.timezone)
    return turn._replace(
        user=_without(turn.user, values, setting, placed),
        model=_without(turn.model, values, setting),
        alternatives=(),
        calls=tuple(ToolCall(call.tool, MASK, call.status, MASK) for call in turn.calls),
    )


def _without(
    text: str, values: dict[str, list[Json]], setting: Setting, placed: Iterable[Span] = ()
) -> str:
    spans = [*placed, *_said(text, values, setting), *long_numbers(text, setting.locale)]
    for start, end in sorted(_merged(spans), reverse=True):
        text = text[:start] + MASK + text[end:]
    return text


def _said(text: str, values: dict[str, list[Json]], setting: Setting) -> Iterator[Span]:
    """Every place where one of the values is said, in whatever words."""
    for key, known in values.items():
        for value in known:
            rest = text
            while rest.strip():
                words = CallerWords([Turn(1, rest)], setting)
                found = words.ground(value, {}, key)
                if found is None or found.span[0] == found.span[1]:
                    break
                yield found.span
                start, end = found.span
                rest = rest[:start] + "\n" * (end - start) + rest[end:]


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
