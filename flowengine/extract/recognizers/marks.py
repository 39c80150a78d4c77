"""Where a caller corrects, negates or hedges: found once, asked by every recognizer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from flowengine.extract.recognizers.lexicon import RepairWords
from flowengine.extract.recognizers.phrases import Found

if TYPE_CHECKING:
    from flowengine.extract.recognizers.text import Utterance

_REACH = 3
"""Words, all of them links, between a negation and the value it still covers."""
_CORRECTION_REACH = 4


@dataclass(slots=True)
class Marks:
    """Token places, in order; each a phrase at `first` up to, not including, `last`."""

    words: Sequence[str]
    repairs: RepairWords
    corrections: list[Found[str]] = field(default_factory=list[Found[str]])
    negations: list[Found[str]] = field(default_factory=list[Found[str]])
    verdicts: list[Found[str]] = field(default_factory=list[Found[str]])
    contrasts: list[int] = field(default_factory=list[int])
    verbs: list[int] = field(default_factory=list[int])
    """Verbs of change."""
    new_values: list[int] = field(default_factory=list[int])
    """Where a new value begins: "change it from five to | eight"."""
    replacements: list[int] = field(default_factory=list[int])
    joins: list[int] = field(default_factory=list[int])
    hedges: list[Found[str]] = field(default_factory=list[Found[str]])
    approximations: list[Found[str]] = field(default_factory=list[Found[str]])
    bounds: list[Found[str]] = field(default_factory=list[Found[str]])
    changing: bool = False
    """Whether anything may be taken back or ruled out; false for most turns."""

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
            last <= at <= last + _REACH and not self._contrasted(start + 1, at)
            for at in self.replacements
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
        at = bisect_left(self.contrasts, start)
        return at < len(self.contrasts) and self.contrasts[at] < end

    def joined(self, end: int, start: int) -> bool:
        """Whether two values are offered together: "five or six"."""
        return any(end <= join < start for join in self.joins) and start - end <= 2

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
            _place(marks, section, Found(first, last, detail))
    marks.contrasts.extend([at for at, stop in enumerate(said.breaks) if stop])
    marks.contrasts.sort()
    if marks.verbs:
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
    after = range(marks.verbs[0] + 1, len(words))
    found = [at + 1 for at in after if words[at] in repairs.change_to]
    articles = [at + 1 for at in found if at < len(words) and words[at] in repairs.links]
    return found + articles


def _place(marks: Marks, section: str, found: Found[str]) -> None:
    match section:
        case "corrections":
            marks.corrections.append(found)
        case "negators" | "refusals":
            marks.negations.append(found)
        case "verdicts":
            marks.verdicts.append(found)
        case "changes":
            marks.verbs.append(found.first)
        case "replacements":
            marks.replacements.append(found.first)
        case "contrasts":
            marks.contrasts.append(found.first)
        case "joins":
            marks.joins.append(found.first)
        case "hedges":
            marks.hedges.append(found)
        case "approximate":
            marks.approximations.append(found)
        case "bounds":
            marks.bounds.append(found)
        case _:  # phrases that are listed only so that no shorter one is seen inside them
            pass


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
