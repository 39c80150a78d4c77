"""fuzzy: a name heard by speech recognition, matched against the names it may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer, RecognizerError
from flowengine.extract.recognizers.options import at_least_one
from flowengine.extract.recognizers.text import Utterance, utterance

_JOINED = 0.9
"""Two words count as one part of a name only when they are very near to it."""


@dataclass(frozen=True, kw_only=True)
class FuzzyRecognizer(Recognizer):
    """One of some names; every part of the name must have been heard.

    A name scores by its worst part, each part by the most similar word (Jaro-Winkler). The best
    name needs `threshold`; one less than `margin` behind makes the answer ambiguous.
    """

    kind: ClassVar[str] = "fuzzy"
    positional: ClassVar[str | None] = "options"
    options: Any = ()
    threshold: float = 0.82
    margin: float = 0.05
    _parts: tuple[tuple[str, tuple[str, ...]], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        at_least_one(self.kind, "options", self.options)
        if isinstance(self.options, str) or not isinstance(self.options, Sequence):
            raise RecognizerError("fuzzy: options are a list of names.")
        if not 0 < self.threshold <= 1:
            raise RecognizerError(f"fuzzy: threshold is in 0..1, not {self.threshold!r}.")
        names = cast("Sequence[Any]", self.options)
        parts = tuple((str(name), tuple(utterance(str(name)).words)) for name in names)
        object.__setattr__(self, "_parts", parts)

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        heard = said.content
        if not heard:
            return []
        scored: list[tuple[float, str, int, int]] = []
        words = [said.words[i] for i in heard]
        for name, parts in self._parts:
            score, first, last = _match(parts, words, heard, self.threshold)
            if score >= self.threshold:
                scored.append((score, name, first, last))
        scored.sort(key=lambda entry: -entry[0])
        return self._recognitions(scored, said)

    def _recognitions(
        self, scored: Sequence[tuple[float, str, int, int]], said: Utterance
    ) -> list[Recognition]:
        if not scored:
            return []
        near = [name for score, name, _, _ in scored[1:] if scored[0][0] - score < self.margin]
        found: list[Recognition] = []
        for rank, (score, name, first, last) in enumerate(scored):
            others = tuple(other for _, other, _, _ in scored if other != name)
            ambiguous = bool(near) and (rank == 0 or name in near)
            found.append(
                Recognition(
                    value=name,
                    text=name,
                    span=said.span(first, last),
                    confidence=round(score * (0.7 if ambiguous else 1.0), 3),
                    rule="fuzzy.exact" if score == 1.0 else "fuzzy.near",
                    alternatives=others,
                    ambiguous=ambiguous,
                )
            )
        return found


def _match(
    parts: Sequence[str], words: Sequence[str], heard: Sequence[int], threshold: float
) -> tuple[float, int, int]:
    """The name's worst part and the tokens between which its parts were heard."""
    worst, first, last = 1.0, heard[-1] + 1, 0
    for part in parts:
        found = process.extractOne(
            part, words, scorer=JaroWinkler.similarity, score_cutoff=threshold, processor=None
        )
        score, at, width = (found[1], found[2], 1) if found else (0.0, 0, 1)
        if score < 1.0:
            joined = _joined(part, words, score)
            score, at, width = joined or (score, at, width)
        worst = min(worst, score)
        if worst < threshold:
            break
        first, last = min(first, heard[at]), max(last, heard[at] + width)
    return worst, first, last


def _joined(part: str, words: Sequence[str], least: float) -> tuple[float, int, int] | None:
    """Two words that are one part of a name, "mac donald"; the first must begin it."""
    initial, longest = part[:1], len(part) - 2
    for at, word in enumerate(words[:-1]):
        if word[0] == initial and len(word) <= longest:
            score = JaroWinkler.similarity(part, word + words[at + 1], score_cutoff=_JOINED)
            if score > least:
                return score, at, 2
    return None
