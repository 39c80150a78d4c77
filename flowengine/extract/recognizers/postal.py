"""postal_code: US, Canadian and British codes, spelled or written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer, RecognizerError
from flowengine.extract.recognizers.locale import PostalWords
from flowengine.extract.recognizers.options import words_of
from flowengine.extract.recognizers.spelling import Speller
from flowengine.extract.recognizers.text import Utterance

_SHAPES: Mapping[str, tuple[str, ...]] = {
    "gb": ("LD DLL", "LDD DLL", "LLD DLL", "LLDD DLL", "LDL DLL", "LLDL DLL"),
    "ca": ("LDL DLD",),
    "us": ("DDDDD", "DDDDD-DDDD"),
}
"""Letters and digits of each country's codes."""
_OTHER_TYPE = {
    "O": "0", "0": "O", "8": "A", "A": "8", "1": "I", "I": "1", "V": "5", "5": "S", "S": "5",
    "B": "8", "Z": "2", "2": "Q", "4": "F", "3": "E", "E": "3", "9": "N", "N": "9",
}  # fmt: skip
"""What a character is taken for where the other type must stand."""
_NO_INWARD = frozenset("CIKMOV")
"""Letters that no British code ends in."""
_SURE, _SOUND, _SWAPPED, _LEFT_OVER, _UNLIKELY, _SKIPPED = 0.0, 0.15, 0.6, 0.5, 0.5, 0.9
_SMALL_WORD, _REPAIRED, _NO_AREA = 0.4, 0.4, 0.8
_WORST = 2.4
_SHORTEST = 5
_WIDEST = 24
"""Tokens a spelled code may take up."""


@dataclass(slots=True)
class _Reading:
    """What a token may spell, at what cost; the token after it."""

    chars: str
    cost: float
    last: int


@dataclass(slots=True)
class _Found:
    code: str
    cost: float
    first: int
    last: int
    country: str


@dataclass(frozen=True, kw_only=True)
class PostalCodeRecognizer(Recognizer):
    """A postal code in its country's form: "94110", "SW1A 1AA", "K1A 0B1".

    `country` is one or a list of us, ca, gb; by default those usual in the locale.
    """

    kind: ClassVar[str] = "postal_code"
    country: Any = None

    def __post_init__(self) -> None:
        if self.country is None:
            return
        countries = words_of(self.kind, "country", self.country)
        for country in countries:
            if country not in _SHAPES:
                raise RecognizerError(
                    f"postal_code: country is one of {', '.join(_SHAPES)}, not {country!r}."
                )
        object.__setattr__(self, "country", countries)

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        countries = self.country or said.locale.postal_countries
        lattice = _lattice(said)
        found = [
            code
            for country in countries
            for shape in _SHAPES[country]
            for code in _find(shape, country, lattice, said, bool(context.focus))
        ]
        best: dict[str, _Found] = {}
        for code in found:
            if code.code not in best or code.cost < best[code.code].cost:
                best[code.code] = code
        ranked = sorted(best.values(), key=lambda code: (code.cost, -len(code.code)))
        if not ranked:
            return []
        first = ranked[0]
        others = tuple(code.code for code in ranked[1:4])
        return [_recognition(first, others, said)]


def _recognition(found: _Found, others: tuple[str, ...], said: Utterance) -> Recognition:
    return Recognition(
        value=found.code,
        text=found.code,
        span=said.span(found.first, found.last),
        confidence=round(max(0.3, 1.0 - found.cost / 3), 3),
        rule=f"postal_code.{found.country}",
        alternatives=others,
        ambiguous=bool(others) and found.cost > 0,
    )


def _lattice(said: Utterance) -> list[list[_Reading]]:
    """For each token what it may spell; a filler spells nothing at no cost."""
    speller = said.locale.speller
    return [list(_readings(said, i, speller)) for i in range(len(said))]


def _readings(said: Utterance, i: int, speller: Speller) -> Iterator[_Reading]:
    words, word = said.words, said.words[i]
    multi = speller.multi.at(words, i)
    if multi:
        yield _Reading(multi.label, _SURE, multi.last)
    letter = speller.sure_letter(said, i)
    if letter:
        last = speller.after_example(said, i + 1, letter)
        yield _Reading(letter, _SURE, last)
    elif said.shapes[i] in ("number", "date", "clock", "ordinal"):
        yield _Reading("".join(c for c in word if c.isdecimal()), _SURE, i + 1)
    elif word.isalpha() and word.isascii() and _looks_spelled(said, i):
        known = word in speller.sounds or word in said.locale.fillers
        yield _Reading(word.upper(), _SMALL_WORD if known else _SOUND, i + 1)
    digits = speller.digits.get(word) or speller.homophones.get(word)
    if digits:
        yield _Reading(digits, _SURE if word in speller.digits else _SOUND, i + 1)
    for table in (speller.numbers.teens, speller.numbers.tens):
        if word in table:
            yield _Reading(str(table[word]), _SOUND, i + 1)
    if word in speller.repeats and i + 1 < len(words):
        repeated = speller.sure_letter(said, i + 1) or speller.digits.get(words[i + 1], words[i + 1])
        if len(repeated) == 1:
            yield _Reading(repeated.upper() * speller.repeats[word], _SURE, i + 2)
    if word in speller.zero_letters:
        yield _Reading("0", _SURE, i + 1)
    if word in speller.sounds:
        sound = speller.sounds[word]
        yield _Reading(sound, _SOUND, speller.after_example(said, i + 1, sound))
    skipped = speller.skip.at(words, i)
    if skipped or word in speller.dash:
        yield _Reading("", _SURE, skipped.last if skipped else i + 1)
    else:
        yield _Reading("", _SMALL_WORD if word in speller.sounds or word == "a" else _SKIPPED, i + 1)


