"""Every place of one utterance where a value may have been said, and whether it still stands."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from copy import copy
from decimal import Decimal
from typing import Any, NamedTuple

from flowengine.extract.grounding.meaning import Meaning, Setting, amounts, canonical, kind
from flowengine.extract.grounding.mentions import (
    Terms,
    find,
    is_denied,
    is_lone,
    is_taken_back,
    is_whole,
    terms,
)
from flowengine.extract.grounding.sounds import sound_alike
from flowengine.extract.recognizers import Context, Recognition, Utterance

Span = tuple[int, int]

_OTHERWISE = 0.7
"""A second reading of the caller's words, such as 350 for "three fifty"."""
_SHORTEST_SOUND = 4
_READ_BY: dict[str, tuple[str, ...]] = {
    "date": ("date", "date_of_birth"),
    "time": ("time",),
    "moment": ("datetime",),
    "period": ("datetime",),
    "money": ("money",),
    "percent": ("percent",),
    "duration": ("duration",),
    "quantity": ("quantity",),
    "email": ("email",),
    "digits": ("digits", "phone"),
}
_PARTS = frozenset({"day", "month", "year", "hour", "minute"})
"""Names that ask for one number of a date or a time."""


class Sighting(NamedTuple):
    """`stands` is false where the caller denied it or took it back."""

    span: Span
    confidence: float
    rule: str
    stands: bool = True


def by_words(
    wanted: Sequence[str], said: Utterance, numbers: bool, text: str
) -> Iterator[Sighting]:
    """The last place of the value's own words; carrier phrases may stand between them."""
    there = terms(said, numbers)
    places = list(find(wanted, there)) if wanted else []
    if not places and len(wanted) > 1 and not numbers:
        places = list(find(wanted, _content(said, there)))
    for first, last in reversed(places):
        if is_whole(said, first, last) and (not numbers or is_lone(said, first, last)):
            rule = "exact" if said.slice(first, last) == text else "normalised"
            stands = not (is_denied(said, first, last) or is_taken_back(said, first, last))
            yield Sighting(said.span(first, last), 1.0, rule, stands)
            return


def _content(said: Utterance, there: Terms) -> Terms:
    """ "first name Jane last name Smith" holds "Jane Smith"."""
    left = said.content
    return Terms([there.words[k] for k in left], left, [k + 1 for k in left])


def by_sound(wanted: Sequence[str], said: Utterance) -> Iterator[Sighting]:
    """Words that sound like the value's, one for one, or two that were heard as one."""
    if sum(map(len, wanted)) < _SHORTEST_SOUND:
        return
    words = terms(said, False).words
    small = said.locale.function_words
    size = len(wanted)
    for length in (size, size - 1, size + 1):
        for first in range(len(words) - length + 1 if length else 0):
            heard = words[first : first + length]
            score = _alike(wanted, heard) if not small.issuperset(heard) else 0.0
            if score and is_whole(said, first, first + length):
                stands = not is_denied(said, first, first + length)
                stands = stands and not is_taken_back(said, first, first + length)
                yield Sighting(said.span(first, first + length), score, "fuzzy", stands)


def _alike(wanted: Sequence[str], heard: Sequence[str]) -> float:
    if len(wanted) != len(heard):
        return sound_alike("".join(wanted), "".join(heard))
    worst = 1.0
    for one, other in zip(wanted, heard, strict=True):
        worst = min(worst, sound_alike(one, other))
        if not worst:
            break
    return worst


def by_meaning(wanted: Meaning, said: Utterance, setting: Setting, name: str) -> Iterator[Sighting]:
    """What the recognizers read in the words that means the same."""
    if wanted[0] == "number":
        yield from _by_amount(wanted[1], said, setting, name)
        return
    for reader in _READ_BY.get(wanted[0], ()):
        for past in (False, True) if reader == "date" else (False,):
            seen = list(_read(reader, wanted, said, setting.reading(reader, past), name))
            yield from seen
            if seen:
                return


def _read(
    reader: str, wanted: Meaning, said: Utterance, context: Context, name: str
) -> Iterator[Sighting]:
    found = kind(reader).recognize(said, context)
    for one in found:
        confidence = _means(reader, one, wanted)
        if confidence and not _is_inside(reader, one, said, name):
            yield _sighting(said, one, confidence)
        elif any(wanted in canonical(reader, one, old) for old in one.superseded):
            yield Sighting(one.span, 0.0, one.rule, stands=False)
    if said.marks.negations or said.marks.verdicts:
        spans = {one.span for one in found}
        for one in kind(reader).recognize(_unruled(said), context):
            if one.span not in spans and _means(reader, one, wanted):
                yield Sighting(one.span, 0.0, one.rule, stands=False)


