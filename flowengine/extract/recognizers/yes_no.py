"""yes_no: consent and refusal; unsure is no answer at all."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer
from flowengine.extract.recognizers.text import Utterance

_CONFIDENCE = {"plain": 0.95, "soft": 0.6, "acoustic": 0.7, "closing": 0.6, "change": 0.5}
_UNSURE = 0.5
_POLAR = {
    "yes": (True, "plain"),
    "yes_phrase": (True, "plain"),
    "opener_yes": (True, "plain"),
    "yes_end": (True, "plain"),
    "yes_last": (True, "plain"),
    "yes_adverb": (True, "plain"),
    "yes_alone": (True, "plain"),
    "soft_yes": (True, "soft"),
    "acoustic_yes": (True, "acoustic"),
    "no": (False, "plain"),
    "no_end": (False, "plain"),
    "acoustic_no": (False, "acoustic"),
    "waver": (False, "plain"),
}
_WEAK = {"closing": "closing", "change": "change", "change_opener": "change"}


class _Sign(NamedTuple):
    """A phrase that speaks for yes (True) or no (False), at tokens `first` up to `last`."""

    answer: bool
    force: str
    first: int
    last: int
    label: str


@dataclass(frozen=True, kw_only=True)
class YesNoRecognizer(Recognizer):
    """True, False, or nothing when the caller is unsure or says neither.

    Where another question was asked, "that's all" and "change it" do not count as refusals. A "no"
    that only takes back another value, as in "no wait, five", answers nothing.
    """

    kind: ClassVar[str] = "yes_no"

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        signs, unsure, weak = _signs(said)
        if signs:
            sign = _decisive(signs, said)
            if _takes_back(sign, said, context.focus is not False):
                return []
            sign, doubt = _after_but(sign, signs, said), unsure
        elif weak and not unsure and context.focus is not False:
            sign = weak[0]
            doubt = False
        else:
            return []
        confidence = _CONFIDENCE[sign.force]
        return [
            Recognition(
                value=sign.answer,
                text="yes" if sign.answer else "no",
                span=said.span(sign.first, sign.last),
                confidence=min(confidence, _UNSURE) if doubt else confidence,
                rule=f"yes_no.{sign.label}",
                ambiguous=sign.force != "plain" or doubt,
            )
        ]


def _signs(said: Utterance) -> tuple[list[_Sign], bool, list[_Sign]]:
    """The polar phrases, whether the caller is unsure, and the weak refusals."""
    signs: list[_Sign] = []
    weak: list[_Sign] = []
    unsure = False
    words, table = said.words, said.locale.yes_no
    starts, i = table.starts, 0
    while i < len(words):
        found = table.at(words, i) if words[i] in starts else None
        if found is None:
            i += 1
            continue
        label, first, last = found.label, found.first, found.last
        if label == "negators":
            last = _negated_agreement(said, last)
            if last:
                signs.append(_Sign(False, "plain", first, last, "negated"))
        elif label == "unsure":
            unsure = True
        elif label in _WEAK:
            alone = label != "closing" or last - first > 1 or _ends_clause(said, last)
            if alone and (label != "change_opener" or _opens(said, first)):
                weak.append(_Sign(False, _WEAK[label], first, last, label))
        elif label in _POLAR:
            if _counts(said, label, first, last):
                signs.append(_Sign(*_POLAR[label], first, last, label))
            else:
                last = 0  # a shorter phrase may begin inside this one
        i = last or first + 1
    return signs, unsure, weak


def _negated_agreement(said: Utterance, at: int) -> int:
    """The token after "right" in "not quite right", or after a last "not"; else 0."""
    table = said.locale.yes_no_negated
    if _ends_clause(said, at):
        return at
    for start in range(at, min(at + 3, len(said))):
        if said.breaks[start]:
            return 0
        found = table.at(said.words, start)
        if found and _ends_clause(said, found.last):
            return found.last
    return 0


def _counts(said: Utterance, label: str, first: int, last: int) -> bool:
    if label == "opener_yes":
        return _opens(said, first) and (last == len(said) or _may_open(said, first, last))
    if label == "yes_end":
        return _answers(said, first) and _is_over(said, last)
    if label == "yes_last":
        return _is_over(said, last)
    if label == "yes_adverb":
        return _stands_beside(said, first) and _is_over(said, _agreement(said, last))
    if label == "yes_alone":
        return _opens(said, first) and _tail(said, last) == len(said)
    if label == "no_end":
        return _ends_clause(said, last)
    if label == "no" and last == first + 1:
        return _stands_alone(said, first)
    return True


def _stands_alone(said: Utterance, at: int) -> bool:
    """ "no" before a noun is a quantity: "a hotel with no restrictions"."""
    if at == 0 or said.breaks[at] or _ends_clause(said, at + 1):
        return True
    before = said.words[at - 1]
    return before in said.locale.fillers or said.locale.yes_no.at(said.words, at - 1) is not None


def _may_open(said: Utterance, first: int, last: int) -> bool:
    """ "good one" and "good for you" describe; "good, do it" and "okay so" agree."""
    answers = said.locale.answers
    if said.breaks[last] or said.words[first] in answers.plain_openers or _is_over(said, last):
        return True
    return _is_function(said, last) and said.words[last] not in answers.governed


def _opens(said: Utterance, first: int) -> bool:
    return all(_leads(said, word) for word in said.words[:first])


def _leads(said: Utterance, word: str) -> bool:
    return word in said.locale.fillers or word in said.locale.answers.leads


def _answers(said: Utterance, first: int) -> bool:
    """ "well, I do" answers; "what I do" is part of something longer."""
    return _opens(said, first) and said.locale.answers.questions.isdisjoint(said.words[:first])


def _stands_beside(said: Utterance, first: int) -> bool:
    """ "oh, well, definitely" stands beside a clause, and "when is it exactly" in one."""
    questions = said.locale.answers.questions
    while first and not said.breaks[first]:
        first -= 1
        word = said.words[first]
        if word in questions or not _leads(said, word):
            return False
    return True


def _agreement(said: Utterance, at: int) -> int:
    """The token after "fine" in "absolutely fine"; else `at` itself."""
    goes_on = at < len(said) and not said.breaks[at]
    found = said.locale.yes_no_negated.at(said.words, at) if goes_on else None
    return found.last if found else at


def _is_over(said: Utterance, last: int) -> bool:
    """Whether the sentence of a short answer ends: "I do at the moment", "I have and I will".

    It goes on in "I have it here", "it is for Ann", "I would really like one".
    """
    at = _tail(said, last, within=True)
    return at == len(said) or bool(said.breaks[at]) or said.words[at] in said.locale.answers.clauses


def _tail(said: Utterance, at: int, *, within: bool = False) -> int:
    """The token after all that may be added to an answer; `within` its own sentence."""
    tails = said.locale.answers.tails
    while at < len(said) and not (within and said.breaks[at]):
        found = tails.at(said.words, at)
        if found is None:
            break
        at = found.last
    return at


def _is_function(said: Utterance, at: int) -> bool:
    return said.words[at] in said.locale.classes["tail"] or said.words[at] in said.locale.fillers


def _ends_clause(said: Utterance, last: int) -> bool:
    return last == len(said) or bool(said.breaks[last]) or _is_clause_word(said, last)


def _is_clause_word(said: Utterance, at: int) -> bool:
    return said.words[at] in said.locale.answers.refusal_ends


def _decisive(signs: Sequence[_Sign], said: Utterance) -> _Sign:
    """The first sign, unless the caller takes it back: then the last."""
    first = signs[0]
    for before, after in itertools.pairwise(signs):
        cues = said.marks.corrections
        if any(before.last <= cue.first <= after.first for cue in cues):
            return signs[-1]
        if before.label == "waver" and after.first == before.last:
            return after  # "yeah no that's fine"
    for mark in said.marks.corrections:
        later = [sign for sign in signs if sign.first >= mark.last]
        if mark.first <= first.first < mark.last and later:
            return later[-1]  # "no wait yes": the cue itself holds the first sign
    if first.force == "soft":
        plain = [sign for sign in signs if sign.force == "plain"]
        return plain[0] if plain else first
    return first


def _takes_back(sign: _Sign, said: Utterance, asked: bool) -> bool:
    """Whether a "no" belongs to the correction of another value and is no answer.

    "Three, no, four" and "no wait, five" always are corrections. "No, actually five" is one
    where another question was put; else it refuses, and gives the reason.
    """
    words, repairs, values = said.words, said.locale.repairs, said.value_places
    if not repairs.taken_back.issuperset(words[sign.first : sign.last]):
        return False
    if sign.first - 1 in values and sign.last in values:
        return True
    for cue in said.marks.corrections:
        belongs = cue.first <= sign.first < cue.last or cue.first == sign.last
        if belongs and any(cue.last <= at <= cue.last + 2 for at in values):
            pauses = not repairs.hesitations.isdisjoint(words[cue.first : cue.last])
            if pauses or not asked:
                return True
    return False


def _after_but(sign: _Sign, signs: Sequence[_Sign], said: Utterance) -> _Sign:
    """ "yes but not today" is a refusal: what follows "but" decides."""
    for at in said.marks.apart:
        if at >= sign.last and said.words[at] in said.locale.answers.but:
            later = [other for other in signs if other.first > at]
            if later and sign.answer:
                return later[-1]
    return sign
