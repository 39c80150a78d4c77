"""Whether two words sound alike, so that a recognizer of speech may write one for the other."""

from __future__ import annotations

import re
from functools import lru_cache

from rapidfuzz.distance import JaroWinkler

from flowengine.extract.grounding.plain import fold

LEAST_ALIKE = 0.7
"""Jaro-Winkler: below this two words are not spellings of one sound, whatever their consonants."""
SHORTEST = 3

_SPELLINGS = (
    (re.compile(r"(?<=[aeiou])gh(?=[^aeiou]|$)|(?<=[aeiou])gh"), ""),
    (re.compile(r"^kn|^gn"), "n"),
    (re.compile(r"^wr"), "r"),
    (re.compile(r"^ps"), "s"),
    (re.compile(r"ph"), "f"),
    (re.compile(r"tch"), "ch"),
    (re.compile(r"sch|sh"), "$"),
    (re.compile(r"ch(?=r|l|$)"), "k"),
    (re.compile(r"th"), "0"),
    (re.compile(r"ck|q(?:u(?=[aeiou]))?"), "k"),
    (re.compile(r"c(?=[eiy])"), "s"),
    (re.compile(r"dge|dg|g(?=[iey])"), "j"),
    (re.compile(r"x"), "ks"),
    (re.compile(r"c(?!h)"), "k"),
    (re.compile(r"z"), "s"),
    (re.compile(r"v(?=en|$)"), "f"),
)
_FINAL = re.compile(r"(?:ei|ie|ee|ea|ey|i|y)$|([aou]+)[hw]?$")
_VOWEL = re.compile(r"[aeiou]|(?<=.)y")
_SILENT = re.compile(r"[aeiouyhw]")
_DOUBLED = re.compile(r"(.)\1+")


def sound_alike(one: str, other: str) -> float:
    """How alike two words are, 0..1; 0 unless they have the same consonants and the same ending.

    "Smith" and "Smyth", "Catherine" and "Kathryn", "Stephen" and "Steven" sound alike; "Eric" and
    "Erica", "Fernandez" and "Hernandez", "prednisone" and "prednisolone" do not, nor do digits.
    """
    one, other = fold(one), fold(other)
    if one == other:
        return 1.0
    if min(len(one), len(other)) < SHORTEST or not (one.isalpha() and other.isalpha()):
        return 0.0
    if sound(one) != sound(other):
        return 0.0
    score = JaroWinkler.similarity(one, other)
    if score < LEAST_ALIKE:
        score = JaroWinkler.similarity(_spelt(one), _spelt(other))
    return round(score, 3) if score >= LEAST_ALIKE else 0.0


@lru_cache(maxsize=4096)
def sound(word: str) -> str:
    """The first vowel of a word (before it "=" if it opens it), its consonants, and its ending."""
    spelt = _spelt(word)
    vowel = _VOWEL.search(spelt)
    first = "" if vowel is None else vowel.group().replace("y", "i") + "="[vowel.start() > 0 :]
    final = _FINAL.search(spelt) if len(spelt) > 1 else None
    ending = (final.group(1) or "i")[0] if final else ""
    consonants = _DOUBLED.sub(r"\1", _SILENT.sub("", spelt))
    return f"{first}{consonants}-{ending}"


@lru_cache(maxsize=4096)
def _spelt(word: str) -> str:
    """The word in one spelling for each sound."""
    for pattern, letters in _SPELLINGS:
        word = pattern.sub(letters, word)
    return word[:-1] if len(word) > 3 and word.endswith("e") and word[-2] not in "aeiou" else word
