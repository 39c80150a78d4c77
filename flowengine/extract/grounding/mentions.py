"""Where words stand in what a caller said, whole, and whether the caller stands by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flowengine.extract.grounding.plain import fold
from flowengine.extract.recognizers import Utterance

_JOINERS = "-'\u2019_/.@:&+"
_SIGNS = "+#*@_"
_DENYING = ("negators", "no_end")
_REACH = 2
"""Words between a "don't" and what it still denies: "don't need the lisinopril"."""


class Terms(NamedTuple):
    """Words made comparable; term k stands at tokens `first[k]` up to `last[k]`."""

    words: Sequence[str]
    first: Sequence[int]
    last: Sequence[int]


def terms(said: Utterance, numbers: bool) -> Terms:
    """The words without case and accents; with `numbers` "five hundred" and "500" are one term."""
    key = "terms", numbers
    found = said.memo.get(key)
    if found is None:
        found = said.memo[key] = _collapsed(said) if numbers else _plain(said)
    return found


def _plain(said: Utterance) -> Terms:
    size = len(said)
    return Terms([fold(word) for word in said.words], range(size), range(1, size + 1))


def _collapsed(said: Utterance) -> Terms:
    words: list[str] = []
    firsts: list[int] = []
    lasts: list[int] = []
    lexemes = said.lexemes
    for number, first, last in zip(lexemes.number, lexemes.first, lexemes.last, strict=True):
        if first == last:
            continue  # punctuation
        if number is None:
            words.append(fold(said.words[first]))
        else:
            digits = number.raw if number.raw and number.raw.startswith("0") else number.value
            words.append(f"{digits}{'th' if number.ordinal else ''}")
        firsts.append(first)
        lasts.append(last)
    return Terms(words, firsts, lasts)


def find(wanted: Sequence[str], there: Terms) -> Iterator[tuple[int, int]]:
    """The tokens of every place where all the terms stand in a row."""
    size = len(wanted)
    words, head = there.words, wanted[0]
    for k in range(len(words) - size + 1):
        if words[k] == head and all(words[k + n] == wanted[n] for n in range(1, size)):
            yield there.first[k], there.last[k + size - 1]


def is_whole(said: Utterance, first: int, last: int) -> bool:
    """Whether tokens are not part of something longer: "12" in "-12", "Ann" in "Ann-Marie"."""
    start, end = said.span(first, last)
    text = said.text
    before, after = text[start - 1 : start], text[end : end + 1]
    if before.isalnum() or after.isalnum() or (after and after in _SIGNS):
        return False
    if before and before in _JOINERS:
        touches = text[start - 2 : start - 1].isalnum() if start > 1 else False
        if touches or (before in "-+" and text[start].isdigit()):
            return False
    return not (after and after in _JOINERS and text[end + 1 : end + 2].isalnum())


def is_lone(said: Utterance, first: int, last: int) -> bool:
    """Whether no other number touches these tokens: not the "two" of "one two three"."""
    numeric = _numeric(said)
    before = first - 1 in numeric and not said.breaks[first]
    after = last in numeric and not said.breaks[last]
    return not (before and first in numeric) and not (after and last - 1 in numeric)


def _numeric(said: Utterance) -> frozenset[int]:
    """The tokens of numbers."""
    found = said.memo.get("numeric")
    if found is None:
        lexemes = said.lexemes
        found = said.memo["numeric"] = frozenset(
            token
            for number, first, last in zip(lexemes.number, lexemes.first, lexemes.last, strict=True)
            if number is not None
            for token in range(first, last)
        )
    return found


def is_denied(said: Utterance, first: int, last: int, *, read: bool = False) -> bool:
    """ "not the lisinopril", "I don't take lisinopril", "Friday doesn't work".

    `read`: recognizers have read the words; what "not" and its like rule out they have left out.
    """
    marks = said.marks
    if marks.negations and (marks.negated(first) or _begins_inside(said, first)):
        return True
    if marks.refused(last) or _refused_after(said, last):
        return True
    judged = {mark.last - 1 for mark in marks.negations} if read else ()
    return any(_denies(said, at, first) for at in _deniers(said) if at not in judged)


def _begins_inside(said: Utterance, first: int) -> bool:
    """ "want the loan", cut out of "don't want the loan"."""
    return any(mark.first < first < mark.last for mark in said.marks.negations)


def _deniers(said: Utterance) -> list[int]:
    """Tokens that deny what follows, such as "don't"; not those of "not only", "I don't know"."""
    found = said.memo.get("deniers")
    if found is None:
        starts, words = said.locale.yes_no.starts, said.words
        refusals = [mark.last - 1 for mark in said.marks.negations if mark.last - mark.first > 1]
        negators = said.locale.denials.negators
        words_of_denial = [
            at
            for at, word in enumerate(words)
            if word in starts and (word in negators or sign_of(said, word) in _DENYING)
        ]
        excused = _excused(said) if words_of_denial else frozenset[int]()
        deniers = {at for at in words_of_denial if at not in excused}
        found = said.memo["deniers"] = sorted({*refusals, *deniers})
    return found


def _excused(said: Utterance) -> frozenset[int]:
    """Tokens of phrases that hold a "not", yet deny nothing."""
    signs = said.locale.yes_no.find(said.words)
    spans = [(sign.first, sign.last) for sign in signs if sign.label not in (*_DENYING, "no")]
    spans += _cued(said, "not_negators")
    return frozenset(at for first, last in spans for at in range(first, last))


def sign_of(said: Utterance, word: str) -> str:
    """What a word alone is among the signs of yes and no; "" for none."""
    found = said.locale.yes_no.at((word,), 0)
    return found.label if found else ""


def is_disowned(said: Utterance, first: int) -> bool:
    """ "I never said that I agreed", "no way I agree": a denial further off, with nothing but such
    words between."""
    locale, before = said.locale, said.words[:first]
    refusals = [
        found.last - 1
        for found in locale.yes_no.find(before)
        if found.label == "no" and found.last - found.first > 1
    ]
    subjects = [found.last - 1 for found in locale.denials.subjects.find(before)]
    return any(
        at < first and locale.denials.links.issuperset(said.words[at + 1 : first])
        for at in (*_deniers(said), *refusals, *subjects)
        if not _is_apart(said, at, first)
    )


def _denies(said: Utterance, at: int, first: int) -> bool:
    """Whether a denial reaches the token `first`: near enough, with no "but" or stop between."""
    return at < first <= at + _REACH + 1 and not _is_apart(said, at, first)


def _is_apart(said: Utterance, at: int, first: int) -> bool:
    if any(said.breaks[at + 1 : first + 1]):
        return True
    return any(at < other <= first for other, _ in _cued(said, "contrasts"))


def _cued(said: Utterance, section: str) -> list[tuple[int, int]]:
    """Where the phrases of one section of the locale's cues stand."""
    return [
        (first, last)
        for first, last, labels in said.locale.cues.find(said.words)
        if any(name == section for name, _ in labels)
    ]


