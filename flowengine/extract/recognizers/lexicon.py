"""Word tables of a locale, read from its file into types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from flowengine.extract.recognizers.phrases import Phrases


@dataclass(frozen=True, slots=True)
class NumberWords:
    """The words a language counts with."""

    decimal_mark: str
    units: Mapping[str, int]
    teens: Mapping[str, int]
    tens: Mapping[str, int]
    tens_links: frozenset[str]
    hundreds: Mapping[str, int]
    hundred_words: Mapping[str, int]
    scales: Mapping[str, int]
    scales_need_count: frozenset[str]
    dozens: Mapping[str, int]
    pairs: Mapping[str, int]
    fractions: Mapping[str, Decimal]
    parts: Mapping[str, Decimal]
    articles: frozenset[str]
    conjunctions: frozenset[str]
    points: frozenset[str]
    minus: frozenset[str]
    of_words: frozenset[str]
    zero_letters: frozenset[str]
    ordinals: Mapping[str, int]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> NumberWords:
        read: dict[str, Any] = {}
        for name in cls.__slots__:
            value = data[name]
            if isinstance(value, dict):
                kind = Decimal if name in ("fractions", "parts") else int
                table = cast("dict[str, str]", value)
                read[name] = {word: kind(amount) for word, amount in table.items()}
            else:
                read[name] = value if isinstance(value, str) else frozenset(value)
        return cls(**read)

    def counted_by_article(self) -> frozenset[str]:
        """Words that make a number of "a": "a hundred", "a couple"."""
        tables = (self.hundreds, self.scales, self.dozens, self.pairs, self.fractions)
        return frozenset(word for table in tables for word in table)

    def parts_of_numbers(self) -> frozenset[str]:
        """Words with which a number may go on, after "seven"."""
        return self.starters() | self.counted_by_article() | self.conjunctions | self.tens_links

    def starters(self) -> frozenset[str]:
        """Words that a number may begin with."""
        maps = (
            self.units, self.teens, self.tens, self.hundreds, self.hundred_words, self.scales,
            self.dozens, self.pairs, self.fractions, self.ordinals,
        )  # fmt: skip
        words = {word for table in maps for word in table}
        return frozenset(words | self.articles | self.points | self.minus | {"-"})


@dataclass(frozen=True, slots=True)
class EmailWords:
    """How the signs of an e-mail address are said."""

    at: frozenset[str]
    dot: frozenset[str]
    symbols: Mapping[str, str]
    top_level: frozenset[str]
    domains: Phrases[str]
    stop: frozenset[str]
    noise: Phrases[str]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> EmailWords:
        return cls(
            at=frozenset(data["at"]),
            dot=frozenset(data["dot"]),
            symbols=data["symbols"],
            top_level=frozenset(data["top_level"]),
            domains=Phrases(data["domains"].items()),
            stop=frozenset(data["stop"]),
            noise=Phrases((phrase, "") for phrase in data["noise"]),
        )


@dataclass(frozen=True, slots=True)
class RepairWords:
    """Small words around values that are taken back, ruled out or changed.

    `links` may stand between a negation and its value, `light` with a "no" between a value and
    the one that replaces it, `change_to` between "change it" and the new value.
    """

    taken_back: frozenset[str]
    links: frozenset[str]
    light: frozenset[str]
    change_to: frozenset[str]
    hesitations: frozenset[str]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> RepairWords:
        taken_back, links = frozenset(data["taken_back"]), frozenset(data["negation_links"])
        return cls(
            taken_back=taken_back,
            links=links,
            light=taken_back | links | frozenset(data.get("light_words", ())),
            change_to=frozenset(data.get("change_to", ())),
            hesitations=frozenset(data.get("hesitations", ())),
        )


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """What may stand around an answer without changing it.

    After a short answer such as "I do" a `tail` may follow ("at the moment"), or a word that begins
    another `clause`. A `question` word before it makes it part of something longer: "what I have".
    `leads` may come first besides fillers: "oh, I do".
    A `governed` word goes with the adjective before it: "good for you", "right here".
    """

    but: frozenset[str]
    plain_openers: frozenset[str]
    refusal_ends: frozenset[str]
    clauses: frozenset[str]
    tails: Phrases[str]
    governed: frozenset[str]
    questions: frozenset[str]
    leads: frozenset[str]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> AnswerWords:
        return cls(
            but=frozenset(data["yes_no_but"]),
            plain_openers=frozenset(data["yes_no_plain_openers"]),
            refusal_ends=frozenset(data["yes_no_clause_words"]),
            clauses=frozenset(data["yes_no_clauses"]),
            tails=Phrases[str].of({"tail": data["yes_no_tails"]}),
            governed=frozenset(data["yes_no_governed"]),
            questions=frozenset(data["yes_no_questions"]),
            leads=frozenset(data["yes_no_leads"]),
        )


@dataclass(frozen=True, slots=True)
class DenialWords:
    """What denies further off: `links` may stand between a denial and what it denies."""

    subjects: Phrases[str]
    links: frozenset[str]
    negators: frozenset[str]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> DenialWords:
        return cls(
            subjects=Phrases[str].of({"subject": data["denying_subjects"]}),
            links=frozenset(data["denial_links"]),
            negators=frozenset(data["yes_no"]["negators"]),
        )


@dataclass(frozen=True, slots=True)
class PostalWords:
    """What is known of postal codes: British areas, and letters taken for each other."""

    gb_areas: frozenset[str]
    confused: Mapping[str, str]
