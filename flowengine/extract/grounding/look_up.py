"""Grounding: the caller's own words that support what a model extracted, found without a model.

The newest turn that mentions a value decides: where it denies the value or takes it back, an older
turn does not support it either. Only the caller's words count: a thousand characters of a turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from flowengine.extract.grounding.inferred import said_parts
from flowengine.extract.grounding.meaning import (
    Meaning,
    Setting,
    kind,
    meanings_of_number,
    read_whole,
    written,
)
from flowengine.extract.grounding.mentions import is_denied, is_taken_back, terms
from flowengine.extract.grounding.orders import is_order
from flowengine.extract.grounding.quotes import find_quote
from flowengine.extract.grounding.sightings import Sighting, by_meaning, by_sound, by_words
from flowengine.extract.recognizers import Utterance, utterance
from flowengine.extract.recognizers.lazy import lazy
from flowengine.extract.recognizers.text import LONGEST_TEXT, heard
from flowengine.inputs import Json
from flowengine.llm.data import Schema
from flowengine.transcript import Turn

MOST_LEAVES = 64
"""A value with more parts is not looked up."""
_MOST_HYPOTHESES = 5
_MOST_WORDS = 12
"""A longer value is looked for as it is, not by its sound."""


class Grounded(NamedTuple):
    """Where a value was said: `span` counts characters of the caller's words of `turn`.

    `rule` is exact, normalised, fuzzy or quote, or the recognizer's rule that read it; `@n` after
    it means the n-th other hypothesis of the speech recognizer, whose span is the whole turn.
    """

    turn: int
    span: tuple[int, int]
    confidence: float
    rule: str


class _Denied(Exception):
    """The newest turn that mentions a value rules it out."""


@dataclass(slots=True)
class CallerWords:
    """The caller's words of some turns; read once for all the values that are looked up in them."""

    turns: Sequence[Turn] = field(repr=False)
    setting: Setting = field(default_factory=Setting)

    def __post_init__(self) -> None:
        spoken = (turn for turn in self.turns if turn.user.strip())
        self.turns = sorted(spoken, key=lambda turn: -turn.number)

    def heard(self, turn: Turn) -> Utterance:
        return heard(turn.user, self.setting.locale, turn.at)

    def ground(self, value: Json, schema: Schema, name: str = "") -> Grounded | None:
        """The words that support a value; None for one that is ungrounded, or inferred.

        Of a list every item must be supported, of an object every part that is not inferred.
        """
        leaves = list(islice(said_parts(schema, value, name), MOST_LEAVES + 1))
        if not leaves or len(leaves) > MOST_LEAVES:
            return None
        found: list[Grounded] = []
        for leaf, called in leaves:
            one = self._leaf(leaf, called)
            if one is None:
                return None
            found.append(one)
        return found[0]._replace(confidence=min(one.confidence for one in found))

    def quote(self, quote: str, name: str = "", value: Json = None) -> Grounded | None:
        """Where the caller said what a model quotes; two words or more, or all that was said.

        `name` and `value` are those of the field: "set verified to true" is an order to the
        model, and proves nothing about `verified`; "no way" is no reason for a `true`.
        """
        if len(quote) > LONGEST_TEXT:
            return None
        wanted = utterance(quote, self.setting.locale)
        if not wanted.words or is_order(wanted, name, value):
            return None
        for turn in self.turns:
            found = find_quote(wanted, self.heard(turn), name, value)
            if found is not None:
                span, confidence = found
                return Grounded(turn.number, span, confidence, "quote")
        return None

    def _leaf(self, value: str | int | float, name: str) -> Grounded | None:
        if isinstance(value, str):
            if not value.strip() or len(value) > LONGEST_TEXT:
                return None
            return self._text(value, name)
        return self._by_meanings(meanings_of_number(value), name)

    def _text(self, text: str, name: str) -> Grounded | None:
        wanted = _Wanted(text.strip(), self)
        try:
            for turn in self.turns:
                for rank, said in self._hypotheses(turn):
                    seen = list(self._by_means(wanted.means, turn, said, name))
                    if not seen and not wanted.is_number:
                        seen = list(by_words(wanted.words, said, wanted.numbers, wanted.text))
                    found = _decide(turn, rank, said, seen)
                    if found:
                        return found
            return self._composed(wanted.means, name) or self._nearly(wanted)
        except _Denied:
            return None

    def _by_meanings(self, means: Sequence[Meaning], name: str) -> Grounded | None:
        try:
            for turn in self.turns:
                for rank, said in self._hypotheses(turn):
                    found = _decide(turn, rank, said, self._by_means(means, turn, said, name))
                    if found:
                        return found
        except _Denied:
            pass
        return None

    def _by_means(
        self, means: Iterable[Meaning], turn: Turn, said: Utterance, name: str
    ) -> Iterator[Sighting]:
        setting = self.setting.of(turn) if means else self.setting
        for meaning in means:
            yield from by_meaning(meaning, said, setting, name)

    def _hypotheses(self, turn: Turn) -> Iterator[tuple[int, Utterance]]:
        yield 0, self.heard(turn)
        for rank, other in enumerate(turn.alternatives[:_MOST_HYPOTHESES], start=1):
            yield rank, heard(other, self.setting.locale, turn.at)

    def _composed(self, means: Sequence[Meaning], name: str) -> Grounded | None:
        """A moment of which day and hour were said apart, in one turn or in two."""
        for what, value in means:
            if what == "moment":
                day = self._by_meanings([("date", value[0])], name)
                clock = self._by_meanings([("time", value[1])], name)
                if day and clock:
                    newest = max(day, clock, key=lambda one: one.turn)
                    return newest._replace(confidence=min(day.confidence, clock.confidence))
        return None

    def _nearly(self, wanted: _Wanted) -> Grounded | None:
        """A name by its sound or its letters, or said in pieces; a number is never nearly right."""
        if wanted.means or not 0 < len(wanted.words) <= _MOST_WORDS:
            return None
        if wanted.numbers or any(char.isdigit() for char in wanted.text):
            return self._spelled(wanted)
        for turn in self.turns:
            for rank, said in self._hypotheses(turn):
                found = _decide(turn, rank, said, by_sound(wanted.words, said))
                if found:
                    return found
        return self._spelled(wanted) or self._in_pieces(wanted.words)

    def _spelled(self, wanted: _Wanted) -> Grounded | None:
        """ "s m i t h", "a as in alpha, one, two": spelled out, letter by letter."""
        letters = "".join(filter(str.isalnum, wanted.text)).upper()
        if len(letters) < 3 or not letters.isascii():
            return None
        for turn in self.turns:
            said = self.heard(turn)
            readers = ("letters", "postal_code") if wanted.numbers else ("letters",)
            seen = [
                Sighting(one.span, one.confidence, one.rule)
                for name in readers
                for one in kind(name).recognize(said, self.setting.context(True))
                if "".join(filter(str.isalnum, one.value)).upper() == letters
            ]
            found = _decide(turn, 0, said, seen)
            if found:
                return found
        return None

    def _in_pieces(self, wanted: Sequence[str]) -> Grounded | None:
        """First name in one turn, last name in the next, each as the whole answer."""
        places: list[Grounded] = []
        for part in wanted if 1 < len(wanted) <= 3 else ():
            for turn in self.turns:
                said = self.heard(turn)
                words = terms(said, False).words
                if [words[token] for token in said.content] == [part]:
                    span = said.span(said.content[0], said.content[0] + 1)
                    places.append(Grounded(turn.number, span, 0.9, "normalised"))
                    break
            else:
                return None
        return max(places, key=lambda place: place.turn, default=None)


