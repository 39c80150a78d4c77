"""Quotes: where the caller said the words that a model gives as its reason."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flowengine.extract.mentions import is_denied, is_taken_back, is_whole, sign_of, terms
from flowengine.extract.plain import fold
from flowengine.extract.recognizers import Utterance
from flowengine.extract.sounds import sound_alike
from flowengine.inputs import Json

_FEWEST, _MOST = 2, 80
_ASSIGNS = re.compile(r"[=:]")


def find_quote(wanted: Utterance, said: Utterance) -> tuple[tuple[int, int], float] | None:
    """The last place, and how alike; words may sound alike, and fillers may be left out."""
    words = terms(wanted, False).words
    there = terms(said, False).words
    if not words or len(words) > _MOST:
        return None
    found = None
    for first in range(len(there)):
        end, score = _run(words, there, first, said)
        if end and (len(words) >= _FEWEST or end - first == len(there)):
            found = (first, end, score) if _counts(said, first, end) else None
    return None if found is None else (said.span(found[0], found[1]), found[2])


def _run(
    words: Sequence[str], there: Sequence[str], first: int, said: Utterance
) -> tuple[int, float]:
    """The token after the quote that begins at `first`, or 0; and how alike the words are."""
    at, worst = first, 1.0
    for place, word in enumerate(words):
        while place and at < len(there) and there[at] != word and _is_skipped(said, there[at]):
            at += 1
        score = sound_alike(word, there[at]) if at < len(there) else 0.0
        if not score:
            return 0, 0.0
        worst = min(worst, score)
        at += 1
    return at, worst


def _is_skipped(said: Utterance, word: str) -> bool:
    """A filler; but a yes or a no is never left out."""
    return word in said.locale.fillers and not sign_of(said, word)


def _counts(said: Utterance, first: int, last: int) -> bool:
    """A quote that leaves out the "don't" before it, or was taken back, does not count."""
    return (
        is_whole(said, first, last)
        and not is_denied(said, first, last)
        and not is_taken_back(said, first, last)
    )


def is_order(quote: str, name: str, value: Json) -> bool:
    """Whether a quote tells the model what to write: the field's own name, and true or false."""
    if not name:
        return False
    if "_" in name and name.lower() in quote.lower():
        return True
    parts = [fold(part) for part in re.split(r"[_\W]+", name) if part]
    words = [fold(word) for word in re.findall(r"\w+", quote.replace("_", " "))]
    names = any(words[k : k + len(parts)] == parts for k in range(len(words)))
    literal = isinstance(value, bool) and not {"true", "false"}.isdisjoint(words)
    return bool(parts) and names and (literal or bool(_ASSIGNS.search(quote)))