def _refused_after(said: Utterance, last: int) -> bool:
    """A refusal of two words or more right after the words."""
    if last >= len(said) or said.breaks[last]:
        return False
    locale, words = said.locale, said.words
    found = locale.yes_no.at(words, last)
    if found is None:
        return False
    end = found.last
    if found.label == "no":
        return end - last > 1
    if found.label == "no_end":
        return end - last > 1 and (end == len(words) or bool(said.breaks[end]))
    if found.label == "negators" and end < len(words) and not said.breaks[end]:
        return locale.yes_no_negated.at(words, end) is not None
    return False


def is_taken_back(said: Utterance, first: int, last: int) -> bool:
    """ "Ann, no wait, Joan", "from Ann to Joan": something about as short stands in its place."""
    words, size = said.words, last - first
    refused = last + 1 < len(words) and words[last] in said.locale.data["taken_back"]
    if refused and _is_short(said, last + 1, size):
        return True
    if last + 1 in said.marks.new_values and last + 1 not in _numeric(said):
        return True
    return any(
        last <= mark.first <= last + 1
        and mark.last < len(words)
        and _is_short(said, mark.last, size, said.breaks[mark.first] == ".")
        for mark in said.marks.corrections
    )


def _is_short(said: Utterance, start: int, size: int, strictly: bool = False) -> bool:
    """Whether the clause from `start` on may stand in for `size` words; of a new sentence every
    word counts, as in "Jane. Sorry, I have a cold."."""
    end = start + 1
    while end < len(said) and not said.breaks[end]:
        end += 1
    cues = {at for mark in said.marks.corrections for at in range(mark.first, mark.last)}
    skipped = frozenset[str]() if strictly else said.locale.function_words
    left = sum(said.words[at] not in skipped for at in range(start, end) if at not in cues)
    return 0 < left <= size + 1
