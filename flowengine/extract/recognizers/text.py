"""The pre-pass: one text, normalised and tokenised once, shared by all recognizers of a turn."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate
from typing import Any

from flowengine.extract.recognizers.grammar import Match
from flowengine.extract.recognizers.lazy import lazy
from flowengine.extract.recognizers.lexemes import Lexemes, lex
from flowengine.extract.recognizers.locale import Locale, locale_of
from flowengine.extract.recognizers.marks import Marks, find_marks
from flowengine.extract.recognizers.spelling import Run

LONGEST_TEXT = 1000
"""Characters read of one utterance, about a minute and a half of speech; the rest is ignored."""
_RECENT = 512
"""Texts, each hypothesis being one, that a busy process reads until a model has answered: a
thousand calls, each with a turn in four seconds and a model that takes one, have 300 turns open.
What was read of calls that have ended goes when as many others have come."""

_TOKEN = re.compile(
    r"""
    (?P<meridiem> (?<![^\W\d_])[apAP]\.\s?[mM]\b\.? )
  | (?P<word> [^\W\d_]+(?:['\u2019`][^\W\d_]+)* )
  | (?P<date> \d{4}-\d{1,2}-\d{1,2}(?!\d) | \d{1,4}(?P<sep>[/.-])\d{1,2}(?P=sep)\d{2,4}(?!\d) )
  | (?P<clock> \d{1,2}:\d{2}(?!\d) )
  | (?P<ordinal> \d{1,9}(?i:st|nd|rd|th|º|ª)\b )
  | (?P<number> \d+(?:[.,]\d+)* )
  | (?P<symbol> [$€£¥₹%@\#&+/*_:-] )
  | (?P<stop> [.!?;\u2026]+ | [,\u2013\u2014] )
    """,
    re.VERBOSE,
)

_PLAIN = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)*(?: [A-Za-z]+(?:'[A-Za-z]+)*)*")
"""Words and single spaces only, as most speech recognition writes."""

_SOFT = ",\u2013\u2014"
"""A comma or a dash: a breath, not the end of a sentence."""


class Utterance:
    """Words with their places in the original text; what is derived from them is found once.

    `words[i]` is lower case and lies at `text[starts[i]:ends[i]]`; `shapes[i]` is its token class;
    `breaks[i]` is the punctuation before it: "", "," or ".".
    """

    def __init__(self, text: str, locale: str = "en-US") -> None:
        self.text = text
        self.locale: Locale = locale_of(locale)
        self._matches: dict[tuple[str, ...], list[Match]] = {}
        bounded = _bounded(text)
        if _PLAIN.fullmatch(bounded):
            self._split(bounded)
        else:
            self._tokenise(bounded)

    def _split(self, text: str) -> None:
        """The same as `_tokenise`, for plain words."""
        words = text.lower().split(" ")
        self.words = words
        self.shapes = ["word"] * len(words)
        self.breaks = [""] * len(words)
        self.ends = ends = list(accumulate(map(len, words), _after_space))
        self.starts = [end - len(word) for end, word in zip(ends, words, strict=True)]

    def _tokenise(self, text: str) -> None:
        stop = ""
        words, shapes, breaks = list[str](), list[str](), list[str]()
        starts, ends = list[int](), list[int]()
        self.words, self.shapes, self.breaks = words, shapes, breaks
        self.starts, self.ends = starts, ends
        for found in _TOKEN.finditer(text):
            shape, word = found.lastgroup, found.group()
            start, end = found.span()
            if shape == "word":
                word = word.lower()
                if not word.isascii():
                    word = word.replace("\u2019", "'")
            elif shape == "stop":
                stop = "," if word in _SOFT and stop != "." else "."
                continue
            elif shape == "meridiem":
                word, shape = word[0].lower() + "m", "word"
            elif shape == "symbol" and word in "-:" and not text[end : end + 1].isdigit():
                continue  # it counts where it touches a digit: "-5", "555-1212", not "x-ray"
            words.append(word)
            shapes.append(shape or "word")
            starts.append(start)
            ends.append(end)
            breaks.append(stop)
            stop = ""

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The characters of tokens `first` up to, not including, `last`."""
        return self.starts[first], self.ends[last - 1]

    def slice(self, first: int, last: int) -> str:
        return self.text[self.starts[first] : self.ends[last - 1]]

    def __len__(self) -> int:
        return len(self.words)

    @lazy
    def lexemes(self) -> Lexemes:
        """The words with numbers collapsed, coded for the grammars."""
        return lex(self)

    def matches(self, *grammars: str) -> list[Match]:
        """What the named rule lists find here; recognizers that share lists share the work."""
        found = self._matches.get(grammars)
        if found is None:
            found = self._matches[grammars] = self.locale.grammar(*grammars).find(self)
        return found

    @lazy
    def digit_runs(self) -> list[Run]:
        return self.locale.speller.digit_runs(self)

    @lazy
    def elliptical(self) -> bool:
        """Whether nothing but numbers and fillers was said: an answer without its question."""
        lexemes, fillers = self.lexemes, self.locale.fillers
        return all(
            number is not None or first == last or self.words[first] in fillers
            for number, first, last in zip(lexemes.number, lexemes.first, lexemes.last, strict=True)
        )

    @lazy
    def vocabulary(self) -> frozenset[str]:
        return frozenset(self.words)

    @lazy
    def content(self) -> list[int]:
        """Tokens left when carrier phrases ("my name is", "this is") are taken off; else all."""
        left: list[int] = []
        at = 0
        for found in self.locale.carriers.find(self.words):
            left.extend(range(at, found.first))
            at = found.last
        left.extend(range(at, len(self.words)))
        return left or list(range(len(self.words)))

    @lazy
    def memo(self) -> dict[Any, Any]:
        """What recognizers of one family share for this utterance, by what it depends on."""
        return {}

    @lazy
    def value_places(self) -> frozenset[int]:
        """Tokens of numbers and of words for days and times."""
        named = self.locale.value_words
        places = {at for at, word in enumerate(self.words) if word in named}
        numbers = self.lexemes.numbers()
        return frozenset(places | {at for n in numbers for at in range(n.first, n.last)})

    @lazy
    def stems(self) -> list[str]:
        return [stem(word) if word[-1] == "s" else word for word in self.words]

    @lazy
    def marks(self) -> Marks:
        """Where the caller corrects, negates or hedges."""
        return find_marks(self)


def _after_space(end: int, length: int) -> int:
    return end + 1 + length


def _bounded(text: str) -> str:
    """The beginning of a long text, up to a whole word: half a number is another number."""
    if len(text) <= LONGEST_TEXT:
        return text
    head = text[:LONGEST_TEXT]
    return next((head[:at] for at in range(len(head) - 1, 0, -1) if head[at].isspace()), head)


def stem(word: str) -> str:
    """Possessives and plain plurals are the same word."""
    if len(word) < 4 or word[-1] != "s":
        return word
    word = word.removesuffix("'s")
    return word[:-1] if word[-1] == "s" and word[-2] != "s" else word


def utterance(text: str, locale: str = "en-US") -> Utterance:
    """Reads a text once for all recognizers of a turn."""
    return Utterance(text, locale)


def heard(text: str, locale: str, at: int) -> Utterance:
    """What a caller said at a moment, kept for a while: records read it, and so does grounding,
    once a model has answered. The moment keeps one call's readings apart from another's."""
    # A long text would stay in the memory for longer than it took to read.
    return Utterance(text, locale) if len(text) > LONGEST_TEXT else _recent(text, locale, at)


@lru_cache(maxsize=_RECENT)
def _recent(text: str, locale: str, at: int) -> Utterance:
    return Utterance(text, locale)
