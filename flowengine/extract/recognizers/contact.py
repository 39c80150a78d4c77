"""phone and email: how a caller can be reached."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer, RecognizerError
from flowengine.extract.recognizers.marks import standing
from flowengine.extract.recognizers.options import one_from
from flowengine.extract.recognizers.spelling import Run, Speller
from flowengine.extract.recognizers.text import LONGEST_TEXT, Utterance

_SHORTEST, _LONGEST = 7, 15
_ADDRESS = re.compile(r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,4}[A-Za-z]{2,24}", re.ASCII)
_MOST_SIGNS = 5
_LONGEST_LOCAL = 12
"""Tokens read back from "at"; longer is a sentence, not a name."""


@dataclass(frozen=True, kw_only=True)
class PhoneRecognizer(Recognizer):
    """A telephone number as its digits; `format="e164"` checks it by region and adds the prefix.

    E.164 needs the extra `flowengine[phone]`.
    """

    kind: ClassVar[str] = "phone"
    format: str = "digits"
    region: str | None = None

    def __post_init__(self) -> None:
        one_from(self.kind, "format", self.format, ("digits", "e164"))
        if self.format == "e164":
            _phonenumbers()

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        speller = said.locale.speller
        runs = _without_extension(said.digit_runs, said, speller)
        fitting = [run for run in _regroup(runs) if _SHORTEST <= len(run.chars) <= _LONGEST]
        kept = standing(fitting, said.marks)
        found = [self._recognition(run, said) for run, _ in kept]
        return [one for one in found if one]

    def _recognition(self, run: Run, said: Utterance) -> Recognition | None:
        digits = f"+{run.chars}" if run.plus else run.chars
        region = self.region or said.locale.name.partition("-")[2]
        if self.format == "e164":
            digits = _e164(digits, region)
            if not digits:
                return None
        return Recognition(
            value=digits,
            text=digits,
            span=said.span(run.first, run.last),
            confidence=1.0 if run.sure == len(run.chars) else 0.85,
            rule="phone.spoken",
        )


def _phonenumbers() -> Any:
    try:
        import phonenumbers  # lazy: an optional extra with much data
    except ImportError:
        raise RecognizerError(
            "phone: format e164 needs the package phonenumbers: pip install 'flowengine[phone]'."
        ) from None
    return phonenumbers


def _e164(digits: str, region: str) -> str:
    library = _phonenumbers()
    try:
        number = library.parse(digits, region)
    except library.NumberParseException:
        return ""
    if not library.is_valid_number(number):
        return ""
    return library.format_number(number, library.PhoneNumberFormat.E164)


def _without_extension(runs: list[Run], said: Utterance, speller: Speller) -> list[Run]:
    """ "extension 12" belongs to nobody's number; neither do dates, nor digits among letters."""
    return [
        run
        for run in runs
        if (run.first == 0 or said.words[run.first - 1] not in speller.extension)
        and "date" not in said.shapes[run.first : run.last]
        and not _stuck(said, run)
    ]


def _stuck(said: Utterance, run: Run) -> bool:
    """Whether a letter or a sign touches the digits: "#2002", "E151"."""
    start, end = said.span(run.first, run.last)
    before, after = said.text[start - 1 : start], said.text[end : end + 1]
    written = said.text[start].isdecimal()
    return written and (before.isalpha() or before in tuple("#*=") or after.isalpha())


def _regroup(runs: list[Run]) -> list[Run]:
    """Runs that only a bracket or a word or two keep apart make one number: "(212) 555 0147"."""
    grouped: list[Run] = []
    for run in runs:
        before = grouped[-1] if grouped else None
        if before and run.first - before.last <= 1 and len(before.chars) < _SHORTEST:
            chars, sure = before.chars + run.chars, before.sure + run.sure
            grouped[-1] = Run(before.first, run.last, chars, sure, before.plus)
        else:
            grouped.append(run)
    return grouped


