"""Phrases looked up in a token stream: the longest one that starts at a word wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Found(NamedTuple, Generic[T]):
    """A phrase's label at tokens `first` up to, not including, `last`."""

    first: int
    last: int
    label: T


class Phrases(Generic[T]):
    """An index from a first word to the phrases that begin with it, longest first."""

    def __init__(self, labelled: Iterable[tuple[str, T]]) -> None:
        self._index: dict[str, list[tuple[tuple[str, ...], T]]] = {}
        for phrase, label in labelled:
            words = tuple(phrase.split())
            self._index.setdefault(words[0], []).append((words, label))
        for entries in self._index.values():
            entries.sort(key=lambda entry: -len(entry[0]))

    @classmethod
    def of(cls, table: Mapping[T, Iterable[str]]) -> Phrases[T]:
        """From a mapping label -> phrases, as locale files write it."""
        return cls((phrase, label) for label, phrases in table.items() for phrase in phrases)

    def __contains__(self, word: str) -> bool:
        """Whether any phrase begins with the word."""
        return word in self._index

    def at(self, words: Sequence[str], i: int) -> Found[T] | None:
        for phrase, label in self._index.get(words[i], ()):
            last = i + len(phrase)
            if len(phrase) == 1 or tuple(words[i:last]) == phrase:
                return Found(i, last, label)
        return None

    def entries(self) -> Iterable[tuple[tuple[str, ...], T]]:
        """All phrases, as words, with their labels."""
        for entries in self._index.values():
            yield from entries

    def find(self, words: Sequence[str]) -> list[Found[T]]:
        """All phrases from left to right, none inside another."""
        found: list[Found[T]] = []
        i = 0
        index = self._index
        while i < len(words):
            hit = self.at(words, i) if words[i] in index else None
            if hit:
                found.append(hit)
                i = hit.last
            else:
                i += 1
        return found
