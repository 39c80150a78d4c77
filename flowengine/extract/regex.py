"""Extraction by regular expressions: patterns by field, or a function of the words of one turn.

The newest turn is read first and its words win. What an older turn says fills a field only while
nothing is known of it: the window is read anew in every run, and a value that has been replaced
since must not come back. Nothing is kept between runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import re2

from flowengine.errors import FlowError
from flowengine.extract.record.compiled import Finding
from flowengine.extract.spec import OnFailure, Promotion, Trigger
from flowengine.extract.turn_extractor import Fields, TurnExtractor, Window, known_by_field
from flowengine.inputs import NOTHING, Json
from flowengine.transcript import Turn

Speaker: TypeAlias = Literal["caller", "model"]
Pattern: TypeAlias = str | Mapping[str, Json]
"""A pattern whose match is the value, or `{pattern: value}` for what has a value of its own, such
as `{"i understand|got it": True}`."""
Read: TypeAlias = Callable[[str, Mapping[str, Json]], Mapping[str, Json]]
"""A function `(text, existing) -> new values`; `existing` is what newer words have given."""

LONGEST_TEXT = 10_000
"""How much of one speaker's words in a turn is read, in characters."""


class RegexExtractor(TurnExtractor):
    """Patterns are RE2 in any case; the first group that took part is the value, else the match.

    Only the caller is read unless `speakers` says otherwise, so that an agent's "sure" agrees to
    nothing. Of several matches in one turn the last counts. With a function the fields are those
    of `fields`, else of the promotions; without either an old value can come back.
    """

    def __init__(
        self,
        name: str,
        patterns: Mapping[str, Pattern] | Read,
        window: int = 10,
        *,
        speakers: Sequence[Speaker] = ("caller",),
        fields: Iterable[str] = (),
        trigger: Trigger = "every_turn",
        promotions: tuple[Promotion, ...] = (),
        min_words: int = 0,
        timeout: str = "5s",
        on_failure: OnFailure = "continue",
    ) -> None:
        self.name, self.window, self.trigger = name, window, trigger
        self.promotions, self.min_words = promotions, min_words
        self.timeout, self.on_failure = timeout, on_failure
        self.speakers = _speakers(name, speakers)
        self._patterns: dict[str, _Pattern] = {}
        self._read = patterns if callable(patterns) else None
        if not callable(patterns):
            self._patterns = {field: _Pattern(name, field, p) for field, p in patterns.items()}
            fields = self._patterns
        named = [*fields] or [rule.field for rule in promotions]
        self.schema = {"type": "object", "properties": {field: {} for field in named}}

    def extract(self, window: Window, known: Mapping[str, Json] = NOTHING) -> dict[str, Json]:
        """The fields as plain values; `findings` also says where each was said."""
        return {found.field: found.value for found in self.findings(window, known)}

    def findings(self, window: Window, known: Mapping[str, Json] = NOTHING) -> tuple[Finding, ...]:
        """Each field with its turn, speaker and, if a pattern found it, span."""
        settled = known_by_field(self.schema, self.promotions, known)
        found: dict[str, Finding] = {}
        newest = max((turn.number for turn in window), default=0)
        for turn in reversed(window):
            for speaker in self.speakers:
                said = turn.user if speaker == "caller" else turn.model
                words = readable(said[:LONGEST_TEXT])
                had = {field: one.value for field, one in found.items()}
                if turn.number < newest:
                    had = {**settled, **had}
                for one in self._in(words, turn, speaker, had) if words else ():
                    found.setdefault(one.field, one)
        return tuple(found.values())

    def _in(self, words: str, turn: Turn, speaker: Speaker, had: Fields) -> Iterable[Finding]:
        """What these words give for fields that are not had yet."""
        if self._read is not None:
            for field, value in self._read(words, had).items():
                if field not in had and value is not None:
                    yield Finding(field, value, speaker, turn.number, rule=self.name)
            return
        for field, pattern in self._patterns.items():
            match = None if field in had else pattern.last(words)
            if match is not None:
                value, span = match
                yield Finding(field, value, speaker, turn.number, span, rule=self.name)


class _Pattern:
    """One field's pattern, or several with a value for each."""

    def __init__(self, name: str, field: str, pattern: Pattern) -> None:
        pairs = pattern.items() if isinstance(pattern, Mapping) else [(pattern, None)]
        self._compiled = [
            (compiled_pattern(f"{name}.{field}", text), value) for text, value in pairs
        ]

    def last(self, words: str) -> tuple[Json, tuple[int, int]] | None:
        """The value that was said last, and where."""
        found = [
            (match, value) for regex, value in self._compiled for match in regex.finditer(words)
        ]
        if not found:
            return None
        match, value = max(found, key=lambda pair: pair[0].end())
        if value is not None:
            return value, match.span()
        group = next((n for n, part in enumerate(match.groups(), 1) if part is not None), 0)
        return match.group(group), match.span(group)


def readable(words: str) -> str:
    """As RE2 can read it: half of a surrogate pair becomes `?`, and every place stays."""
    return words.encode(errors="replace").decode()


def compiled_pattern(place: str, pattern: object) -> Any:
    """A pattern of RE2, in any case. Raises FlowError, which begins with the place."""
    if not isinstance(pattern, str) or not pattern:
        raise FlowError(f"{place}: give a pattern as text, such as r'order #?(\\d+)'")
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:  # pyright: ignore[reportUnknownVariableType]
        said = str(error.args[0], errors="replace")  # pyright: ignore[reportUnknownArgumentType]
        raise FlowError(
            f"{place}: this pattern is not RE2 ({said}); it has no back-references and no "
            "look-around"
        ) from None


def _speakers(name: str, speakers: Sequence[Speaker]) -> tuple[Speaker, ...]:
    """Newest first: in a turn the model speaks after the caller."""
    wrong = [speaker for speaker in speakers if speaker not in ("caller", "model")]
    if wrong or not speakers or isinstance(speakers, str):
        raise FlowError(f"extractor {name!r}: `speakers` takes 'caller', 'model' or both")
    return tuple(speaker for speaker in ("model", "caller") if speaker in speakers)
