"""postal_code: US, Canadian and British codes, spelled or written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer, RecognizerError
from flowengine.extract.recognizers.lattice import (
    SMALL_WORD,
    SOUND,
    SURE,
    Reading,
    is_glued,
    lattice_of,
)
from flowengine.extract.recognizers.lexicon import PostalWords
from flowengine.extract.recognizers.options import words_of
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
_SWAPPED, _LEFT_OVER, _UNLIKELY, _SKIPPED = 0.6, 0.5, 0.5, 0.9
_REPAIRED, _NO_AREA = 0.4, 0.8
_WORST = 2.4
_NO_STATE = (9.0, "", 0)
_SHORTEST, _FEWEST_SURE, _MOST_REGIONS = 5, 2, 3
_WIDEST = 24
"""Tokens a spelled code may take up."""


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
        asked = bool(context.focus)
        if not asked and not _may_hold_code(said):
            return []
        lattice = lattice_of(said)
        found = [
            code
            for region in _regions(lattice, asked)
            for country in countries
            for shape in _SHAPES[country]
            for code in _find(shape, country, lattice, region, said, asked)
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


def _may_hold_code(said: Utterance) -> bool:
    """Five digits in a row, or letters for certain among digits; cheap, for every turn."""
    speller = said.locale.speller
    if not said.vocabulary & speller.letter_signs and "number" not in said.shapes:
        return any(len(run.chars) in (5, 9) for run in said.digit_runs)
    letters = spelled = 0
    for i, word in enumerate(said.words):
        if word in speller.sure_letters:
            letters += 1
        elif word == "a" or word in speller.digits or said.shapes[i] == "number":
            spelled += 1
        elif len(word) < 4 and is_glued(said, i):
            letters += len(word)
    return (
        letters >= _FEWEST_SURE
        or (letters > 0 and letters + spelled >= _SHORTEST)
        or any(len(run.chars) in (5, 9) for run in said.digit_runs)
    )


def _regions(lattice: Sequence[list[Reading]], asked: bool) -> list[range]:
    """Stretches of tokens that may spell a code: enough characters, two of them for certain.

    In an answer to the question a stretch may hold a word that spells nothing.
    """
    found: list[range] = []
    start, gap, covered = 0, 0, 0
    allowed = 1 if asked else 0
    for at in range(len(lattice) + 1):
        if at < len(lattice) and (lattice[at] or at < covered):
            covered = max([covered, *(reading.last for reading in lattice[at])])
            gap = 0
            continue
        gap += 1
        if at < len(lattice) and gap <= allowed and at > start:
            continue
        region = range(start, at)
        too_long = len(region) > 2 * _WIDEST and not asked
        if not too_long and _is_promising(lattice, region):
            found.append(region[-_WIDEST:])
        start, gap = at + 1, 0
    return found[-_MOST_REGIONS:]


def _is_promising(lattice: Sequence[list[Reading]], region: range) -> bool:
    chars = sure = digits = 0
    for at in region:
        for reading in lattice[at][:1]:
            chars += max(len(other.chars) for other in lattice[at])
            sure += len(reading.chars) if reading.cost == SURE else 0
            digits += any(char.isdecimal() for other in lattice[at] for char in other.chars)
    return chars >= _SHORTEST and sure >= _FEWEST_SURE and digits > 0


def _find(
    shape: str,
    country: str,
    lattice: Sequence[list[Reading]],
    region: range,
    said: Utterance,
    asked: bool,
) -> Iterator[_Found]:
    types = shape.replace(" ", "").replace("-", "")
    worst = _WORST if asked else _WORST / 2
    for chars, cost, first, last in _walk(types, country, lattice, region, said, worst):
        if country == "gb":
            outward = len(shape.partition(" ")[0])
            chars, repair = _repaired(chars, outward, said.locale.postal)
            cost += repair
        cost += _left_over(lattice, first, last, said, asked)
        if cost <= worst:
            yield _Found(_formatted(chars, shape), round(cost, 3), first, last, country)


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
    types: str,
    country: str,
    lattice: Sequence[list[Reading]],
    region: range,
    said: Utterance,
    worst: float,
) -> Iterator[tuple[str, float, int, int]]:
    """The cheapest ways to spell the types; a state is (token, characters so far).

    Any token may be the first, so one pass over the region finds them all.
    """
    states: dict[tuple[int, int], tuple[float, str, int]] = {}
    small = said.locale.speller.sounds
    full = len(types)
    for at in region:
        skip = SMALL_WORD if said.words[at] in small or said.words[at] == "a" else _SKIPPED
        for filled in range(full):
            cost, chars, first = states.get((at, filled), _NO_STATE) if filled else (0.0, "", at)
            if cost > worst:
                continue
            if filled:
                _improve(states, (at + 1, filled), (cost + skip, chars, first))
            for reading in lattice[at]:
                fitted = _fit(reading, types, filled, country)
                if fitted is None:
                    continue
                end = filled + len(reading.chars)
                reached = (cost + fitted[0], chars + fitted[1], first)
                if end == full:
                    yield reached[1], reached[0], first, reading.last
                elif end:
                    _improve(states, (reading.last, end), reached)


def _improve(
    states: dict[tuple[int, int], tuple[float, str, int]],
    place: tuple[int, int],
    state: tuple[float, str, int],
) -> None:
    if state[0] < states.get(place, _NO_STATE)[0]:
        states[place] = state


def _fit(reading: Reading, types: str, filled: int, country: str) -> tuple[float, str] | None:
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
    lattice: Sequence[list[Reading]], first: int, last: int, said: Utterance, asked: bool
) -> float:
    """Characters spelled right before or after that the code leaves out speak against it."""
    cost = 0.0
    if asked and first == 1 and said.words[0] in said.locale.speller.sounds:
        cost += SOUND
    for at in (first - 1, first - 2, last, last + 1):
        if 0 <= at < len(lattice) and not (first <= at < last):
            sure = [r for r in lattice[at] if r.chars and r.cost == SURE]
            if sure and not _apart(said, at, first, last):
                cost += _LEFT_OVER
    return cost


def _apart(said: Utterance, at: int, first: int, last: int) -> bool:
    return any(said.breaks[i] for i in range(min(at, last - 1) + 1, max(at, first) + 1))


def _formatted(chars: str, shape: str) -> str:
    out = iter(chars)
    return "".join(mark if mark in " -" else next(out) for mark in shape)
