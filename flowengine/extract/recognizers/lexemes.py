"""An utterance as grammar input: numbers collapsed, each lexeme coded as one character.

Every lexeme belongs to some classes (month, hour, "past", ...). Each combination of classes that
can occur has its own character, so that a grammar is a regular expression over characters and the
regular-expression engine of C does the matching.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flowengine.extract.recognizers.lazy import lazy
from flowengine.extract.recognizers.numbers import Number, NumberReader

if TYPE_CHECKING:
    from flowengine.extract.recognizers.text import Utterance

SHAPES = ("date", "clock", "ordinal", "number")
COMMA, STOP, OTHER = ",", ".", "_"
_PLAIN = (OTHER, 0)
ANY = "any"
"""The class of every word and number."""
_FIRST_CODE = 0xE000
_REMEMBERED = 3000

NUMBER_CLASSES = (
    "number", "integer", "count", "digits", "two", "hour", "minute", "minute5", "day",
    "monthnum", "hhmm", "dotted", "ordinal", "dayth", "nth", "nth1", "monthth", "oh", "tens",
    "fives", "cents", "digit1", "year4", "year2", "decade", "century", "century_th",
)  # fmt: skip


class Alphabet:
    """Class names as bits, and one character per combination of bits."""

    def __init__(self, words: Mapping[str, Iterable[str]]) -> None:
        """`words` maps a class to the words that belong to it."""
        self._bit: dict[str, int] = {}
        self.mask_of: dict[str, int] = {}
        self._code: dict[int, str] = {0: OTHER}
        self._number_bits: dict[Any, int] = {}
        for name in (*NUMBER_CLASSES, "clock", "date"):
            self._bit_for(name)
        for name, members in words.items():
            self._bit_for(name)
            for word in members:
                self.mask_of[word] = self.mask_of.get(word, 0) | self._bit_for(name)
        for mask in set(self.mask_of.values()):
            self.code(mask)
        for name in ("clock", "date"):
            self.code(self._bit[name])

    def _bit_for(self, name: str) -> int:
        return self._bit.setdefault(name, 1 << len(self._bit))

    def bits(self, names: Iterable[str]) -> int:
        bits = 0
        for name in names:
            bits |= self._bit.get(name, 0)  # a language need not have every class
        return bits

    def number_bits(self, number: Number, oh: bool = False) -> int:
        """The bits of a number's classes, remembered for small ones."""
        key = (number.value, number.raw, number.ordinal, number.approximate, number.simple, oh)
        found = self._number_bits.get(key)
        if found is None:
            found = self.bits(number_classes(number, oh))
            if number.value < _REMEMBERED and len(number.raw or "") <= 4:
                self._number_bits[key] = found
        return found

    def knows(self, name: str) -> bool:
        return name in self._bit or name == ANY

    def code(self, mask: int) -> str:
        """The character of a combination; new ones are made only while a locale is compiled."""
        return self._code.setdefault(mask, chr(_FIRST_CODE + len(self._code)))

    @lazy
    def plain(self) -> dict[str, tuple[str, int]]:
        """Each word's character and bits, once the locale is compiled."""
        return {word: (self._code[mask], mask) for word, mask in self.mask_of.items()}

    def code_or_other(self, mask: int, fallback: int) -> str:
        return self._code.get(mask) or self._code.get(fallback, OTHER)

    def charset(self, name: str) -> str:
        """All characters whose combination contains the class."""
        if name == ANY:
            return "".join(self._code.values())
        bit = self._bit[name]
        return "".join(code for mask, code in self._code.items() if mask & bit)


@dataclass(slots=True)
class Lexemes:
    """`code[k]` is lexeme k's character, `first[k]:last[k]` its tokens, `number[k]` its number."""

    code: str
    first: list[int] = field(default_factory=list[int])
    last: list[int] = field(default_factory=list[int])
    number: list[Number | None] = field(default_factory=lambda: list[Number | None]())
    mask: int = 0

    def numbers(self) -> list[Number]:
        return [number for number in self.number if number is not None]