def _looks_spelled(said: Utterance, i: int) -> bool:
    """Short words in capitals, or stuck to digits, are letters in a row: "NGO", "6sq"."""
    original = said.slice(i, i + 1)
    if len(original) > 4 or len(original) == 1:
        return False
    glued = i > 0 and said.ends[i - 1] == said.starts[i] and said.shapes[i - 1] == "number"
    return original.isupper() or len(original) == 2 or glued


def _find(
    shape: str, country: str, lattice: Sequence[list[_Reading]], said: Utterance, asked: bool
) -> Iterator[_Found]:
    types = shape.replace(" ", "").replace("-", "")
    for start in range(len(lattice)):
        if not any(reading.chars for reading in lattice[start]) or not _ahead(lattice, start):
            continue
        best = _walk(types, country, lattice, start, min(len(lattice), start + _WIDEST))
        if best is None:
            continue
        chars, cost, last = best
        if country == "gb":
            chars, repair = _repaired(chars, len(shape.partition(" ")[0]), said.locale.postal)
            cost += repair
        cost += _left_over(lattice, start, last, said, asked)
        if cost <= _WORST and (asked or cost <= _WORST / 2):
            yield _Found(_formatted(chars, shape), round(cost, 3), start, last, country)


def _ahead(lattice: Sequence[list[_Reading]], start: int) -> bool:
    """Whether enough characters follow for the shortest code."""
    chars = 0
    for readings in lattice[start : start + _WIDEST]:
        chars += max(len(reading.chars) for reading in readings)
        if chars >= _SHORTEST:
            return True
    return False


def _repaired(chars: str, outward: int, postal: PostalWords) -> tuple[str, float]:
    """An area that does not exist is taken for the one it sounds like."""
    letters = 2 if chars[1].isalpha() else 1
    area, rest = chars[:letters], chars[letters:]
    cost = 0.0
    if area not in postal.gb_areas:
        near = [
            area[:place] + other + area[place + 1 :]
            for place in range(letters)
            for other in postal.confused.get(area[place], "")
        ]
        known = [candidate for candidate in near if candidate in postal.gb_areas]
        if not known:
            return chars, _NO_AREA
        area, cost = known[0], _REPAIRED
    inward = rest[outward - letters :]
    for char in inward[1:]:
        likely = [other for other in postal.confused.get(char, "") if other not in _NO_INWARD]
        if char in _NO_INWARD and likely:
            inward = inward[0] + inward[1:].replace(char, likely[0])
    return area + rest[: outward - letters] + inward, cost


def _walk(
    types: str, country: str, lattice: Sequence[list[_Reading]], start: int, limit: int
) -> tuple[str, float, int] | None:
    """The cheapest way to spell the types from a token on; a state is (token, characters)."""
    states: dict[tuple[int, int], tuple[float, str]] = {(start, 0): (0.0, "")}
    best: tuple[str, float, int] | None = None
    for at in range(start, limit):
        for filled in range(len(types)):
            state = states.get((at, filled))
            if state is None:
                continue
            for reading in lattice[at]:
                fitted = _fit(reading, types, filled, country)
                if fitted is None:
                    continue
                cost, chars = state[0] + fitted[0], state[1] + fitted[1]
                end = filled + len(reading.chars)
                if end == len(types):
                    if best is None or cost < best[1]:
                        best = (chars, cost, reading.last)
                elif cost < states.get((reading.last, end), (9.0, ""))[0]:
                    states[reading.last, end] = (cost, chars)
    return best


def _fit(reading: _Reading, types: str, filled: int, country: str) -> tuple[float, str] | None:
    """A reading's characters in the places that follow, swapped where the type is the other."""
    if filled + len(reading.chars) > len(types):
        return None
    cost, chars = reading.cost, ""
    for offset, char in enumerate(reading.chars):
        place = filled + offset
        if char.isdecimal() != (types[place] == "D"):
            swapped = _OTHER_TYPE.get(char)
            if swapped is None or country == "us":
                return None
            cost += 0.0 if char in "O0" else _SWAPPED
            char = swapped
        if country == "gb" and place >= len(types) - 2 and char in _NO_INWARD:
            cost += _UNLIKELY
        chars += char
    return cost, chars


def _left_over(
    lattice: Sequence[list[_Reading]], first: int, last: int, said: Utterance, asked: bool
) -> float:
    """Characters spelled right before or after that the code leaves out speak against it."""
    cost = 0.0
    if asked and first == 1 and said.words[0] in said.locale.speller.sounds:
        cost += _SOUND
    for at in (first - 1, first - 2, last, last + 1):
        if 0 <= at < len(lattice) and not (first <= at < last):
            sure = [r for r in lattice[at] if r.chars and r.cost == _SURE]
            if sure and not _apart(said, at, first, last):
                cost += _LEFT_OVER
    return cost


def _apart(said: Utterance, at: int, first: int, last: int) -> bool:
    return any(said.breaks[i] for i in range(min(at, last - 1) + 1, max(at, first) + 1))


def _formatted(chars: str, shape: str) -> str:
    out = iter(chars)
    return "".join(mark if mark in " -" else next(out) for mark in shape)
