"""The transcript as readers outside the process may see it: without the values of `pii` keys.

Masked is what such a key holds and what it held before, whoever said it: where evidence has placed
it, where it stands as it is written, and where the recognizers read it in other words, of the
call's language and of the flow's. A call with more such values than are kept shows no words. Long
numbers are masked whether or not a key holds them, and so is what a reader's own patterns match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from flowengine.errors import FlowError
from flowengine.extract.grounding import CallerWords
from flowengine.extract.grounding.meaning import Setting
from flowengine.extract.recognizers.locale import locale_of
from flowengine.extract.recognizers.text import LONGEST_TEXT
from flowengine.extract.regex import compiled_pattern, readable
from flowengine.facts import MASK
from flowengine.kernel import CompiledFlow, Snapshot
from flowengine.kernel.privacy import leaves
from flowengine.kernel.reading import setting_of
from flowengine.kernel.work import Work
from flowengine.runtime.long_numbers import long_numbers
from flowengine.transcript import ToolCall, Turn

Span: TypeAlias = tuple[int, int]
Values: TypeAlias = dict[str, list[str | int | float]]

_SEAM = 250
"""Characters that two parts of a long text share; no value takes longer to say."""


def redacted(flow: CompiledFlow, snapshot: Snapshot, hide: Sequence[str] = ()) -> tuple[Turn, ...]:
    """The closed turns and the one in progress, masked; alternatives are left out.

    Raises:
        FlowError: what is to be hidden is no list of patterns.
    """
    patterns = _patterns(hide)
    turns = snapshot.transcript.so_far
    if snapshot.wait.private.whole:
        return tuple(_shown(turn, turn.user and MASK, turn.model and MASK) for turn in turns)
    values, settings = _private(flow, snapshot), _settings(flow, snapshot)
    return tuple(_masked(snapshot, turn, values, settings, patterns) for turn in turns)


def _patterns(hide: Sequence[str]) -> tuple[Any, ...]:
    if isinstance(hide, str):
        raise FlowError(f"hide takes a list of patterns: write hide=[{hide!r}]")
    return tuple(
        compiled_pattern(f"hide[{at}] ({pattern!r})", pattern) for at, pattern in enumerate(hide)
    )


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


def _settings(flow: CompiledFlow, snapshot: Snapshot) -> tuple[Setting, ...]:
    """The flow's language and place, and the call's if they are others; it may have changed."""
    spec = flow.flow
    now = datetime.fromtimestamp(snapshot.at / 1000, ZoneInfo(spec.timezone))
    own = Setting(spec.locale, now, spec.timezone)
    try:
        calls = setting_of(Work(flow, snapshot, snapshot.at))
        locale_of(calls.locale)
    except FlowError:  # nothing was ever read in it
        return (own,)
    return (own,) if calls == own else (own, calls)


def _masked(
    snapshot: Snapshot,
    turn: Turn,
    values: Values,
    settings: tuple[Setting, ...],
    patterns: tuple[Any, ...],
) -> Turn:
    placed = [(a, b) for number, a, b in snapshot.wait.private.places if number == turn.number]
    then = [setting.of(turn) for setting in settings]
    user = _without(turn.user, values, then, [*placed, *_matched(turn.user, patterns)])
    return _shown(turn, user, _without(turn.model, values, then, _matched(turn.model, patterns)))


def _shown(turn: Turn, user: str, model: str) -> Turn:
    calls = tuple(ToolCall(call.tool, MASK, call.status, MASK) for call in turn.calls)
    return turn._replace(user=user, model=model, alternatives=(), calls=calls)


def _without(
    text: str, values: Values, settings: Iterable[Setting], placed: Iterable[Span] = ()
) -> str:
    spans = [*placed, *_written(text, values)]
    for at, piece in _pieces(text):
        for setting in settings:
            found = chain(_said(piece, values, setting), long_numbers(piece, setting.locale))
            spans += [(at + start, at + end) for start, end in found]
    for start, end in sorted(_merged(spans), reverse=True):
        text = text[:start] + MASK + text[end:]
    return text


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """A text in parts that recognizers read to their ends; what stands at a seam is in two."""
    at = 0
    while len(text) - at > LONGEST_TEXT:
        yield at, text[at : at + LONGEST_TEXT]
        seam = at + LONGEST_TEXT - _SEAM
        at = text.rfind(" ", seam - _SEAM, seam) + 1 or seam
    yield at, text[at:]


def _written(text: str, values: Values) -> Iterator[Span]:
    """Every place where one of the values stands as it is, denied or not."""
    for value in chain(*values.values()):
        words = str(value).split()
        if len("".join(words)) > 1:
            literal = r"\s+".join(map(re.escape, words))
            start = r"(?<!\w)" if _is_bounded(words[0][0]) else ""
            end = r"(?!\w)" if _is_bounded(words[-1][-1]) else ""
            for found in re.finditer(f"{start}{literal}{end}", text, re.IGNORECASE):
                yield found.span()


def _matched(text: str, patterns: Iterable[Any]) -> Iterator[Span]:
    """Every place that a pattern matches; one that matches nothing at all hides nothing."""
    whole = readable(text)
    for pattern in patterns:
        for found in pattern.finditer(whole):
            if found.start() < found.end():
                yield found.span()


def _is_bounded(char: str) -> bool:
    """Scripts without capitals, such as Japanese or Arabic, write words together."""
    return not char.isalpha() or char.lower() != char.upper()


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
