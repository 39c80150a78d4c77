"""fuzzy: a name heard by speech recognition, matched against the names it may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from rapidfuzz.distance import JaroWinkler

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer, RecognizerError
from flowengine.extract.recognizers.options import at_least_one
from flowengine.extract.recognizers.text import Utterance, utterance

_FULL_MARGIN = 0.1


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
        names: Sequence[Any] = self.options
        parts = tuple((str(name), tuple(utterance(str(name)).words)) for name in names)
        object.__setattr__(self, "_parts", parts)

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        heard = _content(said)
        if not heard:
            return []
        scored: list[tuple[float, str, int, int]] = []
        for name, parts in self._parts:
            score, first, last = _match(parts, heard, said)
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


def _content(said: Utterance) -> list[int]:
    """Tokens left when carrier phrases ("my name is", "this is") are taken off."""
    carriers = said.locale.carriers
    left: list[int] = []
    i = 0
    while i < len(said):
        found = carriers.at(said.words, i)
        if found:
            i = found.last
            continue
        left.append(i)
        i += 1
    return left or list(range(len(said)))


def _match(parts: Sequence[str], heard: Sequence[int], said: Utterance) -> tuple[float, int, int]:
    """The name's worst part and the tokens between which its parts were heard."""
    worst, places = 1.0, list[int]()
    for part in parts:
        best, place, width = 0.0, heard[0], 1
        for at, i in enumerate(heard):
            score = JaroWinkler.similarity(part, said.words[i])
            joined = heard[at + 1] if at + 1 < len(heard) else None
            wide = 1
            if score < 1.0 and joined == i + 1:
                both = JaroWinkler.similarity(part, said.words[i] + said.words[joined])
                if both > score and both > 0.9:  # "mac donald"
                    score, wide = both, 2
            if score > best:
                best, place, width = score, i, wide
        worst = min(worst, best)
        places += [place, place + width - 1]
    return worst, min(places), max(places) + 1
