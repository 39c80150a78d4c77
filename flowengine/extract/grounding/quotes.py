"""Quotes: where the caller said the words that a model gives as its reason."""

from __future__ import annotations

from collections.abc import Sequence

from flowengine.extract.grounding.meaning import kind
from flowengine.extract.grounding.mentions import (
    is_denied,
    is_disowned,
    is_taken_back,
    is_whole,
    sign_of,
    terms,
)
from flowengine.extract.grounding.orders import is_form_of, is_in_order, words_of
from flowengine.extract.grounding.sounds import sound_alike
from flowengine.extract.recognizers import Context, Utterance
from flowengine.inputs import Json

_FEWEST, _MOST = 2, 80
_NEGATIVE = frozenset({"no", "not", "never", "non", "without"})
_REFUSING = (
    "declin",
    "refus",
    "reject",
    "den",
    "stop",
    "cancel",
    "disput",
    "disagre",
    "ceas",
    "opt",
)
"""How names begin for which a refusal is a yes: `refill_declined`, `opt_out`."""


def find_quote(
    wanted: Utterance, said: Utterance, name: str = "", value: Json = None
) -> tuple[tuple[int, int], float] | None:
    """The last place, and how alike; words may sound alike, and fillers may be left out.

    Words that deny what they are to prove, the `true` of the field `name`, do not count.
    """
    if value is True and _is_refusal(wanted, name):
        return None
    words = terms(wanted, False).words
    there = terms(said, False).words
    if not words or len(words) > _MOST:
        return None
    found = None
    for first in range(len(there)):
        end, score = _run(words, there, first, said)
        if end and (len(words) >= _FEWEST or end - first == len(there)):
            counts = _counts(said, first, end) and not is_in_order(said, first, name, value)
            counts = counts and not (value is True and _denies(said, first, end, name))
            found = (first, end, score) if counts else None
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


def _denies(said: Utterance, first: int, last: int, name: str) -> bool:
    """ "I never said that I agreed": by the denial before the words, or before the field's own."""
    own = _own_words(said, first, last, name)
    return is_disowned(said, first) or (bool(own) and _is_denied_at(said, own[-1]))


def _is_denied_at(said: Utterance, at: int) -> bool:
    return is_denied(said, at, at + 1) or is_disowned(said, at)


def _own_words(said: Utterance, first: int, last: int, name: str) -> list[int]:
    """Where the last word of a field's name stands, such as "agreed" or the "person" of
    `wants_person`; nowhere for a name that denies something itself."""
    parts = words_of(name)
    if not parts or not _NEGATIVE.isdisjoint(parts):
        return []
    words = terms(said, False).words
    return [at for at in range(first, last) if is_form_of(words[at], parts[-1])]


def _is_refusal(quote: Utterance, name: str) -> bool:
    """Whether a quote says no and nothing else: "no way", "no I don't agree"."""
    parts = words_of(name)
    if any(part.startswith(_REFUSING) or part in _NEGATIVE for part in parts):
        return False
    read = kind("yes_no").recognize(quote, Context(focus=False))
    return bool(read) and read[0].value is False and not _says_more(quote, parts)


def _says_more(quote: Utterance, name: Sequence[str]) -> bool:
    """Words beside the refusal, or the name of a field that asks for one: `wrong_number`."""
    locale, words = quote.locale, terms(quote, False).words
    inside = {at for sign in locale.yes_no.find(quote.words) for at in range(sign.first, sign.last)}
    small = locale.function_words
    more = (at for at in range(len(quote)) if at not in inside and quote.words[at] not in small)
    return any(locale.yes_no_negated.at(quote.words, at) is None for at in more) or any(
        is_form_of(word, part) for word in words for part in name
    )
