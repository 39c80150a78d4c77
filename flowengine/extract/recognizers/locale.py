"""A language and its region: the words, phrases and rules that the recognizers work with.

Everything that belongs to a language is in `locales/<language>.yaml`; a further language is a
further file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from flowengine.errors import FlowError, did_you_mean
from flowengine.extract.recognizers.grammar import Grammar
from flowengine.extract.recognizers.lazy import lazy
from flowengine.extract.recognizers.lexemes import Alphabet, register_numbers
from flowengine.extract.recognizers.lexicon import (
    AnswerWords,
    DenialWords,
    EmailWords,
    NumberWords,
    PostalWords,
    RepairWords,
)
from flowengine.extract.recognizers.numbers import NumberReader
from flowengine.extract.recognizers.phrases import Phrases
from flowengine.extract.recognizers.spelling import Speller
from flowengine.extract.recognizers.template import WORD, literals

RECOGNIZERS_VERSION = 5
"""Counts up with every change of code that may change a result."""

_LOCALES = Path(__file__).parent / "locales"
_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Reads every scalar as text: `no` is a word here, not a boolean."""


def locale_hash() -> str:
    """The sha256 of all locale data and the recognizers' version; the same on every machine."""
    digest = hashlib.sha256(f"recognizers {RECOGNIZERS_VERSION}".encode())
    for path in sorted(_LOCALES.glob("*.yaml")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


class Locale:
    """One language in one region, compiled; shared by everything that reads it."""

    def __init__(self, language: str, region: str) -> None:
        data = _data(language)
        self.name = f"{language}-{region}"
        self.language = language
        self.region: Mapping[str, str] = data["regions"][region]
        self.data = data
        words = data["numbers"]
        self.numbers = NumberWords.of(words)
        self.number_starters = self.numbers.starters()
        self.oh_words = self.numbers.zero_letters
        self.number_heads = self.number_starters | self.oh_words
        self.counted_by_article = self.numbers.counted_by_article()
        self.plain_numbers = {**self.numbers.units, **self.numbers.teens, **self.numbers.tens}
        self.number_parts = self.numbers.parts_of_numbers()
        self.reader = NumberReader(self.numbers)
        self._pronoun = {
            name: frozenset(words.get(f"pronoun{name}", ()))
            for name in ("", "_after", "_before", "_the", "_the_before", "_only", "_leads")
        }
        self.classes = _classes(data)
        self.alphabet = self._alphabet()

    @property
    def day_first(self) -> bool:
        return self.region["order"] == "dmy"

    @lazy
    def datetime_classes(self) -> int:
        """Bits of the classes without one of which nothing is a date or a time."""
        return self.alphabet.bits(
            ("month", "weekday", "relday", "part", "number", "ordinal", "clock", "date", "oh",
             "named_time", "holiday", "holiday_day", "year_word", "unit")
        )  # fmt: skip

    @lazy
    def told_classes(self) -> int:
        """Bits of the classes that make a number beside them a date or a time for certain."""
        return self.alphabet.bits(("month", "meridiem", "clock", "date", "w:m"))

    @lazy
    def digit_classes(self) -> int:
        return self.alphabet.bits(("number", "integer", "ordinal", "clock", "date", "oh"))

    @lazy
    def month_class(self) -> int:
        return self.alphabet.bits(("month",))

    @lazy
    def year_classes(self) -> int:
        return self.alphabet.bits(("year4", "year2", "century"))

    @lazy
    def share_classes(self) -> int:
        return self.alphabet.bits(("percent", "share", "half_word", "w:per", "w:por"))

    @lazy
    def place_classes(self) -> int:
        return self.alphabet.bits(("ordinal", "option_word", "last_word", "w:penultimate"))

    @lazy
    def money_classes(self) -> int:
        """Bits of the classes without one of which nothing is money, unless it was asked for."""
        return self.alphabet.bits(
            ("currency", "symbol", "minor", "code", "singular", "coin", "thousands", "pay",
             "amount_word", "share", "whole", "note", "percent")
        )  # fmt: skip

    @lazy
    def amount_classes(self) -> int:
        return self.money_classes | self.alphabet.bits(("number", "oh"))

    def value(self, name: str, word: str) -> str:
        """What a class says of a word."""
        return self.classes[name][word]

    def grammar(self, *names: str) -> Grammar:
        """The rules of the named lists, in that order."""
        found = self._grammars.get(names)
        if found is None:
            rules = [
                (name, template)
                for part in names
                for rule in self.data["grammars"].get(part, ())
                for name, template in rule.items()
            ]
            found = Grammar(rules, self.alphabet, self.data.get("macros", {}))
            self._grammars[names] = found
        return found

    @lazy
    def _grammars(self) -> dict[tuple[str, ...], Grammar]:
        return {}

    @lazy
    def cues(self) -> Phrases[tuple[tuple[str, str], ...]]:
        """Corrections, negations, hedges, bounds: a phrase may be of several (section, detail)."""
        labels: dict[str, list[tuple[str, str]]] = {}
        for section, entries in self.data["marks"].items():
            grouped = isinstance(entries, dict)
            table = cast("dict[str, list[str]]", entries if grouped else {section: entries})
            for detail, phrases in table.items():
                for phrase in phrases:
                    labels.setdefault(phrase, []).append((section, detail))
        return Phrases((phrase, tuple(found)) for phrase, found in labels.items())

    @lazy
    def quarter_words(self) -> frozenset[str]:
        return frozenset(self.data["numbers"].get("quarters", ()))

    @lazy
    def and_words(self) -> list[list[str]]:
        return [[word] for word in self.numbers.conjunctions]

    @lazy
    def unit_classes(self) -> int:
        return self.alphabet.bits(("unit", "qunit", "spelled", "fortnight_unit"))

    @lazy
    def speller(self) -> Speller:
        return Speller(self)

    @lazy
    def postal_countries(self) -> tuple[str, ...]:
        return tuple(self.region["postal"].split())

    @lazy
    def postal(self) -> PostalWords:
        data = self.data["postal"]
        return PostalWords(frozenset(data["gb_areas"]), data["confused"])

    @lazy
    def email(self) -> EmailWords:
        return EmailWords.of(self.data["email"])

    @lazy
    def language_names(self) -> Mapping[str, str]:
        return self.data["languages"]["names"]

    @lazy
    def language_requests(self) -> Phrases[str]:
        return Phrases[str].of({"request": self.data["languages"]["requests"]})

    @lazy
    def function_words(self) -> frozenset[str]:
        """Words of the grammar of the language: no name is misheard as one of these."""
        return self.fillers | frozenset(self.classes["tail"])

    def day_by_sound(self, word: str) -> int:
        """The day whose name sounds like a word, by the rhyme; 0 for none."""
        if word in self.fillers:
            return 0
        digit = self.speller.homophones.get(word)
        if digit:
            return int(digit)
        rhymes = self._day_rhymes
        ends = (word[-size:] for size in range(len(word), 1, -1))
        return next((rhymes[end] for end in ends if end in rhymes), 0)

    @lazy
    def _day_rhymes(self) -> Mapping[str, int]:
        table = self.data["spelling"].get("day_rhymes", {})
        return {end: int(day) for day, ends in table.items() for end in ends}

    @lazy
    def carriers(self) -> Phrases[str]:
        """What people say around a name: "my name is", "this is"."""
        return Phrases[str].of({"carrier": self.data["carriers"]})

    @lazy
    def yes_no(self) -> Phrases[str]:
        sections = {k: v for k, v in self.data["yes_no"].items() if k != "negated"}
        return Phrases[str].of(sections)

    @lazy
    def yes_no_negated(self) -> Phrases[str]:
        return Phrases[str].of({"negated": self.data["yes_no"]["negated"]})

    @lazy
    def answers(self) -> AnswerWords:
        return AnswerWords.of(self.data)

    @lazy
    def denials(self) -> DenialWords:
        return DenialWords.of(self.data)

    @lazy
    def value_words(self) -> frozenset[str]:
        """Words that are a day or a time by themselves."""
        names = ("weekday", "month", "relday", "named_time", "holiday")
        return frozenset(word for name in names for word in self.classes[name])

    @lazy
    def range_words(self) -> frozenset[str]:
        """What stands between the two ends of a range."""
        return frozenset(self.data.get("range_words", ()))

    @lazy
    def narrowing_words(self) -> frozenset[str]:
        """What stands between a period and its day: "next week, let's say Thursday"."""
        return frozenset(self.data.get("narrowing_words", ()))

    @lazy
    def linking(self) -> Mapping[str, frozenset[str]]:
        """The small words between a name and its number: "the number of people is ten"."""
        return {name: frozenset(words) for name, words in self.data["linking"].items()}

    @lazy
    def repairs(self) -> RepairWords:
        return RepairWords.of(self.data)

    @lazy
    def fillers(self) -> frozenset[str]:
        """Words that say nothing by themselves: an answer may be wrapped in them."""
        return frozenset(self.data["fillers"])

    def is_pronoun(self, words: Sequence[str], i: int) -> bool:
        """ "this one", "the one I told you about", "one of them": a thing, not a number."""
        pronoun = self._pronoun
        if words[i] not in pronoun[""]:
            return False
        before = words[i - 1] if i else ""
        after = words[i + 1] if i + 1 < len(words) else ""
        if before in pronoun["_after"]:
            return True
        if before in pronoun["_the"]:
            if i > 1 and words[i - 2] in pronoun["_only"]:
                return False
            return not after or after in pronoun["_the_before"]
        if after in pronoun["_before"]:
            return True
        ends = not after or after in self.classes["tail"]
        counts = not before or before in pronoun["_leads"] or before in self.number_starters
        return ends and not counts

    def _alphabet(self) -> Alphabet:
        words: dict[str, Any] = {name: list(members) for name, members in self.classes.items()}
        templates = [
            template
            for rules in self.data["grammars"].values()
            for rule in rules
            for template in rule.values()
        ]
        for template in (*templates, *self.data.get("macros", {}).values()):
            for word in literals(template):
                words[WORD + word] = [word]
        alphabet = Alphabet(words)
        register_numbers(alphabet, self.reader, [*self.number_starters, *map(str, range(100))])
        return alphabet


@cache
def _data(language: str) -> Mapping[str, Any]:
    """A language's file; sections it lacks, such as spelling, come from its fallback."""
    data = yaml.load((_LOCALES / f"{language}.yaml").read_text("utf-8"), Loader=_Loader)
    fallback = data.get("fallback")
    return {**_data(fallback), **data} if fallback else data


def _classes(data: Mapping[str, Any]) -> dict[str, Mapping[str, str]]:
    """Word classes; a class that only the fallback has is empty here."""
    classes: dict[str, Mapping[str, str]] = {}
    if "fallback" in data:
        classes = {name: {} for name in _data(data["fallback"])["classes"]}
    for name, members in data["classes"].items():
        classes[name] = members if isinstance(members, dict) else dict.fromkeys(members, "")
    return classes


@cache
def language_votes() -> Mapping[str, Mapping[str, Any]]:
    """Frequent words and requests per language, for telling languages apart."""
    data = _data("_languages")
    votes = {language: frozenset(words) for language, words in data["votes"].items()}
    return {"votes": votes, "requests": data["requests"]}


def languages() -> list[str]:
    return sorted(path.stem for path in _LOCALES.glob("[!_]*.yaml"))


@cache
def locale_of(name: str) -> Locale:
    """The locale "en-US", or a language alone in its default region."""
    language, _, region = name.replace("_", "-").partition("-")
    language = language.lower()
    if language not in languages():
        raise FlowError(
            f"there is no locale {name!r}: the languages are {', '.join(languages())}."
            + did_you_mean(language, languages())
        )
    regions = _data(language)["regions"]
    region = region.upper() or _data(language)["default_region"]
    if region not in regions:
        raise FlowError(
            f"locale {name!r} has an unknown region: {language} has {', '.join(regions)}."
        )
    return Locale(language, region)
