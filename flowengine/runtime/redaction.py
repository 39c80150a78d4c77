"""The transcript as readers outside the process may see it: without the values of `pii` keys.

Masked is what such a key holds and what it held before, whoever said it: where evidence has placed
it, where it stands as it is written, and where the recognizers read it in other words. A call with
more such values than are kept shows no words. Long numbers are masked whether or not a key holds
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TypeAlias

from flowengine.extract.grounding import CallerWords
from flowengine.extract.grounding.meaning import Setting
from flowengine.facts import MASK
from flowengine.kernel import CompiledFlow, Snapshot
from flowengine.kernel.privacy import leaves
from flowengine.runtime.long_numbers import long_numbers
from flowengine.transcript import ToolCall, Turn

Span: TypeAlias = tuple[int, int]
Values: TypeAlias = dict[str, list[str | int | float]]


def redacted(flow: CompiledFlow, snapshot: Snapshot) -> tuple[Turn, ...]:
    """The closed turns and the one in progress, masked; alternatives are left out."""
    turns = snapshot.transcript.so_far
    if snapshot.wait.private.whole:
        return tuple(_shown(turn, turn.user and MASK, turn.model and MASK) for turn in turns)
    values = _private(flow, snapshot)
    return tuple(_masked(flow, snapshot, turn, values) for turn in turns)


def _private(flow: CompiledFlow, snapshot: Snapshot) -> Values:
    """Each pii key with the values that it holds or has held."""
    found: Values = {}
    declared = (key for key, spec in flow.keys.declared().items() if spec.pii)
    for key in dict.fromkeys((*declared, *flow.keys.private)):
        for name in flow.keys.names[key]:
            known = snapshot.evidence.get(name)
            values = (snapshot.values.get(name), *(known.superseded if known else ()))
            found.setdefault(key, []).extend(leaf for value in values for leaf in leaves(value))
    for key, value in snapshot.wait.private.values:
        found.setdefault(key, []).append(value)
    return {key: list(dict.fromkeys(values)) for key, values in found.items()}


def _masked(flow: CompiledFlow, snapshot: Snapshot, turn: Turn, values: Values) -> Turn:
    placed = [(a, b) for number, a, b in snapshot.wait.private.places if number == turn.number]
    setting = Setting(flow.flow.locale, None, flow.flow.timezone)
    user = _without(turn.user, values, setting, placed)
    return _shown(turn, user, _without(turn.model, values, setting))


def _shown(turn: Turn, user: str, model: str) -> Turn:
    calls = tuple(ToolCall(call.tool, MASK, call.status, MASK) for call in turn.calls)
    return turn._replace(user=user, model=model, alternatives=(), calls=calls)


def _without(text: str, values: Values, setting: Setting, placed: Iterable[Span] = ()) -> str:
    hidden = (_written(text, values), _said(text, values, setting))
    spans = [*placed, *chain(*hidden), *long_numbers(text, setting.locale)]
    for start, end in sorted(_merged(spans), reverse=True):
        text = text[:start] + MASK + text[end:]
    return text


def _written(text: str, values: Values) -> Iterator[Span]:
    """Every place where one of the values stands as it is, denied or not."""
    for value in chain(*values.values()):
        words = str(value).split()
        if len("".join(words)) > 1:
            literal = r"\s+".join(map(re.escape, words))
            for found in re.finditer(rf"(?<!\w){literal}(?!\w)", text, re.IGNORECASE):
                yield found.span()


def _said(text: str, values: Values, setting: Setting) -> Iterator[Span]:
    """Every place where one of the values is said, in whatever words."""
    whole = CallerWords([Turn(1, text)], setting)
    for key, known in values.items():
        for value in known:
            words, rest = whole, text
            while rest.strip():
                found = words.ground(value, {}, key)
                if found is None or found.span[0] == found.span[1]:
                    break
                yield found.span
                start, end = found.span
                rest = rest[:start] + "\n" * (end - start) + rest[end:]
                words = CallerWords([Turn(1, rest)], setting)


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
