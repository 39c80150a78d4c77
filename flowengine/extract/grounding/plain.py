"""Text without what does not tell values apart: case, accents, spacing, plain punctuation."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_APOSTROPHES = str.maketrans("\u2018\u2019`\u02bc", "''''")
_PARTICLE = re.compile(r"\b([^\W\d_])'(?=[^\W\d_]{3})")
"""O'Brien and OBrien are one name; "I'll" and "ill" are not one word."""
_SOFT = re.compile(
    r"""
    [.,;:!?\u2026]+(?=[\s"\u201c\u201d)\]]|$)  # at the end of a word
  | (?<=[^\W\d_])[,;](?=[^\W\d_])              # between words without a space
  | (?<=[^\W\d_])-(?=[^\W\d_])                 # Smith-Jones
  | (?<=\s)[-\u2013\u2014]+(?=\s)              # a dash between words
  | (?<!\d)["\u201c\u201d]
  | (?<=\s)[(\[](?=[^\W\d_]) | (?<=[^\W\d_])[)\]](?=\s|$) | ^[(\[](?=[^\W\d_])
    """,
    re.VERBOSE,
)
"""Punctuation that only sets words apart. A sign that touches a digit or a symbol is kept: it may
be a minus, a decimal point or a part of a name such as C++ or O-."""


@lru_cache(maxsize=4096)
def fold(word: str) -> str:
    """One word without case, accents and a possessive ending."""
    if word.isascii():
        return word.lower().removesuffix("'s")
    return without_accents(word.translate(_APOSTROPHES).casefold()).removesuffix("'s")


def without_accents(text: str) -> str:
    """Accents of Latin letters are dropped; elsewhere a mark makes another letter."""
    kept: list[str] = []
    for char in unicodedata.normalize("NFD", text):
        if unicodedata.combining(char) and kept and kept[-1].isascii():
            continue
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


def normal(text: str) -> str:
    """Equal for two texts that differ only in case, accents, spacing and plain punctuation."""
    folded = text.translate(_APOSTROPHES).casefold()
    if not folded.isascii():
        folded = without_accents(folded)
    words = " ".join(_SOFT.sub(" ", f" {folded} ").split())
    return _PARTICLE.sub(r"\1", words) or folded.strip()