def number_classes(number: Number, oh: bool = False) -> tuple[str, ...]:
    """The classes that a number's value and form put it in."""
    if number.ordinal:
        return tuple(_ordinal_classes(int(number.value), number))
    if number.raw is not None and not number.raw.isdecimal():
        return ("number", "dotted") if _is_dotted_time(number.raw) else ("number",)
    if number.value != int(number.value) or number.value < 0:
        return ("number",)
    return tuple(_integer_classes(int(number.value), number, oh))


def _ordinal_classes(value: int, number: Number) -> Iterable[str]:
    yield "ordinal"
    if 1 <= value <= 31:
        yield "dayth"
        if number.raw:
            yield "nth"
    if 1 <= value <= 9:
        yield "nth1"
    if 1 <= value <= 12:
        yield "monthth"
    if value in (18, 19, 20):
        yield "century_th"


def _integer_classes(value: int, number: Number, oh: bool) -> Iterable[str]:
    raw = number.raw or ""
    small = len(raw) <= 2
    two = (value < 100 and (number.simple or len(raw) == 2)) or oh
    belongs = {
        "number": not oh,
        "integer": True,
        "count": not (number.approximate or oh),
        "digits": number.raw is not None,
        "two": value == 2 and not number.approximate,
        "hour": value <= 24 and (number.simple or oh or len(raw) in (1, 2)),
        "minute": value < 60 and (two or value < 10),
        "minute5": value < 60 and value % 5 == 0 and (two or value < 10),
        "day": 1 <= value <= 31 and small,
        "monthnum": 1 <= value <= 12 and small,
        "hhmm": _is_hhmm(value, number.raw),
        "oh": oh,
        "digit1": 1 <= value <= 9 and len(raw) <= 1,
    }
    yield from (name for name, member in belongs.items() if member)
    yield from _year_classes(value, two and (value >= 10 or oh or len(raw) == 2))


def _year_classes(value: int, two_digits: bool) -> Iterable[str]:
    """Years, their halves, and what has two digits as they have: minutes and cents."""
    belongs = {
        "year4": 1850 <= value <= 2150,
        "decade": 1850 <= value <= 2150 and value % 10 == 0,
        "year2": two_digits,
        "cents": two_digits,
        "tens": two_digits and value < 60,
        "fives": two_digits and value < 60 and value % 5 == 0,
        "century": two_digits and value in (18, 19, 20),
    }
    return (name for name, member in belongs.items() if member)


def _is_hhmm(value: int, raw: str | None) -> bool:
    """ "930", "1915", "0900", and the spoken "eighteen hundred"."""
    if raw is not None and len(raw) not in (3, 4):
        return False
    if raw is None and (value < 100 or value % 100):
        return False
    return value // 100 <= 24 and value % 100 < 60 and value <= 2400


def _is_dotted_time(raw: str) -> bool:
    hour, _, minute = raw.partition(".")
    return hour.isdecimal() and minute.isdecimal() and len(minute) == 2 and int(minute) < 60


def lex(said: Utterance) -> Lexemes:
    """Codes an utterance; punctuation becomes a lexeme of its own so that rules may refuse it."""
    locale = said.locale
    alphabet, heads = locale.alphabet, locale.number_heads
    plain, words, shapes, breaks = alphabet.plain, said.words, said.shapes, said.breaks
    out = Lexemes("")
    codes, firsts, lasts, numbers = list[str](), out.first, out.last, out.number
    mask = i = 0
    for i_word, word in enumerate(words):
        if i_word < i:
            continue  # part of a number
        i = i_word + 1
        if breaks[i_word]:
            codes.append(COMMA if breaks[i_word] == "," else STOP)
            firsts.append(i_word)
            lasts.append(i_word)
            numbers.append(None)
        number, (code, bits) = None, plain.get(word, _PLAIN)
        if word in heads or shapes[i_word] != "word":
            number, code, bits = _special(said, i_word, alphabet)
            i = number.last if number else i
        codes.append(code)
        firsts.append(i_word)
        lasts.append(i)
        numbers.append(number)
        mask |= bits
    out.code, out.mask = "".join(codes), mask
    return out