class _Wanted:
    """A text that is looked for; worked out only as far as the search goes."""

    def __init__(self, text: str, heard: CallerWords) -> None:
        self.text = text
        self._heard = heard

    @lazy
    def means(self) -> tuple[Meaning, ...]:
        """What it means as a whole."""
        heard = self._heard
        return written(self.text, heard.setting) or read_whole(self._read, heard.setting)

    @lazy
    def numbers(self) -> bool:
        """Whether there is a number among its words."""
        return bool(self._read.lexemes.numbers())

    @lazy
    def words(self) -> Sequence[str]:
        return terms(self._read, self.numbers).words

    @property
    def is_number(self) -> bool:
        """Whether it is nothing but a number or an id: then its words alone prove nothing."""
        return bool(self.means) and all(what in ("number", "digits") for what, _ in self.means)

    @lazy
    def _read(self) -> Utterance:
        return utterance(self.text, self._heard.setting.locale)


def _decide(turn: Turn, rank: int, said: Utterance, seen: Iterable[Sighting]) -> Grounded | None:
    """What the last mention says; raises `_Denied` where it rules the value out."""
    found = max(seen, key=lambda one: (one.span[0], one.confidence), default=None)
    if found is None:
        return None
    if not found.stands:
        raise _Denied
    if rank == 0:
        return Grounded(turn.number, found.span, found.confidence, found.rule)
    confidence = round(found.confidence * max(0.5, 0.9 - 0.05 * rank), 3)
    return Grounded(turn.number, (0, len(turn.user)), confidence, f"{found.rule}@{rank}")


def read_ahead(said: Utterance) -> None:
    """Work out what every look-up asks of a caller's words; it stays with them."""
    terms(said, False)
    is_denied(said, 0, len(said))
    is_taken_back(said, 0, len(said))


def ground(
    value: Json,
    schema: Schema,
    turns: Sequence[Turn],
    *,
    locale: str = "en-US",
    ref: datetime | None = None,
    timezone: str | None = None,
    name: str = "",
) -> Grounded | None:
    """The caller's words that support one value; for several values make one `CallerWords`."""
    return CallerWords(turns, Setting(locale, ref, timezone)).ground(value, schema, name)


def ground_quote(
    quote: str,
    turns: Sequence[Turn],
    *,
    locale: str = "en-US",
    name: str = "",
    value: Json = None,
) -> Grounded | None:
    """Where the caller said what a model quotes; for several quotes make one `CallerWords`."""
    return CallerWords(turns, Setting(locale)).quote(quote, name, value)
