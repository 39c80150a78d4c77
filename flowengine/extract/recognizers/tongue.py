"""language: which language the caller speaks or asks for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer
from flowengine.extract.recognizers.locale import language_votes
from flowengine.extract.recognizers.phrases import Phrases
from flowengine.extract.recognizers.text import Utterance

_ENOUGH, _LEAD = 2, 2
"""Words a language needs, and how many more than the next."""


@dataclass(frozen=True, kw_only=True)
class LanguageRecognizer(Recognizer):
    """An ISO 639 code: asked for ("do you speak Spanish"), or heard in frequent words.

    A few words prove little: a vote needs two words more than the next language has.
    """

    kind: ClassVar[str] = "language"

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        return _requested(said, bool(context.focus)) or _foreign_request(said) or _voted(said)


def _requested(said: Utterance, asked: bool) -> list[Recognition]:
    names = said.locale.language_names
    if names.keys().isdisjoint(said.vocabulary):
        return []
    requests = said.locale.language_requests
    for i, word in enumerate(said.words):
        if word not in names:
            continue
        lead = any(
            (found := requests.at(said.words, start)) and found.last in (i, i - 1)
            for start in range(max(0, i - 5), i)
        )
        if lead or asked or len(said) <= 2:
            return [_recognition(said, names[word], i, i + 1, 1.0, "language.requested")]
    return []


def _foreign_request(said: Utterance) -> list[Recognition]:
    if said.vocabulary.isdisjoint(_request_starts()):
        return []
    found = _requests().find(said.words)
    if not found:
        return []
    first = found[0]
    return [_recognition(said, first.label, first.first, first.last, 1.0, "language.requested")]


def _voted(said: Utterance) -> list[Recognition]:
    heard = said.vocabulary
    best, most, next_most = "", 0, 0
    for language, words in language_votes()["votes"].items():
        count = len(heard & words)
        if count > most:
            best, most, next_most = language, count, most
        elif count > next_most:
            next_most = count
    if most < _ENOUGH or most - next_most < _LEAD:
        return []
    confidence = round(min(0.95, 0.4 + 0.1 * (most - next_most)), 3)
    return [_recognition(said, best, 0, len(said), confidence, "language.words")]


@cache
def _request_starts() -> frozenset[str]:
    return frozenset(phrase[0] for phrase, _ in _requests().entries())


@cache
def _requests() -> Phrases[str]:
    return Phrases[str].of(language_votes()["requests"])


def _recognition(
    said: Utterance, language: str, first: int, last: int, confidence: float, rule: str
) -> Recognition:
    return Recognition(
        value=language,
        text=language,
        span=said.span(first, last),
        confidence=confidence,
        rule=rule,
    )