def _special(said: Utterance, i: int, alphabet: Alphabet) -> tuple[Number | None, str, int]:
    """A number, "oh five", or a written clock or date, with its code and bits."""
    word, shape = said.words[i], said.shapes[i]
    own = alphabet.mask_of.get(word, 0)
    if shape in ("clock", "date"):
        own = alphabet.bits((shape,))
    elif number := _number(said, i):
        bits = alphabet.number_bits(number)
        own = own if number.last == i + 1 else 0
        return number, alphabet.code_or_other(bits | own, bits), bits | own
    elif number := _oh_unit(said, i):
        bits = alphabet.number_bits(number, oh=True)
        return number, alphabet.code_or_other(bits, bits), bits
    return None, alphabet.code_or_other(own, 0), own


def _number(said: Utterance, i: int) -> Number | None:
    locale, words, shapes = said.locale, said.words, said.shapes
    word = words[i]
    if shapes[i] not in ("number", "ordinal") and word not in locale.number_starters:
        return None
    following = words[i + 1] if i + 1 < len(words) else ""
    if word in locale.plain_numbers and following not in locale.number_parts:
        return (
            None
            if locale.is_pronoun(words, i)
            else Number(i, i + 1, locale.plain_numbers[word], simple=True)
        )
    if word in locale.numbers.articles and following not in locale.counted_by_article:
        return None  # most often "a" is just an article
    ordinal = locale.reader.ordinal(words, shapes, i)
    if ordinal or locale.is_pronoun(words, i):
        return ordinal
    number = locale.reader.cardinal(words, shapes, said.breaks, i)
    return number and (_large_ordinal(said, number) or number)


def _large_ordinal(said: Utterance, number: Number) -> Number | None:
    """ "one hundred | twenty fifth": an ordinal that completes a number in words."""
    last = number.last
    if number.value < 100 or number.raw or last == len(said.words) or said.breaks[last]:
        return None
    rest = said.locale.reader.ordinal(said.words, said.shapes, last)
    free = 100 if number.value % 100 == 0 else 10 if number.value % 10 == 0 else 0
    if rest is None or rest.raw or rest.value >= free:
        return None
    return Number(number.first, rest.last, number.value + rest.value, ordinal=True)


def _oh_unit(said: Utterance, i: int) -> Number | None:
    """ "oh five": a digit with its zero, as in a time, a year or a date."""
    words = said.words
    if words[i] not in said.locale.oh_words or i + 1 == len(words) or said.breaks[i + 1]:
        return None
    unit = said.locale.numbers.units.get(words[i + 1], 0)
    return Number(i, i + 2, unit, raw=f"0{unit}") if unit else None


def register_numbers(alphabet: Alphabet, reader: NumberReader, words: Iterable[str]) -> None:
    """Gives every combination of classes that a number can have its character."""
    for form, oh in _all_forms():
        alphabet.code(alphabet.bits(number_classes(form, oh)))
    for word in words:
        shapes = ["number" if word.isdecimal() else "word"]
        number = reader.ordinal([word], shapes, 0) or reader.cardinal([word], shapes, [""], 0)
        if number and word in alphabet.mask_of:
            alphabet.code(alphabet.bits(number_classes(number)) | alphabet.mask_of[word])


def _all_forms() -> Iterable[tuple[Number, bool]]:
    """One number of every value and form that the classes tell apart."""
    for value in (*range(130), *range(200, 2500), 10**5):
        yield Number(0, 1, value), False
        yield Number(0, 1, value, approximate=True), False
        yield Number(0, 1, value, ordinal=True), False
        yield Number(0, 1, value, ordinal=True, raw=str(value)), False
        if value < 100:
            yield Number(0, 1, value, simple=True), False
        for zeros in ("", "0", "00", "000"):
            yield Number(0, 1, value, raw=f"{zeros}{value}"), False
    for unit in range(1, 10):
        yield Number(0, 2, unit, raw=f"0{unit}"), True
    for raw in ("12.30", "1.5"):
        yield Number(0, 1, 12, raw=raw), False
