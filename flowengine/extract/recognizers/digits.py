"""digits and letters: account numbers, card numbers, codes and spelled words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer, RecognizerError
from flowengine.extract.recognizers.marks import standing
from flowengine.extract.recognizers.options import one_from
from flowengine.extract.recognizers.spelling import Run, joined
from flowengine.extract.recognizers.text import Utterance

_HEDGED, _GUESSED = 0.8, 0.85


@dataclass(frozen=True, kw_only=True)
class DigitsRecognizer(Recognizer):
    """A string of digits: "double five oh", "thirty three forty four"; the longest run first.

    `length` is a number of digits or a list of them; `checksum="luhn"` refuses what a payment
    card cannot be.
    """

    kind: ClassVar[str] = "digits"
    positional: ClassVar[str | None] = "length"
    length: Any = None
    checksum: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", lengths(self.kind, self.length))
        one_from(self.kind, "checksum", self.checksum or "luhn", ("luhn",))

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        runs = said.digit_runs
        kept = standing(runs, said.marks)
        whole = [run for run, _ in kept]
        if self.length:
            whole = [run for run in joined(whole, said) if len(run.chars) in self.length]
        valid = [run for run in whole if self.checksum is None or luhn(run.chars)]
        valid.sort(key=lambda run: -len(run.chars))
        superseded = tuple(old.chars for _, earlier in kept for old in earlier)
        return [_recognition(self.kind, run, said, superseded) for run in valid]


@dataclass(frozen=True, kw_only=True)
class LettersRecognizer(Recognizer):
    """Letters and digits spelled out, by name, sound, NATO word or example: "b as in boy"."""

    kind: ClassVar[str] = "letters"
    positional: ClassVar[str | None] = "length"
    length: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", lengths(self.kind, self.length))

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        runs = [
            run
            for run in said.locale.speller.letter_runs(said)
            if context.focus or (len(run.chars) > 1 and run.sure * 2 >= len(run.chars))
        ]
        kept = standing(runs, said.marks)
        whole = [run for run, _ in kept]
        if self.length:
            whole = [run for run in joined(whole, said) if len(run.chars) in self.length]
        whole.sort(key=lambda run: -len(run.chars))
        superseded = tuple(old.chars for _, earlier in kept for old in earlier)
        return [_recognition(self.kind, run, said, superseded) for run in whole]


def lengths(kind: str, given: Any) -> tuple[int, ...]:
    """One length or several as a tuple; empty for any."""
    if given is None:
        return ()
    several: Sequence[Any] = [given] if isinstance(given, int) else given
    if isinstance(several, str) or not all(isinstance(n, int) and n > 0 for n in several):
        raise RecognizerError(f"{kind}: length is a number, or a list of numbers, not {given!r}.")
    return tuple(several)


def luhn(digits: str) -> bool:
    """The check digit of payment cards."""
    total = 0
    for place, char in enumerate(reversed(digits)):
        digit = int(char) * (1 + place % 2)
        total += digit - 9 if digit > 9 else digit
    return bool(digits) and total % 10 == 0


def _recognition(kind: str, run: Run, said: Utterance, superseded: tuple[str, ...]) -> Recognition:
    guessed = run.sure < len(run.chars)
    confidence = (_GUESSED if guessed else 1.0) * (_HEDGED if said.marks.hedged() else 1.0)
    return Recognition(
        value=run.chars,
        text=run.chars,
        span=said.span(run.first, run.last),
        confidence=round(confidence, 3),
        rule=f"{kind}.{'homophones' if guessed else 'spoken'}",
        superseded=superseded,
    )
