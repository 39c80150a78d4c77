"""integer_near: the whole number that belongs to some words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from flowengine.extract.recognizers.base import Context, Recognition
from flowengine.extract.recognizers.marks import standing
from flowengine.extract.recognizers.number import IntegerRecognizer
from flowengine.extract.recognizers.numbers import Number
from flowengine.extract.recognizers.options import at_least_one, words_of
from flowengine.extract.recognizers.phrases import Found, Phrases
from flowengine.extract.recognizers.text import Utterance

_ENDINGS = ("", "s", "es", "'s", "er", "ers")
"""An anchor counts in the plural, in the possessive and as in "a ten-seater"."""
_LONGEST_SUBJECT = 8
"""Words between a name and "is ten"."""
_TOLD_BY = ("month", "mer", "clock", "date")
"""Parts that make a number a date or a time for certain."""


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
        forms = ((anchor + ending, anchor) for anchor in self.anchors for ending in _ENDINGS)
        object.__setattr__(self, "_phrases", Phrases(forms))

    def numbers(self, said: Utterance) -> list[Number]:
        found = super().numbers(said)
        if not found or not said.lexemes.mask & said.locale.told_classes:
            return found
        dated = _dated_tokens(said)
        return [one for one in found if one.first not in dated]

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        numbers = self.numbers(said)
        if not numbers:
            return []
        kept = standing(numbers, said.marks)
        found = self.recognitions(kept, said)
        anchors = self._phrases.find(said.words)
        near: list[tuple[float, Recognition]] = []
        for one, (number, replaced) in zip(found, kept, strict=True):
            places = (number, *replaced)  # "from four people to six": six people
            away = min((self._distance(said, n, a) for n in places for a in anchors), default=99)
            if away <= self.window + 0.5:
                near.append((away, one))
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

    def _distance(self, said: Utterance, number: Number, anchor: Found[str]) -> float:
        """Words between number and anchor; half a word more when the anchor comes first."""
        first, last = number.first, number.last
        if anchor.first >= last:
            if said.locale.function_words.issuperset(anchor.label.split()):
                return 2 * _LONGEST_SUBJECT  # "for" leads to a number, it never names one
            return anchor.first - last + self._separation(said, last, anchor.first)
        if anchor.last <= first:
            if _is_subject(said, anchor.last, first):
                return 0.5
            return first - anchor.last + 0.5 + self._separation(said, anchor.last, first)
        return 0

    def _separation(self, said: Utterance, start: int, end: int) -> int:
        """ "two pizzas and a salad": beyond "and" begins another thing."""
        apart = said.locale.numbers.conjunctions
        if any(word in apart for word in said.words[start:end]):
            return 2
        return 2 if any(said.breaks[start : end + 1]) else 0


def _dated_tokens(said: Utterance) -> set[int]:
    """Tokens of "march third" and "four thirty pm", which count nothing."""
    return {
        token
        for match in said.matches("datetime", "date_lead")
        if any(name in match for name in _TOLD_BY)
        for token in range(*match.tokens)
    }


def _is_subject(said: Utterance, start: int, first: int) -> bool:
    """ "the number of people for the table is | ten": nothing else is named before "is"."""
    words, linking = said.words[start:first], said.locale.linking
    if not words or words[-1] not in linking["copulas"] or len(words) > _LONGEST_SUBJECT:
        return False
    if "." in said.breaks[start : first + 1] or any(
        start <= number.first < first for number in said.lexemes.numbers()
    ):
        return False
    return not any(
        word in linking["determiners"] and (at == 0 or words[at - 1] not in linking["prepositions"])
        for at, word in enumerate(words)
    )
