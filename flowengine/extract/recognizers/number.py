"""integer, number, integer_near, ordinal and percent: how many, which one, what share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import ClassVar

from flowengine.extract.recognizers.base import MOST_VALUES, Context, Recognition, Recognizer
from flowengine.extract.recognizers.grammar import Match
from flowengine.extract.recognizers.marks import standing
from flowengine.extract.recognizers.numbers import CONFUSED, Exact, Number, plain
from flowengine.extract.recognizers.options import at_least_one, words_of
from flowengine.extract.recognizers.phrases import Phrases
from flowengine.extract.recognizers.text import Utterance

_HEDGED = 0.8
_ENDINGS = ("", "s", "es", "'s")
"""An anchor counts in the plural and possessive too."""


def read_numbers(said: Utterance) -> list[Number]:
    """Every number of an utterance, with "seven oh five" put together."""
    found: list[Number] | None = said.memo.get("numbers")
    if found is not None:
        return found
    found = said.memo["numbers"] = []
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
    return found


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

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        numbers = [n for n in read_numbers(said) if self.accepts(n)][:MOST_VALUES]
        if not numbers:
            return []
        kept = standing(numbers, said.marks)
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
class IntegerNearRecognizer(IntegerRecognizer):
    """The whole number nearest to one of some words; a word that follows it weighs more.

    When the question was about this value, a number alone is the answer.
    """

    kind: ClassVar[str] = "integer_near"
    positional: ClassVar[str | None] = "anchors"
    anchors: tuple[str, ...] = ()
    window: int = 3
    _phrases: Phrases[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "anchors", words_of(self.kind, "anchors", self.anchors))
        at_least_one(self.kind, "anchors", self.anchors)
        forms = ((anchor + ending, "") for anchor in self.anchors for ending in _ENDINGS)
        object.__setattr__(self, "_phrases", Phrases(forms))

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        found = super().read(said, context)
        if not found:
            return []
        anchors = [(found.first, found.last) for found in self._phrases.find(said.words)]
        near: list[tuple[float, Recognition]] = []
        for one in found:
            distance = min((self._distance(said, one, a) for a in anchors), default=None)
            if distance is not None and distance <= self.window + 0.5:
                near.append((distance, one))
        if near:
            near.sort(key=lambda pair: pair[0])
            return [one for _, one in near]
        return self._by_focus(found, context)

    def _by_focus(self, found: list[Recognition], context: Context) -> list[Recognition]:
        if not context.focus:
            return []
        for one in found:
            one.rule += ".asked"
            one.confidence *= 1.0 if len(found) == 1 else 0.6
        return found

    def _distance(self, said: Utterance, one: Recognition, anchor: tuple[int, int]) -> float:
        """Words between number and anchor; half a word more when the anchor comes first."""
        first = said.starts.index(one.span[0])
        last = said.ends.index(one.span[1]) + 1
        if anchor[0] >= last:
            return anchor[0] - last + self._separation(said, last, anchor[0])
        if anchor[1] <= first:
            return first - anchor[1] + 0.5 + self._separation(said, anchor[1], first)
        return 0

    def _separation(self, said: Utterance, start: int, end: int) -> int:
        """ "two pizzas and a salad": beyond "and" begins another thing."""
        apart = said.locale.numbers.conjunctions
        if any(word in apart for word in said.words[start:end]):
            return 2
        return 2 if any(said.breaks[start : end + 1]) else 0


@dataclass(frozen=True, kw_only=True)
class OrdinalRecognizer(Recognizer):
    """A place in a list: "the second one" is 2, "the last one" -1, "option three" 3."""

    kind: ClassVar[str] = "ordinal"

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        if not said.lexemes.mask & said.locale.place_classes:
            return []
        placed = [_Placed(match, self._value(match, said)) for match in said.matches("ordinal")]
        return [
            place.recognition(said, tuple(int(earlier.value) for earlier in replaced))
            for place, replaced in standing(placed, said.marks)
        ]

    def _value(self, match: Match, said: Utterance) -> int:
        if match.rule == "ordinal.last":
            first, last = match.tokens
            return -2 if "to" in said.words[first:last] else -1
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
            span=self.match.span,
            confidence=_HEDGED if said.marks.hedged() else 1.0,
            rule=self.match.rule,
            superseded=superseded,
            approximate=said.marks.approximate(self.first, self.last),
            bound=said.marks.bound(self.first),
        )
