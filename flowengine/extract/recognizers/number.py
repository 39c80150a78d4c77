"""integer, number, ordinal and percent: how many, which one, what share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from flowengine.extract.recognizers.base import MOST_VALUES, Context, Recognition, Recognizer
from flowengine.extract.recognizers.grammar import Match
from flowengine.extract.recognizers.marks import standing
from flowengine.extract.recognizers.numbers import CONFUSED, Exact, Number, plain
from flowengine.extract.recognizers.text import Utterance

_HEDGED = 0.8


def read_numbers(said: Utterance) -> list[Number]:
    """Every number of an utterance, with "seven oh five" put together."""
    found: list[Number] | None = said.memo.get("numbers")
    if found is not None:
        return found
    found = []
    for number in said.lexemes.numbers():
        if number.ordinal:
            continue
        before = found[-1] if found else None
        is_oh = number.raw is not None and number.last - number.first == 2
        if is_oh and before and before.last == number.first and 0 < before.value < 100:
            found[-1] = Number(before.first, number.last, before.value * 100 + number.value)
        elif is_oh:
            found.append(Number(number.first + 1, number.last, number.value))
        else:
            found.append(number)
    _add_quarters(found, said)
    said.memo["numbers"] = found
    return found


def _add_quarters(found: list[Number], said: Utterance) -> None:
    """ "three quarters", "one and three quarters"; "three quarters of an hour" is a duration."""
    words, quarters = said.words, said.locale.quarter_words
    if quarters.isdisjoint(words):
        return
    for i in range(len(found) - 1, -1, -1):
        last = found[i].last
        if last >= len(words) or words[last] not in quarters or found[i].value > 3:
            continue
        found[i] = Number(found[i].first, last + 1, found[i].value * Decimal("0.25"))
        whole = found[i - 1] if i else None
        if whole and words[whole.last : found[i].first] in said.locale.and_words:
            found[i - 1 : i + 1] = [Number(whole.first, last + 1, whole.value + found[i].value)]


@dataclass(frozen=True, kw_only=True)
class NumberRecognizer(Recognizer):
    """Any number: "two and a half", "a couple hundred", "1,500"."""

    kind: ClassVar[str] = "number"
    min: float | None = None
    max: float | None = None

    def accepts(self, number: Number) -> bool:
        return (self.min is None or number.value >= self.min) and (
            self.max is None or number.value <= self.max
        )

    def numbers(self, said: Utterance) -> list[Number]:
        return [n for n in read_numbers(said) if self.accepts(n)][:MOST_VALUES]

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        numbers = self.numbers(said)
        return self.recognitions(standing(numbers, said.marks), said) if numbers else []

    def recognitions(
        self, kept: Sequence[tuple[Number, list[Number]]], said: Utterance
    ) -> list[Recognition]:
        """One for each number with those it replaced, in the same order."""
        found = [self._recognition(said, number, replaced) for number, replaced in kept]
        _offer_together(found, [number for number, _ in kept], said)
        return found

    def _recognition(
        self, said: Utterance, number: Number, replaced: Sequence[Number]
    ) -> Recognition:
        marks = said.marks
        value = plain(number.value)
        approximate = number.approximate or marks.approximate(number.first, number.last)
        confusable = CONFUSED.get(int(number.value)) if number.simple else None
        return Recognition(
            value=value,
            text=str(value),
            span=said.span(number.first, number.last),
            confidence=_HEDGED if marks.hedged() else 1.0,
            rule=f"{self.kind}.{'digits' if number.raw else 'words'}",
            alternatives=() if confusable is None else (confusable,),
            superseded=tuple(plain(earlier.value) for earlier in replaced),
            approximate=approximate,
            bound=marks.bound(number.first),
        )


def _offer_together(found: list[Recognition], places: Sequence[Number], said: Utterance) -> None:
    """ "five or six" is one answer with two readings: ask which."""
    for i in range(len(found) - 1):
        if said.marks.joined(places[i].last, places[i + 1].first):
            for one, other in ((found[i], found[i + 1]), (found[i + 1], found[i])):
                one.ambiguous = True
                one.alternatives = (other.value, *one.alternatives)


@dataclass(frozen=True, kw_only=True)
class IntegerRecognizer(NumberRecognizer):
    """Whole numbers only."""

    kind: ClassVar[str] = "integer"

    def accepts(self, number: Number) -> bool:
        return number.value == int(number.value) and super().accepts(number)


@dataclass(frozen=True, kw_only=True)
class OrdinalRecognizer(Recognizer):
    """A place in a list: "the second one" is 2, "the last one" -1, "option three" 3."""

    kind: ClassVar[str] = "ordinal"

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        if not said.lexemes.mask & said.locale.place_classes:
            return []
        placed = [_Placed(match, place_of(match)) for match in said.matches("ordinal")]
        return [
            place.recognition(said, tuple(int(earlier.value) for earlier in replaced))
            for place, replaced in standing(placed, said.marks)
        ]


def place_of(match: Match) -> int:
    """The place in a list that an ordinal rule means; counted from the end below zero."""
    if match.rule == "ordinal.penultimate":
        return -2
    if match.rule == "ordinal.last":
        return -2 if any(map(match.has_word, ("to", "but", "before"))) else -1
    return int(match.value("index"))


@dataclass(frozen=True, kw_only=True)
class PercentRecognizer(Recognizer):
    """A share of a hundred: "two and a half percent" is 2.5, "a quarter of it" 25."""

    kind: ClassVar[str] = "percent"

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        if not said.lexemes.mask & said.locale.share_classes:
            return []
        placed = [_Placed(match, _percent(match, said)) for match in said.matches("percent")]
        return [
            place.recognition(said, tuple(plain(earlier.value) for earlier in replaced))
            for place, replaced in standing(placed, said.marks)
        ]


def _percent(match: Match, said: Utterance) -> Exact:
    if match.rule == "percent.half":
        return Decimal("0.5")
    if match.rule == "percent.plain":
        return match.value("amount")
    share = Decimal(said.locale.value("share", match.word("share")))
    return round(match.value("count", 1) * share, 2)


@dataclass(slots=True)
class _Placed:
    """A grammar's match with the number it stands for."""

    match: Match
    value: Exact

    @property
    def first(self) -> int:
        return self.match.tokens[0]

    @property
    def last(self) -> int:
        return self.match.tokens[1]

    def recognition(self, said: Utterance, superseded: tuple[int | float, ...]) -> Recognition:
        value = plain(self.value)
        return Recognition(
            value=value,
            text=str(value),
            span=said.span(self.first, self.last),
            confidence=_HEDGED if said.marks.hedged() else 1.0,
            rule=self.match.rule,
            superseded=superseded,
            approximate=said.marks.approximate(self.first, self.last),
            bound=said.marks.bound(self.first),
        )
