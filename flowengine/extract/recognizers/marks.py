"""Where a caller corrects, negates or hedges: found once, asked by every recognizer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from flowengine.extract.recognizers.lexicon import RepairWords
from flowengine.extract.recognizers.phrases import Found

if TYPE_CHECKING:
    from flowengine.extract.recognizers.text import Utterance

_REACH = 3
"""Words, all of them links, between a negation and the value it still covers."""
_CORRECTION_REACH = 4


_SECTIONS = {
    "corrections": "corrections", "negators": "negations", "refusals": "negations",
    "verdicts": "verdicts", "changes": "changes", "replacements": "replacements",
    "contrasts": "contrasts", "joins": "joins", "hedges": "hedges",
    "approximate": "approximations", "bounds": "bounds",
}  # fmt: skip
"""Sections of the locale's phrases and where they are kept; others only shadow shorter phrases."""


class Marks:
    """Token places, in order; most turns have none, so a section is a list only when filled."""

    corrections: Sequence[Found[str]] = ()
    negations: Sequence[Found[str]] = ()
    verdicts: Sequence[Found[str]] = ()
    changes: Sequence[Found[str]] = ()
    replacements: Sequence[Found[str]] = ()
    contrasts: Sequence[Found[str]] = ()
    joins: Sequence[Found[str]] = ()
    hedges: Sequence[Found[str]] = ()
    approximations: Sequence[Found[str]] = ()
    bounds: Sequence[Found[str]] = ()

    def __init__(self, words: Sequence[str], repairs: RepairWords) -> None:
        self.words = words
        self.repairs = repairs
        self.new_values: Sequence[int] = ()
        """Where a new value begins: "change it from five to | eight"."""
        self.apart: Sequence[int] = ()
        """Where a contrast or punctuation stands."""
        self.changing = False
        """Whether anything may be taken back or ruled out; false for most turns."""

    def add(self, section: str, found: Found[str]) -> None:
        kept = _SECTIONS.get(section)
        if kept:
            self.__dict__.setdefault(kept, []).append(found)

    def corrected(self, end: int, start: int, last: int | None = None) -> bool:
        """Whether a value from `start` to `last` corrects one that ended before, at `end`."""
        if start in self.new_values or self._taken_back(end, start):
            return True
        if last is not None and self._replaces(start, last) and not self.joined(end, start):
            return True
        return any(
            end <= mark.first and mark.last <= start <= mark.last + _CORRECTION_REACH
            for mark in self.corrections
        )

    def _taken_back(self, end: int, start: int) -> bool:
        """ "three, no, four", "the first one no the third": "no" and nothing of weight between."""
        between = self.words[end:start]
        return (
            0 < len(between) <= _CORRECTION_REACH
            and not self.repairs.taken_back.isdisjoint(between)
            and self.repairs.light.issuperset(between)
        )

    def _replaces(self, start: int, last: int) -> bool:
        """ "can five people come instead": in the same clause as the value, right after it."""
        return any(
            last <= mark.first <= last + _REACH and not self._contrasted(start + 1, mark.first)
            for mark in self.replacements
        )

    def refused(self, last: int) -> bool:
        """Whether what follows a value rules it out: "Friday doesn't work"."""
        return any(mark.first - 1 <= last <= mark.first for mark in self.verdicts)

    def negated(self, first: int) -> bool:
        """Whether a value that begins at this token is the one ruled out: "not fifty"."""
        for mark in self.negations:
            between = self.words[mark.last : first]
            if mark.last <= first <= mark.last + _REACH and self.repairs.links.issuperset(between):
                return not self._contrasted(mark.last, first)
        return False

    def _contrasted(self, start: int, end: int) -> bool:
        at = bisect_left(self.apart, start)
        return at < len(self.apart) and self.apart[at] < end

    def joined(self, end: int, start: int) -> bool:
        """Whether two values are offered together: "five or six"."""
        return start - end <= 2 and any(end <= join.first < start for join in self.joins)

    def hedged(self) -> bool:
        return bool(self.hedges)

    def approximate(self, first: int, last: int) -> bool:
        return bool(self.approximations) and any(
            mark.last == first or mark.first == last or first <= mark.first < last
            for mark in self.approximations
        )

    def bound(self, first: int) -> str | None:
        """The bound said right before a value: "no more than eighty", "before noon"."""
        for mark in self.bounds:
            if mark.first <= first <= mark.last + 1 and first >= mark.last - 1:
                return mark.label
        return None


def find_marks(said: Utterance) -> Marks:
    locale = said.locale
    marks = Marks(said.words, locale.repairs)
    for first, last, labels in locale.cues.find(said.words):
        for section, detail in labels:
            marks.add(section, Found(first, last, detail))
    stops = [at for at, stop in enumerate(said.breaks) if stop]
    marks.apart = sorted([*stops, *(mark.first for mark in marks.contrasts)])
    if marks.changes:
        marks.new_values = _new_values(marks)
    marks.changing = bool(
        marks.negations
        or marks.verdicts
        or marks.corrections
        or marks.new_values
        or marks.replacements
        or not said.vocabulary.isdisjoint(locale.repairs.taken_back)
    )
    return marks


def _new_values(marks: Marks) -> list[int]:
    """The places after "to" that follow a verb of change; an article may stand between."""
    words, repairs = marks.words, marks.repairs
    after = range(marks.changes[0].last, len(words))
    found = [at + 1 for at in after if words[at] in repairs.change_to]
    articles = [at + 1 for at in found if at < len(words) and words[at] in repairs.links]
    return found + articles


T = TypeVar("T", bound="Placed")


class Placed(Protocol):
    """Anything read from tokens `first` up to, not including, `last`."""

    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...


def standing(values: Sequence[T], marks: Marks) -> list[tuple[T, list[T]]]:
    """The values that were neither taken back nor ruled out, each with those it replaced."""
    if not marks.changing:
        return [(value, []) for value in values]
    kept: list[tuple[T, list[T]]] = []
    for value in values:
        if marks.negated(value.first) or marks.refused(value.last):
            continue
        replaced: list[T] = []
        if kept and marks.corrected(kept[-1][0].last, value.first, value.last):
            earlier, before = kept.pop()
            replaced = [*before, earlier]
        kept.append((value, replaced))
    return kept
