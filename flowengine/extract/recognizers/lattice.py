"""What each word of an utterance may spell, and at what cost: letters, digits, or a sound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flowengine.extract.recognizers.spelling import Speller
from flowengine.extract.recognizers.text import Utterance

SURE, SOUND, SMALL_WORD = 0.0, 0.15, 0.4
_LONGEST_SPELLED = 4
"""Longer words spell nothing unless they are known to."""


@dataclass(slots=True)
class Reading:
    """What a token may spell, at what cost; the token after it."""

    chars: str
    cost: float
    last: int


def lattice_of(said: Utterance) -> list[list[Reading]]:
    """For each token what it may spell; empty where it spells nothing."""
    speller = said.locale.speller
    starters = speller.postal_starters
    return [
        list(_readings(said, i, speller))
        if word in starters or len(word) <= _LONGEST_SPELLED or not word.isalpha()
        else []
        for i, word in enumerate(said.words)
    ]


def _readings(said: Utterance, i: int, speller: Speller) -> Iterator[Reading]:
    words, word = said.words, said.words[i]
    multi = speller.multi.at(words, i)
    if multi:
        yield Reading(multi.label, SURE, multi.last)
    letter = speller.sure_letter(said, i)
    if letter:
        last = speller.after_example(said, i + 1, letter)
        yield Reading(letter, SURE, last)
    elif said.shapes[i] in ("number", "date", "clock", "ordinal"):
        yield Reading("".join(c for c in word if c.isdecimal()), SURE, i + 1)
    elif word.isalpha() and word.isascii() and _looks_spelled(said, i):
        known = word in speller.sounds or word in said.locale.fillers
        yield Reading(word.upper(), SMALL_WORD if known else SOUND, i + 1)
    yield from _sounding(said, i, speller)
    skipped = speller.skip.at(words, i)
    if skipped or word in speller.dash:
        yield Reading("", SURE, skipped.last if skipped else i + 1)


def _sounding(said: Utterance, i: int, speller: Speller) -> Iterator[Reading]:
    """Number words, and words that sound like a digit or a letter."""
    words, word = said.words, said.words[i]
    digits = speller.digits.get(word) or speller.homophones.get(word)
    if digits:
        yield Reading(digits, SURE if word in speller.digits else SOUND, i + 1)
    for table in (speller.numbers.teens, speller.numbers.tens):
        if word in table:
            yield Reading(str(table[word]), SOUND, i + 1)
    unit = speller.numbers.units.get(words[i + 1], 0) if i + 1 < len(words) else 0
    if unit and word in speller.numbers.tens:
        yield Reading(str(speller.numbers.tens[word] + unit), SURE, i + 2)
    if word in speller.repeats and i + 1 < len(words):
        repeated = speller.sure_letter(said, i + 1) or speller.digits.get(
            words[i + 1], words[i + 1]
        )
        if len(repeated) == 1:
            yield Reading(repeated.upper() * speller.repeats[word], SURE, i + 2)
    if word in speller.zero_letters:
        yield Reading("0", SURE, i + 1)
    if word in speller.sounds:
        sound = speller.sounds[word]
        yield Reading(sound, SOUND, speller.after_example(said, i + 1, sound))


def _looks_spelled(said: Utterance, i: int) -> bool:
    """Short words in capitals, or stuck to digits, are letters in a row: "NGO", "6sq"."""
    original = said.slice(i, i + 1)
    if len(original) > 4 or len(original) == 1:
        return False
    return original.isupper() or len(original) == 2 or is_glued(said, i)


def is_glued(said: Utterance, i: int) -> bool:
    """Whether a token touches a number: "6sq", "sw1"."""
    after = i + 1 < len(said) and said.ends[i] == said.starts[i + 1]
    before = i > 0 and said.ends[i - 1] == said.starts[i]
    return (before and said.shapes[i - 1] == "number") or (after and said.shapes[i + 1] == "number")
