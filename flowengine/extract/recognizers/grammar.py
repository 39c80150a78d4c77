"""Grammars: ordered rules over lexemes, matched from left to right.

The first rule that matches at a place wins. For each character only the rules that may begin with
it are tried, as one regular expression.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowengine.extract.recognizers.lexemes import Alphabet, Lexemes
from flowengine.extract.recognizers.numbers import Exact, Number
from flowengine.extract.recognizers.template import Node, TemplateReader, pattern, starts

if TYPE_CHECKING:
    from flowengine.extract.recognizers.text import Utterance


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    slots: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class _Template:
    """A rule as the text of a regular expression; `slots` name its groups in order."""

    name: str
    pattern: str
    slots: tuple[str, ...]
    starts: frozenset[str]

    @classmethod
    def of(cls, name: str, node: Node) -> _Template:
        slots = list[str]()
        text = pattern(node, slots.append)
        return cls(name, text, tuple(slots), starts(node)[0])


class Match:
    """One rule applied at lexemes `first` up to, not including, `last`."""

    __slots__ = ("_lexemes", "_slots", "_words", "first", "last", "rule")

    def __init__(
        self, rule: str, first: int, last: int, slots: Mapping[str, tuple[int, int]],
        words: Sequence[str], lexemes: Lexemes,
    ) -> None:  # fmt: skip
        self.rule = rule
        self.first = first
        self.last = last
        self._slots = slots
        # Not the utterance, which keeps its matches: a cycle would wait for the collector.
        self._words, self._lexemes = words, lexemes

    def renamed(self, rule: str) -> Match:
        return Match(rule, self.first, self.last, self._slots, self._words, self._lexemes)

    def __contains__(self, slot: str) -> bool:
        return slot in self._slots

    def word(self, slot: str) -> str:
        """The slot's last word, empty when the slot was not filled."""
        place = self._slots.get(slot)
        return self._words[self._lexemes.last[place[1] - 1] - 1] if place else ""

    def initial(self, slot: str) -> str:
        """The first letter of the slot's first word: "p" of "p m"."""
        place = self._slots.get(slot)
        return self._words[self._lexemes.first[place[0]]][0] if place else ""

    def number(self, slot: str) -> Number | None:
        place = self._slots.get(slot)
        return self._lexemes.number[place[0]] if place else None

    def numbers(self, slot: str) -> list[Number]:
        """All numbers in a slot of several lexemes, such as the year "nineteen eighty four"."""
        first, last = self._slots.get(slot, (0, 0))
        return [number for number in self._lexemes.number[first:last] if number is not None]

    def slot_size(self, slot: str) -> int:
        first, last = self._slots.get(slot, (0, 0))
        return last - first

    def value(self, slot: str, default: Exact = 0) -> Exact:
        number = self.number(slot)
        return default if number is None else number.value

    def has_word(self, word: str) -> bool:
        first, last = self.tokens
        return word in self._words[first:last]

    @property
    def last_word(self) -> str:
        return self._words[self.tokens[1] - 1]

    @property
    def word_before(self) -> str:
        first = self.tokens[0]
        return self._words[first - 1] if first else ""

    @property
    def tokens(self) -> tuple[int, int]:
        return self._lexemes.first[self.first], self._lexemes.last[self.last - 1]


class Grammar:
    """An ordered set of rules, found in an utterance from left to right without overlap."""

    def __init__(
        self, rules: Sequence[tuple[str, str]], alphabet: Alphabet, macros: Mapping[str, str]
    ) -> None:
        reader = TemplateReader(alphabet, macros)
        templates = [_Template.of(name, reader.read(template)) for name, template in rules]
        self._by_char: dict[str, _Tried] = {}
        by_rules: dict[tuple[int, ...], _Tried] = {}
        candidates: dict[str, list[int]] = {}
        for index, template in enumerate(templates):
            for char in template.starts:
                candidates.setdefault(char, []).append(index)
        for char, indices in candidates.items():
            key = tuple(indices)
            if key not in by_rules:
                by_rules[key] = _Tried([templates[index] for index in indices])
            self._by_char[char] = by_rules[key]

    def find(self, said: Utterance) -> list[Match]:
        code = said.lexemes.code
        tried = self._by_char
        found: list[Match] = []
        end = 0
        for at, char in enumerate(code):
            if char in tried and at >= end:
                match = tried[char].match(code, at, said)
                if match:
                    found.append(match)
                    end = match.last
        return found


class _Tried:
    """Some rules as one regular expression."""

    __slots__ = ("_pattern", "_rules")

    def __init__(self, templates: Sequence[_Template]) -> None:
        self._rules: dict[int, _Rule] = {}
        pieces: list[str] = []
        group = 1
        for template in templates:
            pieces.append(f"({template.pattern})")
            places = tuple((slot, group + 1 + k) for k, slot in enumerate(template.slots))
            self._rules[group] = _Rule(template.name, places)
            group += 1 + len(template.slots)
        self._pattern = re.compile("|".join(pieces))

    def match(self, code: str, at: int, said: Utterance) -> Match | None:
        found = self._pattern.match(code, at)
        if found is None or found.lastindex is None or found.end() == at:
            return None
        rule = self._rules[found.lastindex]
        spans = found.regs
        slots = {slot: spans[group] for slot, group in rule.slots if spans[group][0] >= 0}
        return Match(rule.name, at, found.end(), slots, said.words, said.lexemes)
