"""Rules over lexemes: templates from a locale file compiled to one regular expression.

A template is a row of elements. `word` is that word, `{class}` a lexeme of the class,
`{slot:a|=b}` one of class a, or the word b, kept under a name, `[...]` optional, `(...|...)` a choice, `,` a
comma that was written, `^` the beginning, `$` the end. A prefix makes an element a condition: `&x` x follows, `!x`
x does not follow, `!<x` x does not come before. `{name}` of a macro is the macro's template, `{~name}` the same without keeping it.
The first rule that matches at the leftmost place wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowengine.extract.recognizers.lexemes import COMMA, STOP, Alphabet
from flowengine.extract.recognizers.numbers import Exact, Number

if TYPE_CHECKING:
    from flowengine.extract.recognizers.text import Utterance

_ELEMENT = re.compile(r"&<|!<|[&!]|\{[^}]*\}|[\[\]()|,$^.]|[^\s\[\](){}|,$^!&]+")
WORD = "w:"
"""Prefix of the class that stands for one literal word."""


def literals(template: str) -> list[str]:
    """The words a template names, so that the alphabet has a class for each."""
    inside = re.findall(r"(?<=[:|])=([^|}]+)", template)
    return [e for e in _ELEMENT.findall(template) if e[0] not in "&!{[]()|,$^."] + inside


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    group: int
    slots: tuple[tuple[str, int], ...]


class Match:
    """One rule applied at lexemes `first` up to, not including, `last`."""

    __slots__ = ("_lexemes", "_said", "_slots", "first", "last", "rule")

    def __init__(
        self, rule: str, first: int, last: int, slots: Mapping[str, tuple[int, int]],
        said: Utterance,
    ) -> None:  # fmt: skip
        self.rule = rule
        self.first = first
        self.last = last
        self._slots = slots
        self._said = said
        self._lexemes = said.lexemes

    def __contains__(self, slot: str) -> bool:
        return slot in self._slots

    def word(self, slot: str) -> str:
        """The slot's last word, empty when the slot was not filled."""
        place = self._slots.get(slot)
        return self._said.words[self._lexemes.last[place[1] - 1] - 1] if place else ""

    def initial(self, slot: str) -> str:
        """The first letter of the slot's first word: "p" of "p m"."""
        place = self._slots.get(slot)
        return self._said.words[self._lexemes.first[place[0]]][0] if place else ""

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
        return word in self._said.words[first:last]

    @property
    def last_word(self) -> str:
        return self._said.words[self.tokens[1] - 1]

    @property
    def word_before(self) -> str:
        first = self.tokens[0]
        return self._said.words[first - 1] if first else ""

    @property
    def tokens(self) -> tuple[int, int]:
        return self._lexemes.first[self.first], self._lexemes.last[self.last - 1]

    @property
    def span(self) -> tuple[int, int]:
        return self._said.span(*self.tokens)


class Grammar:
    """An ordered set of rules, found in an utterance from left to right without overlap."""

    def __init__(
        self, rules: Sequence[tuple[str, str]], alphabet: Alphabet, macros: Mapping[str, str]
    ) -> None:
        self._alphabet = alphabet
        self._macros = macros
        self._groups = 0
        compiled = [self._rule(name, template) for name, template in rules]
        self._rules = {rule.group: rule for rule, _ in compiled}
        self._pattern = re.compile("|".join(pattern for _, pattern in compiled))

    def find(self, said: Utterance) -> Iterator[Match]:
        for found in self._pattern.finditer(said.lexemes.code):
            if found.lastindex is None:
                continue
            rule = self._rules[found.lastindex]
            slots = {
                slot: found.span(group) for slot, group in rule.slots if found.start(group) >= 0
            }
            yield Match(rule.name, found.start(), found.end(), slots, said)

    def _rule(self, name: str, template: str) -> tuple[_Rule, str]:
        self._groups += 1
        group = self._groups
        slots: list[tuple[str, int]] = []
        pattern = self._compile(template, slots)
        return _Rule(name, group, tuple(slots)), f"({pattern})"

    def _compile(self, template: str, slots: list[tuple[str, int]] | None) -> str:
        out: list[str] = []
        pending = ""
        closers: list[str] = []
        for element in _ELEMENT.findall(template):
            if element in ("&", "!", "!<", "&<"):
                pending = element
                continue
            if element in "[(":
                opening = _CONDITION.get(pending, "(?:")
                out.append(opening)
                closers.append(")?" if element == "[" else ")")
                pending = ""
                continue
            if element in "])":
                out.append(closers.pop())
                continue
            piece = self._element(element, None if pending else slots)
            out.append(f"{_CONDITION[pending]}{piece})" if pending else piece)
            pending = ""
        return "".join(out)

    def _element(self, element: str, slots: list[tuple[str, int]] | None) -> str:
        if element in "|$^":
            return element
        if element == ",":
            return re.escape(COMMA)
        if element == ".":
            return re.escape(STOP)
        if element[0] != "{":
            return self._charset((WORD + element,))
        if element.startswith("{~"):
            return f"(?:{self._compile(self._macros[element[2:-1]], None)})"
        slot, _, classes = element[1:-1].partition(":")
        names = (classes or slot).split("|")
        if len(names) == 1 and names[0] in self._macros:
            pattern = f"(?:{self._compile(self._macros[names[0]], None)})"
        else:
            pattern = self._charset(names)
        if slots is None:
            return pattern
        self._groups += 1
        slots.append((slot, self._groups))
        return f"({pattern})"

    def _charset(self, names: Sequence[str]) -> str:
        names = [WORD + name[1:] if name[0] == "=" else name for name in names]
        for name in names:
            if not self._alphabet.knows(name):
                raise KeyError(f"a grammar names the class {name!r}, which the locale lacks")
        chars = {char for name in names for char in self._alphabet.charset(name)}
        return "[" + "".join(sorted(re.escape(char) for char in chars)) + "]"


_CONDITION = {"&": "(?=", "!": "(?!", "!<": "(?<!", "&<": "(?<="}
