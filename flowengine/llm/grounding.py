"""Finds the values of a model in the user's own words, because a fitting value can be invented."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from rapidfuzz import fuzz

from flowengine.llm.data import JSON, Path, Schema, is_array, is_object, show_path
from flowengine.llm.messages import ChatRequest
from flowengine.llm.metadata import Evidence
from flowengine.llm.walk import Walk, under_index, under_key

SHORTEST_FUZZY = 4
_WORDS = re.compile(r"\w+", re.UNICODE)


@dataclass(frozen=True, kw_only=True)
class GroundingPolicy:
    """Strings and numbers are looked up; booleans and enums are inferred, not quoted.

    `fields` limits the look-up to these paths (`items[].name`); `mark` keeps an ungrounded value
    with evidence that says so, `reject` asks the model again. `threshold` is a fuzzy ratio, 0-1.
    """

    on_ungrounded: Literal["mark", "reject"] = "mark"
    fields: frozenset[str] | None = None
    threshold: float = 0.85

    def evidence(self, schema: Schema, value: JSON, request: ChatRequest) -> tuple[Evidence, ...]:
        """One piece of evidence for every value looked up, in document order."""
        texts = [
            (index, message.text)
            for index, message in enumerate(request.messages)
            if message.role == "user" and message.text
        ]
        leaves = _leaves(Walk(schema), [schema], value, ())
        return tuple(
            locate(show_path(path), str(leaf), texts, self.threshold)
            for path, leaf in leaves
            if self.fields is None or _pattern(path) in self.fields
        )


def locate(path: str, quote: str, texts: list[tuple[int, str]], threshold: float) -> Evidence:
    """Where a quote stands: exactly, else without case and punctuation, else nearly.

    The newest message wins within each of the three.
    """
    newest_first = list(reversed(texts))
    for index, text in newest_first:
        start = _exact(quote, text)
        if start is not None:
            return _found(path, "exact", index, (start, start + len(quote)), 1.0)
    for index, text in newest_first:
        span = _normalised(quote, text)
        if span:
            return _found(path, "normalised", index, span, 1.0)
    for index, text in newest_first:
        near = _nearest(quote, text)
        if near and near[1] >= threshold:
            return _found(path, "fuzzy", index, near[0], round(near[1], 3))
    return Evidence(path=path, status="ungrounded")


def _found(
    path: str,
    status: Literal["exact", "normalised", "fuzzy"],
    message: int,
    span: tuple[int, int],
    score: float,
) -> Evidence:
    start, end = span
    return Evidence(path=path, status=status, message=message, start=start, end=end, score=score)


def _exact(quote: str, text: str) -> int | None:
    """The last place where the quote stands as words of its own."""
    if not quote.strip():
        return None
    places = list(re.finditer(rf"(?<!\w){re.escape(quote)}(?!\w)", text))
    return places[-1].start() if places else None


def _normalised(quote: str, text: str) -> tuple[int, int] | None:
    wanted = [_plain(word.group()) for word in _WORDS.finditer(quote)]
    words = list(_WORDS.finditer(text))
    plain = [_plain(word.group()) for word in words]
    for start in range(len(words) - len(wanted), -1, -1) if wanted else ():
        if plain[start : start + len(wanted)] == wanted:
            return words[start].start(), words[start + len(wanted) - 1].end()
    return None


def _nearest(quote: str, text: str) -> tuple[tuple[int, int], float] | None:
    """The run of words most like the quote, and how alike; digits are never nearly right."""
    if len(quote) < SHORTEST_FUZZY or any(char.isdigit() for char in quote):
        return None
    words = list(_WORDS.finditer(text))
    wanted = _plain(quote)
    usual = len(_WORDS.findall(quote))
    spans = [
        (words[start].start(), words[start + length - 1].end())
        for length in range(max(usual - 1, 1), usual + 2)
        for start in range(len(words) - length + 1)
    ]
    scored = [(span, fuzz.ratio(wanted, _plain(text[slice(*span)])) / 100) for span in spans]
    return max(scored, key=lambda found: found[1], default=None)


def _plain(word: str) -> str:
    marks = unicodedata.normalize("NFKD", word.casefold())
    return "".join(char for char in marks if not unicodedata.combining(char))


def _leaves(
    walk: Walk, schemas: list[Any], value: JSON, path: Path
) -> Iterator[tuple[Path, str | int | float]]:
    applying = walk.expand(schemas, value)
    if is_object(value):
        for key, child in value.items():
            yield from _leaves(walk, under_key(applying, key), child, (*path, key))
    elif is_array(value):
        for index, child in enumerate(value):
            yield from _leaves(walk, under_index(applying, index), child, (*path, index))
    elif not isinstance(value, str | int | float) or isinstance(value, bool):
        return
    elif not any("enum" in node or "const" in node for node in applying):
        yield path, value


def _pattern(path: Path) -> str:
    return re.sub(r"\[\d+\]", "[]", show_path(path))
