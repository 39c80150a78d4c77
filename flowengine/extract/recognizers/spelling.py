"""Digits and letters as callers spell them: the reader behind digits, letters, phone, postcode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowengine.extract.recognizers.phrases import Phrases

if TYPE_CHECKING:
    from flowengine.extract.recognizers.locale import Locale
    from flowengine.extract.recognizers.text import Utterance


@dataclass(slots=True)
class Run:
    """Characters spelled at tokens `first` up to `last`; `sure` were said unmistakably."""

    first: int
    last: int
    chars: str
    sure: int = 0
    plus: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """What one or more tokens spell; nothing for a filler, which a run may hold inside."""

    last: int
    chars: str
    sure: bool


class Speller:
    """A locale's spelling words, compiled."""

    def __init__(self, locale: Locale) -> None:
        data = locale.data["spelling"]
        self.numbers = locale.numbers
        self.digits: dict[str, str] = dict(data["digits"])
        self.homophones: dict[str, str] = data["homophones"]
        self.repeats = {word: int(times) for word, times in data["repeats"].items()}
        self.zero_letters = frozenset[str](data["zero_letters"])
        self.nato: dict[str, str] = data["nato"]
        self.letters: dict[str, str] = data["letters"]
        self.sounds: dict[str, str] = data["sounds"]
        self.multi = Phrases(
            [*((p, "W") for p in data["doubles"]), *((p, "X") for p in data["xray"])]
        )
        self.like = Phrases((phrase, "") for phrase in data["like"])
        self.dash = frozenset[str](data["dash"])
        self.skip = Phrases((phrase, "") for phrase in data["skip"])
        self.counts = Phrases((phrase, "") for phrase in data["counts"])
        self.extension = frozenset[str](data["extension"])
        small = locale.numbers
        self.postal_starters = frozenset(
            [*self.nato, *self.letters, *self.sounds, *self.homophones, *self.repeats, *self.digits,
             *small.units, *small.teens, *small.tens]
        )  # fmt: skip
        self.digit_starters = frozenset(
            [*self.digits, *self.repeats, *self.zero_letters, *small.units, *small.teens,
             *small.tens]
        )  # fmt: skip
        self.only_here = frozenset(self.digits)
        """Words for digits that are no number words."""
        alphabet = set("bcdefghjklmnopqrstuvwxyz")  # "a" and "i" are words
        self.sure_letters = frozenset([*self.nato, *self.letters, *self.repeats, *alphabet])
        self.letter_signs = self.sure_letters | frozenset(data["letter_leads"])
        for word, value in small.units.items():
            self.digits.setdefault(word, str(value))

    # Digits

    def digit_runs(self, said: Utterance) -> list[Run]:
        """Runs of digits; homophones ("to", "for") count inside a run, or where all is digits."""
        if (
            not said.lexemes.mask & said.locale.digit_classes
            and not self.only_here & said.vocabulary
        ):
            return []
        every = all(self._is_digit_like(said, i) for i in range(len(said)))
        starters, words, shapes = self.digit_starters, said.words, said.shapes
        runs: list[Run] = []
        run: Run | None = None
        i, n = 0, len(said)
        while i < n:
            idle = run is None and words[i] not in starters and shapes[i] == "word" and not every
            piece = None if idle else self._digit_piece(said, i, run is not None, every)
            if piece is None:
                run = None
                i += 1
                continue
            if piece.chars:
                if run is None:
                    run = Run(i, piece.last, "")
                    run.plus = i > 0 and said.words[i - 1] in ("+", "plus")
                    runs.append(run)
                run.chars += piece.chars
                run.last = piece.last
                run.sure += len(piece.chars) * piece.sure
            i = piece.last
        return runs

    def _is_digit_like(self, said: Utterance, i: int) -> bool:
        word = said.words[i]
        return (
            said.shapes[i] == "number"
            or word in self.digits
            or word in self.zero_letters
            or word in self.homophones
        )

    def _digit_piece(self, said: Utterance, i: int, inside: bool, every: bool) -> Piece | None:
        words, word = said.words, said.words[i]
        if word in self.counts.starts and self.counts.at(words, i):
            return None
        if word in self.repeats and i + 1 < len(words):
            times = self.repeats[word]
            nxt = self._one_digit(said, i + 1)
            return Piece(i + 2, nxt * times, True) if nxt else None
        if said.shapes[i] in ("number", "date", "clock", "ordinal"):
            if said.shapes[i] == "ordinal":
                return None
            return Piece(i + 1, "".join(c for c in word if c.isdecimal()), True)
        spoken = self.spoken_number(said, i)
        if spoken:
            return spoken
        if word in self.zero_letters and (inside or self._digit_follows(said, i)):
            return Piece(i + 1, "0", True)
        if word in self.homophones and (every or (inside and self._digit_follows(said, i))):
            return Piece(i + 1, self.homophones[word], False)
        if inside:
            return self._filler(said, i)
        return None

    def _filler(self, said: Utterance, i: int) -> Piece | None:
        if said.words[i] in self.dash or said.words[i] in "+-/":
            return Piece(i + 1, "", False)
        skipped = self.skip.at(said.words, i)
        return Piece(skipped.last, "", False) if skipped else None

    def _one_digit(self, said: Utterance, i: int) -> str:
        word = said.words[i]
        if word in self.zero_letters:
            return "0"
        if said.shapes[i] == "number" and len(word) == 1:
            return word
        return self.digits.get(word, "")

    def _digit_follows(self, said: Utterance, i: int) -> bool:
        for at in range(i + 1, min(i + 3, len(said))):
            word = said.words[at]
            if self._is_sure_digit(said, at) or word in self.repeats:
                return True
            if word not in self.homophones and word not in self.zero_letters:
                return False
        return False

    def _is_sure_digit(self, said: Utterance, i: int) -> bool:
        word = said.words[i]
        small = self.numbers
        known = word in self.digits or word in small.teens or word in small.tens
        return known or said.shapes[i] == "number"

    def spoken_number(self, said: Utterance, i: int) -> Piece | None:
        """ "seven", "thirty three", "eight hundred", "four hundred twelve"."""
        words, small = said.words, self.numbers
        word = words[i]
        chars, last = "", i + 1
        following = words[i + 1] if i + 1 < len(words) else ""
        if word in self.digits:
            chars = self.digits[word]
        elif word in small.teens:
            chars = str(small.teens[word])
        elif word in small.tens:
            unit = small.units.get(following, 0)
            chars, last = str(small.tens[word] + unit), i + (2 if unit else 1)
        if not chars:
            return None
        following = words[last] if last < len(words) else ""
        if following in small.hundreds:
            return self._after_hundred(said, chars, last + 1)
        if following in small.scales and following not in small.scales_need_count:
            whole = next((n for n in said.lexemes.numbers() if n.first == i), None)
            if whole and whole.last > last + 1 and not self._digit_follows(said, whole.last - 1):
                return Piece(whole.last, str(whole.value), True)  # "four thousand two hundred"
            return Piece(last + 1, str(int(chars) * small.scales[following]), True)
        return Piece(last, chars, True)

    def _after_hundred(self, said: Utterance, chars: str, last: int) -> Piece:
        """ "four hundred twelve" is 412; "eight hundred five five five" is 800 555."""
        small, words = self.numbers, said.words
        word = words[last] if last < len(words) else ""
        if word in small.units and not self._digit_follows(said, last):
            return Piece(last + 1, f"{chars}0{small.units[word]}", True)
        if word in small.teens:
            return Piece(last + 1, chars + str(small.teens[word]), True)
        if word in small.tens:
            unit = small.units.get(words[last + 1], 0) if last + 1 < len(words) else 0
            return Piece(last + (2 if unit else 1), chars + str(small.tens[word] + unit), True)
        return Piece(last, chars + "00", True)

    # Letters

    def letter_runs(self, said: Utterance) -> list[Run]:
        """Runs of letters and digits; words that only sound like a letter count among others."""
        if not said.vocabulary & self.letter_signs:
            return []
        runs: list[Run] = []
        run: Run | None = None
        i = 0
        while i < len(said):
            piece = self._letter_piece(said, i, run is not None)
            if piece is None:
                run = None
                i += 1
                continue
            if piece.chars:
                if run is None:
                    run = Run(i, piece.last, "")
                    runs.append(run)
                run.chars += piece.chars
                run.last = piece.last
                run.sure += len(piece.chars) * piece.sure
            i = piece.last
        return [run for run in runs if run.sure]

    def _letter_piece(self, said: Utterance, i: int, inside: bool) -> Piece | None:
        words, word = said.words, said.words[i]
        multi = self.multi.at(words, i)
        if multi:
            return Piece(multi.last, multi.label, True)
        letter = self.sure_letter(said, i)
        if letter:
            return Piece(self.after_example(said, i + 1, letter), letter, True)
        if word in self.dash and inside:
            return Piece(i + 1, "-", False)
        if word in self.repeats and i + 1 < len(words):
            nxt = self.sure_letter(said, i + 1) or self._one_digit(said, i + 1)
            if nxt:
                return Piece(i + 2, nxt * self.repeats[word], True)
        if word == "oh":
            return Piece(i + 1, "0", True) if inside else None
        digits = self._digit_piece(said, i, inside=False, every=False)
        if digits:
            return digits
        if not inside and word in said.locale.fillers:
            return None  # "it's j o h n"
        if word in self.sounds and len(self.sounds[word]) == 1:
            last = self.after_example(said, i + 1, self.sounds[word])
            return Piece(last, self.sounds[word], last > i + 1)
        skipped = self.skip.at(words, i)
        return Piece(skipped.last, "", False) if skipped and (inside or i == 0) else None

    def sure_letter(self, said: Utterance, i: int) -> str:
        word = said.words[i]
        if len(word) == 1 and word.isalpha():
            return word.upper()
        return self.nato.get(word) or self.letters.get(word, "")

    def after_example(self, said: Utterance, i: int, letter: str) -> int:
        """The token after "as in boy", where the example begins with the letter."""
        link = self.like.at(said.words, i) if i < len(said) else None
        if link and link.last < len(said):
            named = self.multi.at(said.words, link.last)
            if named and named.label == letter:
                return named.last
            example = said.words[link.last]
            if len(example) > 1 and example[0].upper() == letter and example not in self.digits:
                return link.last + 1
        return i


def joined(runs: Sequence[Run], said: Utterance) -> Iterator[Run]:
    """Each run, and neighbours put together: callers pause inside a number."""
    for start in range(len(runs)):
        chars, sure = "", 0
        for end in range(start, min(len(runs), start + 6)):
            if end > start and not _is_pause(said, runs[end - 1].last, runs[end].first):
                break
            chars += runs[end].chars
            sure += runs[end].sure
            yield Run(runs[start].first, runs[end].last, chars, sure, runs[start].plus)


def _is_pause(said: Utterance, first: int, last: int) -> bool:
    """Whether nothing is said between two runs: "12 and then 34" is one number, "12 or 34" two."""
    fillers, skip = said.locale.fillers, said.locale.speller.skip
    return all(said.words[at] in fillers or skip.at(said.words, at) for at in range(first, last))