@dataclass(frozen=True, kw_only=True)
class EmailRecognizer(Recognizer):
    """An address, written or said: "john dot smith at g mail dot com"."""

    kind: ClassVar[str] = "email"

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        if "@" in said.text:
            found = [
                _address(match.group(), match.span(), 1.0, "email.written")
                for match in _ADDRESS.finditer(said.text[:LONGEST_TEXT])
            ]
            if found:
                return found
        words = said.locale.email
        if words.at.isdisjoint(said.vocabulary):
            return []
        places = [i for i, word in enumerate(said.words) if word in words.at][-_MOST_SIGNS:]
        spoken = [_spoken(said, at) for at in places]
        return [one for one in spoken if one]


def _address(text: str, span: tuple[int, int], confidence: float, rule: str) -> Recognition:
    value = text.lower().rstrip(".")
    return Recognition(value=value, text=value, span=span, confidence=confidence, rule=rule)


def _spoken(said: Utterance, at: int) -> Recognition | None:
    domain, last = _domain(said, at + 1)
    if not domain:
        return None
    local, first = _local(said, at)
    if not local:
        return None
    return _address(f"{local}@{domain}", said.span(first, last), 0.9, "email.spoken")


def _domain(said: Utterance, i: int) -> tuple[str, int]:
    """Labels joined by "dot"; it must end in a top-level domain."""
    email, words = said.locale.email, said.words
    labels: list[str] = [""]
    complete, last = "", i
    while i < len(words) and len(labels) <= 5 and len(labels[-1]) < 40:
        repaired = email.domains.at(words, i)
        if words[i] in email.dot or (said.breaks[i] == "." and labels[-1]):
            labels.append("")
            if words[i] in email.dot:
                i += 1
                continue
        if repaired:
            labels[-1] += repaired.label
            i = repaired.last
        else:
            labels[-1] += _spelled_out(said, i, i + 1)
            i += 1
        if len(labels) > 1 and labels[-1] in email.top_level and labels[0]:
            complete, last = ".".join(labels), i
            if i >= len(words) or words[i] not in email.dot:
                break
        elif complete:
            break
    labelled = re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", complete)
    return (complete, last) if labelled else ("", i)


def _local(said: Utterance, at: int) -> tuple[str, int]:
    """The name before "at", read backwards until a word that is no part of it."""
    email, words = said.locale.email, said.words
    stop = max(0, at - _LONGEST_LOCAL)
    first = at
    while first > stop:
        noise = next((n for n in _phrases_ending(said, first)), None)
        if noise is not None:
            break
        word = words[first - 1]
        if word in email.stop and not _is_spelled(words, first - 1, at):
            break
        first -= 1
        if said.breaks[first]:
            break
    local = _spelled_out(said, first, at)
    local = local.replace("'", "")
    return (local, first) if re.fullmatch(r"[a-z0-9][a-z0-9._+-]*", local) else ("", first)


def _is_spelled(words: Sequence[str], i: int, at: int) -> bool:
    """Whether a letter stands among letters: the "a" of "a n n a at"."""
    around = [words[j] for j in (i - 1, i + 1) if 0 <= j < at]
    return len(words[i]) == 1 and any(len(word) == 1 for word in around)


def _phrases_ending(said: Utterance, end: int) -> list[int]:
    """Starts of noise ("all lower case") that ends right before a token."""
    noise = said.locale.email.noise
    return [
        start
        for start in range(max(0, end - 3), end)
        if (found := noise.at(said.words, start)) and found.last == end
    ]


def _spelled_out(said: Utterance, first: int, last: int) -> str:
    """Symbols for their names, digits for number words; other words stand for themselves."""
    out, i = "", first
    while i < last:
        symbol = said.locale.email.symbols.get(said.words[i])
        number = None if symbol else said.locale.speller.spoken_number(said, i)
        if number and number.last <= last:
            out, i = out + number.chars, number.last
        else:
            out, i = out + (symbol or said.words[i]), i + 1
    return out
