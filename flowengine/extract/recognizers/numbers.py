"""Cardinal and ordinal numbers from words and digits, one at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from flowengine.extract.recognizers.lexicon import NumberWords

Exact: TypeAlias = int | Decimal
_TEENS = {13: 30, 14: 40, 15: 50, 16: 60, 17: 70, 18: 80, 19: 90}
CONFUSED = _TEENS | {tens: teen for teen, tens in _TEENS.items()}
"""Fifteen and fifty: what speech recognition mixes up is offered as an alternative."""

_LONGEST = 24
"""Words of one number at most."""
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?")


@dataclass(slots=True)
class Number:
    """A number said at tokens `first` up to, not including, `last`.

    `raw` holds the digits as written, None for words; `ordinal` is true for "third" and "3rd".
    `approximate` marks "a couple"; `simple` a spoken number below one hundred.
    """

    first: int
    last: int
    value: Exact
    raw: str | None = None
    ordinal: bool = False
    approximate: bool = False
    simple: bool = False


def plain(value: Exact) -> int | float:
    """A JSON number: int where it is whole, float where it is not."""
    if isinstance(value, int):
        return value
    return int(value) if value == int(value) else float(value)


def written(raw: str, decimal_mark: str) -> Exact | None:
    """The value of digits with separators; None where they cannot be one number."""
    if raw.isdecimal():
        return int(raw)
    if _GROUPED.fullmatch(raw) and not _is_decimal(raw, decimal_mark):
        mark = "." if raw.find(",") < raw.find(".") and "," in raw else ","
        if "." not in raw or "," not in raw:
            mark = "." if "," in raw else ","
        grouping = "," if mark == "." else "."
        return Decimal(raw.replace(grouping, "").replace(mark, "."))
    parts = re.split(r"[.,]", raw)
    if len(parts) == 2 and (raw[len(parts[0])] == decimal_mark or len(parts[1]) <= 2):
        return Decimal(".".join(parts))
    return None


def _is_decimal(raw: str, decimal_mark: str) -> bool:
    """ "1.500" is a decimal where the mark is a point, a thousand and a half where it groups."""
    return raw.count(decimal_mark) == 1 and not ({",", "."} <= set(raw))


class NumberReader:
    """Reads one number at a token; the words come from the locale."""

    def __init__(self, lexicon: NumberWords) -> None:
        self.lexicon = lexicon

    def ordinal(self, words: Sequence[str], shapes: Sequence[str], i: int) -> Number | None:
        if shapes[i] == "ordinal":
            digits = re.sub(r"\D", "", words[i])
            return Number(i, i + 1, int(digits), raw=digits, ordinal=True)
        lex = self.lexicon
        word = words[i]
        if word in lex.ordinals:
            return Number(i, i + 1, lex.ordinals[word], ordinal=True, simple=True)
        tens = lex.tens.get(word)
        if tens is not None and i + 1 < len(words):
            unit = lex.ordinals.get(words[i + 1])
            if unit is not None and unit < 10:
                return Number(i, i + 2, tens + unit, ordinal=True, simple=True)
        return None

    def cardinal(
        self, words: Sequence[str], shapes: Sequence[str], breaks: Sequence[str], i: int
    ) -> Number | None:
        """The longest number that starts at token `i`."""
        ahead = breaks[i + 1 : i + _LONGEST]
        length = len(ahead)
        if any(ahead):  # up to the next comma or full stop
            length = next(at for at, stop in enumerate(ahead) if stop)
        end = i + 1 + length
        return _Reading(self.lexicon, words, shapes, end).number(i)


class _Reading:
    """One attempt at a number, over `words` up to `end`."""

    __slots__ = ("end", "lex", "shapes", "words")

    def __init__(
        self, lexicon: NumberWords, words: Sequence[str], shapes: Sequence[str], end: int
    ) -> None:
        self.lex = lexicon
        self.words = words
        self.shapes = shapes
        self.end = end

    def word(self, i: int) -> str:
        return self.words[i] if i < self.end else ""

    def number(self, i: int) -> Number | None:
        lex = self.lex
        word = self.words[i]
        if word in lex.minus or word == "-":
            inner = self.number(i + 1) if i + 1 < self.end else None
            if inner is None or inner.value < 0:
                return None
            return Number(i, inner.last, -inner.value, raw=None)
        if self.shapes[i] == "number":
            return self._from_digits(i)
        return self._fraction_of_scale(i) or self._spoken(i)

    def _from_digits(self, i: int) -> Number | None:
        raw = self.words[i]
        value = written(raw, self.lex.decimal_mark)
        if value is None:
            return Number(i, i + 1, int(re.sub(r"\D", "", raw)), raw=raw)
        number = Number(i, i + 1, value, raw=raw)
        part = self._and_a_part(i + 1)
        if part:
            number = Number(i, part[0], value + part[1])
        scaled = self._scaled(number)
        return scaled or number

    def _scaled(self, number: Number) -> Number | None:
        """ "2.5 million", "20 thousand five hundred", "5 hundred"."""
        word = self.word(number.last)
        scale = self.lex.scales.get(word) or self.lex.hundreds.get(word)
        if scale is None:
            return None
        total = number.value * scale
        return self._add_smaller(number.first, number.last + 1, total, scale)

    def _add_smaller(self, first: int, i: int, total: Exact, scale: int) -> Number:
        """Adds the groups below the last scale: "six thousand | five hundred | and ten"."""
        while True:
            start = i + 1 if self.word(i) in self.lex.conjunctions else i
            group = self._group(start)
            if group is None or group.raw is not None or group.approximate:
                break
            value, after = group.value, group.last
            factor = self.lex.scales.get(self.word(after), 1)
            if factor > 1:
                after += 1
            if value * factor >= scale or (value == 0):
                break
            total, i, scale = total + value * factor, after, factor
            if factor == 1:
                break
        return self._decimals(Number(first, i, total)) or Number(first, i, total)

    def _spoken(self, i: int) -> Number | None:
        lex = self.lex
        if self.word(i) in lex.points:
            return self._decimals(Number(i, i, 0))
        group = self._group(i)
        if group is None:
            return None
        part = self._and_a_part(group.last)
        if part:
            one = lex.dozens.get(self.word(group.last - 1), 1)  # half of a dozen is six
            group = Number(i, part[0], group.value + one * part[1])
        else:
            group = self._decimals(group) or group
        scale = lex.scales.get(self.word(group.last))
        if scale is None:
            return group
        part = self._and_a_part(group.last + 1)
        if part and self.word(part[0]) not in lex.scales:
            return Number(
                i, part[0], group.value * scale + scale * part[1]
            )  # "a million and a half"
        return self._add_smaller(i, group.last + 1, group.value * scale, scale)

    def _group(self, i: int) -> Number | None:
        """A number below one thousand, or a hundred-counted one such as "fifteen hundred"."""
        lex = self.lex
        word = self.word(i)
        if word in lex.articles:
            return self._with_article(i)
        if word in lex.hundred_words:
            return self._after_hundreds(i, i + 1, lex.hundred_words[word])
        if word in lex.hundreds:
            return self._after_hundreds(i, i + 1, lex.hundreds[word])
        if word in lex.scales and word not in lex.scales_need_count:
            return Number(i, i, 1)
        small = self._below_hundred(i)
        if small is None:
            return None
        following = self.word(small.last)
        if following in lex.hundreds:
            total = int(small.value) * lex.hundreds[following]
            return self._after_hundreds(i, small.last + 1, total)
        if following in lex.dozens:
            return Number(i, small.last + 1, int(small.value) * lex.dozens[following])
        return small

    def _with_article(self, i: int) -> Number | None:
        """ "a hundred", "a dozen", "a couple", "a couple hundred"."""
        lex = self.lex
        word = self.word(i + 1)
        if word in lex.hundreds:
            return self._after_hundreds(i, i + 2, lex.hundreds[word])
        if word in lex.scales:
            return Number(i, i + 1, 1)
        if word in lex.dozens:
            return Number(i, i + 2, lex.dozens[word])
        if word in lex.pairs:
            return self._pair(i, i + 1)
        return None

    def _pair(self, first: int, i: int) -> Number:
        value = self.lex.pairs[self.word(i)]
        after = self.word(i + 1)
        if after in self.lex.hundreds:
            return Number(first, i + 2, value * self.lex.hundreds[after])
        return Number(first, i + 1, value, approximate=True)

    def _after_hundreds(self, first: int, i: int, total: int) -> Number:
        start = i + 1 if self.word(i) in self.lex.conjunctions else i
        rest = self._below_hundred(start)
        if rest and rest.value > 0 and self.word(rest.last) not in self.lex.hundreds:
            return Number(first, rest.last, total + rest.value)
        return Number(first, i, total)

    def _below_hundred(self, i: int) -> Number | None:
        lex = self.lex
        word = self.word(i)
        if word in lex.tens:
            value = lex.tens[word]
            link = i + 2 if self.word(i + 1) in lex.tens_links else i + 1
            unit = lex.units.get(self.word(link), 0)
            if unit:
                return Number(i, link + 1, value + unit, simple=True)
            return Number(i, i + 1, value, simple=True)
        value = lex.units.get(word)
        if value is None:
            value = lex.teens.get(word)
        if value is not None:
            return Number(i, i + 1, value, simple=True)
        if word in lex.pairs and self.word(i - 1 if i else i) not in lex.articles:
            return self._pair(i, i) if i + 1 < self.end else None
        return None

    def _and_a_part(self, i: int) -> tuple[int, Decimal] | None:
        """The token after "and a half" or "and one quarter", with what it adds; or None."""
        lex = self.lex
        if self.word(i) not in lex.conjunctions:
            return None
        i += 1
        if self.word(i) in lex.articles or lex.units.get(self.word(i)) == 1:
            i += 1
        part = lex.parts.get(self.word(i))
        return (i + 1, part) if part else None

    def _decimals(self, whole: Number) -> Number | None:
        """ "three point one four", "eighty five point thirty one", "point five"."""
        lex = self.lex
        i = whole.last
        if self.word(i) not in lex.points:
            return None
        i += 1
        digits = ""
        while i < self.end and len(digits) < 9:
            word = self.words[i]
            if word in lex.zero_letters:
                digits, i = digits + "0", i + 1
                continue
            small = self._below_hundred(i)
            if self.shapes[i] == "number" and word.isdecimal():
                small = Number(i, i + 1, int(word), raw=word)
            if small is None or small.approximate or (digits and small.value > 9):
                break
            digits, i = digits + (small.raw or str(small.value)), small.last
            if small.value > 9:
                break
        if not digits:
            return None
        number = Number(whole.first, i, whole.value + Decimal(f"0.{digits}"))
        scale = lex.scales.get(self.word(i))
        return Number(whole.first, i + 1, number.value * scale) if scale else number

    def _fraction_of_scale(self, i: int) -> Number | None:
        """ "half a million", "a quarter million", "half a dozen"."""
        lex = self.lex
        start = i + 1 if self.word(i) in lex.articles else i
        fraction = lex.fractions.get(self.word(start))
        if fraction is None:
            return None
        after = start + 1
        if self.word(after) in lex.of_words:
            after += 1
        if self.word(after) in lex.articles:
            after += 1
        word = self.word(after)
        scale = lex.scales.get(word) or lex.hundreds.get(word) or lex.dozens.get(word)
        return Number(i, after + 1, fraction * scale) if scale else None
