"""Orders: words that tell the system what to write, and so prove nothing about it.

"Set agreed to yes", "mark me as agreed", "put a yes under agreed": a verb of writing, then the
field's name with a value, or where a value goes. "Please note that I agreed" is no order: another
clause says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from flowengine.extract.grounding.plain import fold
from flowengine.extract.recognizers import Utterance
from flowengine.inputs import Json

_ASSIGNS = re.compile(r"[=:]")
_ENDINGS = ("ing", "ed", "es", "s", "d", "e")
_SHORTEST_STEM = 3


def is_order(quote: Utterance, name: str, value: Json) -> bool:
    """Whether a quote tells the system to write `value` into the field `name`."""
    if "_" in name and name.lower() in quote.text.lower():
        return True
    parts = words_of(name)
    words = _words(quote, 0, len(quote))
    named = any(words[k : k + len(parts)] == parts for k in range(len(words)))
    if parts and named and (_ASSIGNS.search(quote.text) or _is_literal(words, value)):
        return True
    return _is_told(quote, 0, len(quote), parts, value)


def is_in_order(said: Utterance, at: int, name: str, value: Json) -> bool:
    """Whether the token `at` stands in such a sentence: "agreed" in "mark me as agreed"."""
    first, last = at, at + 1
    while first and not said.breaks[first]:
        first -= 1
    while last < len(said) and not said.breaks[last]:
        last += 1
    return _is_told(said, first, last, words_of(name), value)


def _is_told(said: Utterance, first: int, last: int, name: Sequence[str], value: Json) -> bool:
    orders = said.locale.data["orders"]
    values = {*map(fold, orders["values"])}
    return bool(name) and (
        _equates(_words(said, first, last), name, orders, values)
        or any(
            _writes(clause, name, group["before"], {*values, *words_of(str(value))})
            for group in orders["verbs"]
            for clause in _clauses_after(said, first, last, group["verbs"])
        )
    )


def _words(said: Utterance, first: int, last: int) -> list[str]:
    return [fold(part) for word in said.words[first:last] for part in word.split("_")]


def _is_literal(words: Sequence[str], value: Json) -> bool:
    return isinstance(value, bool) and not {"true", "false"}.isdisjoint(words)


def _equates(words: Sequence[str], name: Sequence[str], said: Any, values: set[str]) -> bool:
    """ "agreed to yes", "agreed means yes", "make agreed yes"."""
    for start, end in _places(words, name):
        value = end
        while value < len(words) and words[value] in said["links"]:
            value += 1
        made = start > 0 and words[start - 1] in said["makes"]
        if (made or value > end) and value < len(words) and words[value] in values:
            return True
    return False


def _writes(
    clause: Sequence[str], name: Sequence[str], before: Sequence[str], values: set[str]
) -> bool:
    """What follows a verb of writing: the name and a value, or the name alone, or as the value."""
    for start, end in _places(clause, name):
        if (start and clause[start - 1] in before) or end - start == len(clause):
            return True
        if not values.isdisjoint((*clause[:start], *clause[end:])):
            return True
    return False


def _clauses_after(
    said: Utterance, first: int, last: int, verbs: Sequence[str]
) -> Iterator[list[str]]:
    """The words after each verb of writing, as far as its own clause goes."""
    words, begins = said.words, said.locale.answers.clauses
    for at in range(first, last):
        if words[at] in verbs:
            end = at + 1
            while end < last and not said.breaks[end] and words[end] not in begins:
                end += 1
            yield _words(said, at + 1, end)


def _places(words: Sequence[str], name: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the words of a name stand in a row, in whatever form."""
    size = len(name)
    for k in range(len(words) - size + 1):
        if all(is_form_of(words[k + n], name[n]) for n in range(size)):
            yield k, k + size


def words_of(name: str) -> list[str]:
    """The words of an identifier."""
    return [fold(part) for part in re.split(r"[_\W]+", name) if part]


def is_form_of(word: str, other: str) -> bool:
    """ "agree" and "agreed", "stop" and "stopping"."""
    if word == other:
        return True
    short, long = sorted((_stem(word), _stem(other)), key=len)
    return len(short) >= _SHORTEST_STEM and long.startswith(short) and len(long) - len(short) <= 1


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word
