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
    """Phrases by their first word, and by their first two; the longest is tried first."""

    def __init__(self, labelled: Iterable[tuple[str, T]]) -> None:
        self._entries = [(tuple(phrase.split()), label) for phrase, label in labelled]
        self._single: dict[str, T] = {}
        self._longer: dict[tuple[str, str], list[tuple[tuple[str, ...], T]]] = {}
        for words, label in self._entries:
            if len(words) == 1:
                self._single.setdefault(words[0], label)
            else:
                self._longer.setdefault((words[0], words[1]), []).append((words, label))
        for entries in self._longer.values():
            entries.sort(key=lambda entry: -len(entry[0]))
        self.starts = frozenset(words[0] for words, _ in self._entries)
        """The words that a phrase begins with; looked at first, as most words begin none."""

    @classmethod
    def of(cls, table: Mapping[T, Iterable[str]]) -> Phrases[T]:
        """From a mapping label -> phrases, as locale files write it."""
        return cls((phrase, label) for label, phrases in table.items() for phrase in phrases)

    def at(self, words: Sequence[str], i: int) -> Found[T] | None:
        word = words[i]
        if i + 1 < len(words):
            for phrase, label in self._longer.get((word, words[i + 1]), ()):
                last = i + len(phrase)
                if len(phrase) == 2 or tuple(words[i:last]) == phrase:
                    return Found(i, last, label)
        label = self._single.get(word)
        return None if label is None else Found(i, i + 1, label)

    def entries(self) -> Iterable[tuple[tuple[str, ...], T]]:
        """All phrases, as words, with their labels."""
        return self._entries

    def find(self, words: Sequence[str]) -> list[Found[T]]:
        """All phrases from left to right, none inside another."""
        found: list[Found[T]] = []
        last, starts = 0, self.starts
        for i, word in enumerate(words):
            if word in starts and i >= last:
                hit = self.at(words, i)
                if hit:
                    found.append(hit)
                    last = hit.last
        return found
