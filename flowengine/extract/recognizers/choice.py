"""one_of: which of some options the caller picks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from rapidfuzz import process
from rapidfuzz.distance import OSA

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer, RecognizerError
from flowengine.extract.recognizers.marks import standing
from flowengine.extract.recognizers.number import place_of
from flowengine.extract.recognizers.options import at_least_one, words_of
from flowengine.extract.recognizers.phrases import Phrases
from flowengine.extract.recognizers.text import Utterance, stem, utterance

_SUBSET, _FUZZY, _PICKED = 0.8, 0.8, 0.85
_NEAR, _MARGIN = 0.79, 0.08
_SHORTEST_FUZZY = 4
"""Shorter words are too easily something else."""


@dataclass(slots=True)
class _Pick:
    option: str
    first: int
    last: int
    rule: str
    confidence: float
    others: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OneOfRecognizer(Recognizer):
    """One of the options, by name, synonym, position ("the second one") or a close sound.

    `options` is a list, or a mapping option -> its synonyms. Options the caller rules out
    ("not the blue one") are left out.
    """

    kind: ClassVar[str] = "one_of"
    positional: ClassVar[str | None] = "options"
    options: Any = ()
    fuzzy: bool = True
    _phrases: Phrases[str] = field(init=False, repr=False, compare=False)
    _names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _words: Mapping[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)
    _targets: tuple[tuple[str, int, str], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        synonyms = _synonyms(self.options)
        object.__setattr__(self, "_names", tuple(synonyms))
        spoken = [(_spoken(name), option) for option, names in synonyms.items() for name in names]
        object.__setattr__(self, "_phrases", Phrases(spoken))
        object.__setattr__(self, "_words", _distinct_words(spoken))
        targets = tuple((name, name.count(" ") + 1, option) for name, option in spoken)
        targets = tuple(target for target in targets if len(target[0]) >= _SHORTEST_FUZZY)
        object.__setattr__(self, "_targets", targets)

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        if not said.words:
            return []
        picks = (
            self._exact(said) or self._by_word(said) or self._by_place(said) or self._close(said)
        )
        kept = standing(picks, said.marks)
        if not kept and picks:
            kept = self._last_left(picks)
        return _recognitions(kept, said)

    def _exact(self, said: Utterance) -> list[_Pick]:
        return [
            _Pick(found.label, found.first, found.last, "one_of.exact", 1.0)
            for found in self._phrases.find(said.stems)
        ]

    def _by_word(self, said: Utterance) -> list[_Pick]:
        """A word that only one option has: "the savings" for "savings account"."""
        stems = said.stems
        if self._words.keys().isdisjoint(stems):
            return []
        return [
            _Pick(options[0], i, i + 1, "one_of.word", _SUBSET)
            for i, word in enumerate(stems)
            if len(options := self._words.get(word, ())) == 1 and len(word) > 2
        ]

    def _by_place(self, said: Utterance) -> list[_Pick]:
        picks: list[_Pick] = []
        if not said.lexemes.mask & said.locale.place_classes:
            return picks
        for match in said.matches("ordinal"):
            (first, last), place = match.tokens, place_of(match)
            index = place - 1 if place > 0 else len(self._names) + place
            if 0 <= index < len(self._names):
                picks.append(_Pick(self._names[index], first, last, "one_of.place", _PICKED))
        return picks

    def _close(self, said: Utterance) -> list[_Pick]:
        """The option that sounds nearest, if it is near and the next is farther by a margin."""
        if not self.fuzzy:
            return []
        stems = said.stems
        known = said.locale.function_words
        long = [
            i
            for i, word in enumerate(stems)
            if len(word) >= _SHORTEST_FUZZY and said.words[i] not in known
        ]
        best: dict[str, tuple[float, int, int]] = {}
        single = [stems[i] for i in long]
        for target, size, option in self._targets if long else ():
            heard = single if size == 1 else [" ".join(stems[i : i + size]) for i in long]
            found = process.extractOne(
                target, heard, scorer=OSA.normalized_similarity, score_cutoff=_NEAR
            )
            if found and found[1] > best.get(option, (0.0, 0, 0))[0]:
                first = long[found[2]]
                best[option] = (found[1], first, min(first + size, len(stems)))
        return _clear_winner(best)

    def _last_left(self, ruled_out: Sequence[_Pick]) -> list[tuple[_Pick, list[_Pick]]]:
        """With all options but one ruled out, the one left is meant."""
        gone = {pick.option for pick in ruled_out}
        left = [name for name in self._names if name not in gone]
        if len(left) != 1 or len(self._names) > 2:
            return []
        pick = ruled_out[0]
        return [(_Pick(left[0], pick.first, pick.last, "one_of.other", 0.6), [])]


def _synonyms(options: Any) -> dict[str, tuple[str, ...]]:
    at_least_one("one_of", "options", options)
    if isinstance(options, Mapping):
        mapping = cast("Mapping[Any, Any]", options)
        return {
            str(option): (str(option), *words_of("one_of", f"synonyms of {option!r}", names or []))
            for option, names in mapping.items()
        }
    if isinstance(options, str) or not isinstance(options, Sequence):
        raise RecognizerError("one_of: options are a list, or a mapping option -> synonyms.")
    names = cast("Sequence[Any]", options)
    return {str(name): (str(name),) for name in names}


def _spoken(name: str) -> str:
    words = utterance(name.replace("_", " ")).words
    if not words:
        raise RecognizerError(f"one_of: the option {name!r} has no word in it.")
    return " ".join(stem(word) for word in words)


def _distinct_words(spoken: Sequence[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Each word of the options with the options it occurs in."""
    found: dict[str, tuple[str, ...]] = {}
    for name, option in spoken:
        words = name.split()
        for word in words if len(words) > 1 else ():
            if option not in found.get(word, ()):
                found[word] = (*found.get(word, ()), option)
    return found


def _clear_winner(best: Mapping[str, tuple[float, int, int]]) -> list[_Pick]:
    ranked = sorted(best.items(), key=lambda item: -item[1][0])
    if not ranked or (len(ranked) > 1 and ranked[0][1][0] - ranked[1][1][0] < _MARGIN):
        return []
    option, (score, first, last) = ranked[0]
    return [_Pick(option, first, last, "one_of.close", round(score * _FUZZY, 3))]


def _recognitions(kept: Sequence[tuple[_Pick, list[_Pick]]], said: Utterance) -> list[Recognition]:
    """One recognition per option; several options are alternatives of each other."""
    found: dict[str, Recognition] = {}
    for pick, replaced in kept:
        if pick.option in found:
            continue
        found[pick.option] = Recognition(
            value=pick.option,
            text=pick.option,
            span=said.span(pick.first, pick.last),
            confidence=pick.confidence * (0.8 if said.marks.hedged() else 1.0),
            rule=pick.rule,
            superseded=tuple(one.option for one in replaced),
        )
    if len(found) > 1:
        for option, one in found.items():
            one.alternatives = tuple(other for other in found if other != option)
            one.ambiguous = True
            one.confidence = round(one.confidence * 0.7, 3)
    return list(found.values())
