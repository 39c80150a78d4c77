"""An utterance as grammar input: numbers collapsed, each lexeme coded as one character.

Every lexeme belongs to some classes (month, hour, "past", ...). Each combination of classes that
can occur has its own character, so that a grammar is a regular expression over characters and the
regular-expression engine of C does the matching.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flowengine.extract.recognizers.numbers import Number

if TYPE_CHECKING:
    from flowengine.extract.recognizers.text import Utterance

SHAPES = ("date", "clock", "ordinal", "number")
COMMA, STOP, OTHER = ",", ".", "_"
_FIRST_CODE = 0xE000

NUMBER_CLASSES = (
    "number", "integer", "count", "hour", "minute", "day", "monthnum", "year4", "year2",
    "century", "hhmm", "dotted", "ordinal", "dayth", "nth", "oh", "decade", "digit1", "nth1", "century_th", "tens", "fives", "cents", "digits", "two",
)  # fmt: skip


class Alphabet:
    """Class names as bits, and one character per combination of bits."""

    def __init__(self, words: Mapping[str, Iterable[str]]) -> None:
        """`words` maps a class to the words that belong to it."""
        self._bit: dict[str, int] = {}
        self.mask_of: dict[str, int] = {}
        self._code: dict[int, str] = {0: OTHER}
        for name in (*NUMBER_CLASSES, "clock", "date"):
            self._bit_for(name)
        for name, members in words.items():
            for word in members:
                self.mask_of[word] = self.mask_of.get(word, 0) | self._bit_for(name)
        for mask in set(self.mask_of.values()):
            self.code(mask)
        for name in ("clock", "date"):
            self.code(self._bit[name])

    def _bit_for(self, name: str) -> int:
        return self._bit.setdefault(name, 1 << len(self._bit))

    def bits(self, names: Iterable[str]) -> int:
        return sum(self._bit[name] for name in names)

    def knows(self, name: str) -> bool:
        return name in self._bit

    def code(self, mask: int) -> str:
        """The character of a combination; new ones are made only while a locale is compiled."""
        return self._code.setdefault(mask, chr(_FIRST_CODE + len(self._code)))

    def code_or_other(self, mask: int, fallback: int) -> str:
        return self._code.get(mask) or self._code.get(fallback, OTHER)

    def charset(self, name: str) -> str:
        """All characters whose combination contains the class."""
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
    if value in (18, 19, 20):
        yield "century_th"


def _integer_classes(value: int, number: Number, oh: bool) -> Iterable[str]:
    two = (value < 100 and (number.simple or len(number.raw or "") == 2)) or oh
    yield from ("integer",) if oh else ("number", "integer")
    if not number.approximate and not oh:
        yield "count"
    if value <= 24 and (number.simple or oh or len(number.raw or "") in (1, 2)):
        yield "hour"
    if value < 60 and (two or value < 10 or oh):
        yield "minute"
    if 1 <= value <= 31 and len(number.raw or "") <= 2:
        yield "day"
    if 1 <= value <= 12 and len(number.raw or "") <= 2:
        yield "monthnum"
    if 1850 <= value <= 2150:
        yield "year4"
        if value % 10 == 0:
            yield "decade"
    if 1 <= value <= 9 and len(number.raw or "") <= 1:
        yield "digit1"
    if two and (value >= 10 or oh or len(number.raw or "") == 2):
        yield "year2"
        if value < 60:
            yield "tens"
            if value % 5 == 0:
                yield "fives"
        yield "cents"
    if value in (18, 19, 20) and two:
        yield "century"
    if oh:
        yield "oh"
    if value == 2 and not number.approximate:
        yield "two"
    if number.raw is not None:
        yield "digits"
    if _is_hhmm(value, number.raw):
        yield "hhmm"


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
    alphabet, reader, oh_words = locale.alphabet, locale.reader, locale.numbers.zero_letters
    words, shapes, breaks = said.words, said.shapes, said.breaks
    mask_of, starters = alphabet.mask_of, locale.number_starters
    out = Lexemes("")
    codes: list[str] = []
    i, n = 0, len(words)
    while i < n:
        if breaks[i]:
            _append(out, codes, COMMA if breaks[i] == "," else STOP, i, i, None)
        word, shape = words[i], shapes[i]
        number = None
        if shape == "number" or shape == "ordinal" or word in starters:
            number = reader.ordinal(words, shapes, i) or (
                None if locale.is_pronoun(words, i) else reader.cardinal(words, shapes, breaks, i)
            )
        if number is not None:
            own = mask_of.get(word, 0) if number.last == i + 1 else 0
            bits = alphabet.bits(number_classes(number))
            code = alphabet.code_or_other(bits | own, bits)
            _append(out, codes, code, i, number.last, number)
            out.mask |= bits | own
            i = number.last
            continue
        if word in oh_words and i + 1 < n and not breaks[i + 1]:
            unit = locale.numbers.units.get(words[i + 1], 0)
            if unit:
                number = Number(i, i + 2, unit, raw=f"0{unit}")
                bits = alphabet.bits(number_classes(number, oh=True))
                _append(out, codes, alphabet.code_or_other(bits, bits), i, i + 2, number)
                out.mask |= bits
                i += 2
                continue
        mask = alphabet.bits((shape,)) if shape in ("clock", "date") else mask_of.get(word, 0)
        _append(out, codes, alphabet.code_or_other(mask, 0), i, i + 1, None)
        out.mask |= mask
        i += 1
    out.code = "".join(codes)
    return out


def _append(
    out: Lexemes, codes: list[str], code: str, first: int, last: int, number: Number | None
) -> None:
    codes.append(code)
    out.first.append(first)
    out.last.append(last)
    out.number.append(number)


def register_numbers(alphabet: Alphabet, number_words: Iterable[str]) -> None:
    """Gives every combination of number classes its character before grammars are compiled."""
    masks = {alphabet.bits(number_classes(form, oh)) for form, oh in _all_forms()}
    own = {alphabet.mask_of[word] for word in number_words if word in alphabet.mask_of}
    for mask in masks:
        alphabet.code(mask)
        for bits in own:
            alphabet.code(mask | bits)


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