def _means(reader: str, one: Recognition, wanted: Meaning) -> float:
    """How sure it is that a reading means what is wanted; 0 if it does not."""
    if wanted in canonical(reader, one, one.value):
        return one.confidence
    if not one.ambiguous:
        return 0.0  # alternatives are then what a speech recognizer may have confused
    for other in one.alternatives:
        if wanted in canonical(reader, one, other) and _is_order(reader, one.value, other):
            return round(one.confidence * _OTHERWISE, 3)
    return 0.0


def _is_order(reader: str, value: Any, other: Any) -> bool:
    """Of a date of birth only day and month may be swapped; the rest are other dates."""
    if reader != "date_of_birth":
        return True
    return value[:4] == other[:4] and (value[5:7], value[8:]) == (other[8:], other[5:7])


def _is_inside(reader: str, one: Recognition, said: Utterance, name: str) -> bool:
    """Digits are no id where they are part of an amount, a clock, a date or a decimal."""
    if reader not in ("digits", "phone"):
        return False
    first, last = tokens(said, one.span)
    split = any(
        said.shapes[at] == "clock" or said.words[at].count(".") == 1 or "," in said.words[at]
        for at in range(first, last)
    )
    return split or not is_whole(said, first, last) or _is_part(said, first, last, name)


def _unruled(said: Utterance) -> Utterance:
    """The same words, read as if nothing were ruled out."""
    found = said.memo.get("unruled")
    if found is None:
        marks = copy(said.marks)
        marks.negations, marks.verdicts = [], []
        found = said.memo["unruled"] = Utterance(said.text, said.locale.name)
        found.__dict__["marks"] = marks
    return found


def _sighting(said: Utterance, one: Recognition, confidence: float) -> Sighting:
    first, last = tokens(said, one.span)
    return Sighting(one.span, confidence, one.rule, not is_denied(said, first, last, read=True))


def tokens(said: Utterance, span: Span) -> tuple[int, int]:
    """The tokens of a span."""
    return bisect_left(said.starts, span[0]), bisect_right(said.ends, span[1])


def _by_amount(wanted: Decimal, said: Utterance, setting: Setting, name: str) -> Iterator[Sighting]:
    """A number by itself, or the amount of something that has a unit."""
    if not said.lexemes.mask:
        return
    for reader in ("quantity", "duration", "money", "percent"):
        for one in kind(reader).recognize(said, setting.reading(reader)):
            bare = one.rule.startswith("bare.") and one.rule != "bare.pair"
            if not bare and wanted in amounts(reader, one):
                sure = one.confidence * (_OTHERWISE if one.ambiguous else 1)
                yield _sighting(said, one, round(sure, 3))
    yield from _by_number(wanted, said, setting, name)
    if wanted >= 100 and wanted == int(wanted):
        yield from _read(
            "digits", ("digits", str(int(wanted))), said, setting.reading("digits"), name
        )


def _by_number(wanted: Decimal, said: Utterance, setting: Setting, name: str) -> Iterator[Sighting]:
    meaning: Meaning = ("number", wanted)
    for seen in _read("number", meaning, said, setting.reading("number"), name):
        first, last = tokens(said, seen.span)
        if not seen.stands or _is_number_alone(said, first, last, name):
            yield seen
    yield from _by_ordinal(wanted, said, name)


def _is_number_alone(said: Utterance, first: int, last: int, name: str) -> bool:
    whole = is_whole(said, first, last) and is_lone(said, first, last)
    return whole and not _is_part(said, first, last, name)


def _by_ordinal(wanted: Decimal, said: Utterance, name: str) -> Iterator[Sighting]:
    for number in said.lexemes.numbers():
        if number.ordinal and number.value == wanted:
            first, last = number.first, number.last
            if _is_number_alone(said, first, last, name):
                stands = not is_denied(said, first, last)
                yield Sighting(said.span(first, last), 0.9, "number.ordinal", stands)


def _is_part(said: Utterance, first: int, last: int, name: str) -> bool:
    """Whether a number is only part of a date, a time or an amount, and no such part is asked."""
    if not _PARTS.isdisjoint(name.lower().replace("-", "_").split("_")):
        return False
    for lists in (("datetime", "date_lead"), ("money",)):
        for match in said.matches(*lists):
            start, end = match.tokens
            if start <= first and last <= end and (start, end) != (first, last):
                return True
    return False
