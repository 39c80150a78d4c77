"""duration and quantity: how long, and how much of something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer
from flowengine.extract.recognizers.grammar import Match
from flowengine.extract.recognizers.marks import standing
from flowengine.extract.recognizers.numbers import Exact, plain
from flowengine.extract.recognizers.text import Utterance

_HALF, _HEDGED = Decimal("0.5"), 0.8
_FINER = {
    "Y": ("MO", 12),
    "MO": ("D", 30),
    "W": ("D", 7),
    "D": ("H", 24),
    "H": ("M", 60),
    "M": ("S", 60),
}
"""A unit's next finer one, and how many of it."""
_LETTER = {"Y": "Y", "MO": "M", "W": "W", "D": "D", "H": "H", "M": "M", "S": "S"}
_SAME = {"FN": ("W", 2), "WE": ("D", 2), "DEC": ("Y", 10)}


@dataclass(slots=True)
class _Said:
    """A match with its value, at tokens `first` up to `last`."""

    match: Match
    value: str
    amount: Exact
    unit: str

    @property
    def first(self) -> int:
        return self.match.tokens[0]

    @property
    def last(self) -> int:
        return self.match.tokens[1]


@dataclass(frozen=True, kw_only=True)
class DurationRecognizer(Recognizer):
    """A length of time in ISO 8601: "two weeks" is P2W, "an hour and a half" PT90M."""

    kind: ClassVar[str] = "duration"

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        if not said.lexemes.mask & said.locale.unit_classes:
            return []
        return _read(said, "duration", _duration)


@dataclass(frozen=True, kw_only=True)
class QuantityRecognizer(Recognizer):
    """An amount with its unit: "two puffs" is "2 puff"; `parts` hold amount and unit."""

    kind: ClassVar[str] = "quantity"

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        if not said.lexemes.mask & said.locale.unit_classes:
            return []
        return _read(said, "quantity", _quantity)


def _read(
    said: Utterance,
    grammar: str,
    value: Callable[[Match, Utterance], tuple[str, Exact, str] | None],
) -> list[Recognition]:
    found: list[_Said] = []
    for match in said.matches(grammar):
        read = value(match, said)
        if read:
            found.append(_Said(match, *read))
    marks = said.marks
    return [
        Recognition(
            value=one.value,
            text=one.value,
            span=said.span(one.first, one.last),
            confidence=_HEDGED if marks.hedged() else 1.0,
            rule=one.match.rule,
            superseded=tuple(old.value for old in earlier),
            approximate=marks.approximate(one.first, one.last),
            bound=marks.bound(one.first),
            unit=one.unit,
            parts={"amount": plain(one.amount), "unit": one.unit},
        )
        for one, earlier in standing(found, marks)
    ]


def _duration(match: Match, said: Utterance) -> tuple[str, Exact, str] | None:
    name = match.rule.partition(".")[2]
    locale = said.locale
    unit = locale.value("unit", match.word("unit"))
    count = match.value("count", 1)
    if name == "half":
        count += _HALF / 2 if match.word("quarter") == "quarter" else _HALF
    elif name in ("quarters", "fraction"):
        quarter = Decimal(locale.value("fraction", match.word("quarter") or "quarter")) / 60
        count = quarter if name == "fraction" else count * quarter
        if "quarter" in match and name == "quarters" and match.has_word("and"):
            count = match.value("count", 1) + quarter
    if count < 0:
        return None
    unit, count = _SAME[unit][0] if unit in _SAME else unit, count * _SAME.get(unit, ("", 1))[1]
    if "unit2" in match:
        added = _add(count, unit, match.value("count2"), locale.value("unit", match.word("unit2")))
        if added is None:
            return None
        count, unit = added
    while count != int(count) and unit in _FINER:
        unit, factor = _FINER[unit][0], _FINER[unit][1]
        count *= factor
    if count != int(count):
        count = round(count)
    return iso(int(count), unit), count, unit


def _add(count: Exact, unit: str, count2: Exact, unit2: str) -> tuple[Exact, str] | None:
    """ "two hours and fifteen minutes" counts in the finer unit."""
    while unit != unit2 and unit in _FINER:
        unit, factor = _FINER[unit][0], _FINER[unit][1]
        count *= factor
    return (count + count2, unit) if unit == unit2 else None


def iso(count: int, unit: str) -> str:
    """ISO 8601 with the unit as said: P2W stays weeks, PT90M minutes."""
    return f"P{'T' if unit in ('H', 'M', 'S') else ''}{count}{_LETTER[unit]}"


def _quantity(match: Match, said: Utterance) -> tuple[str, Exact, str] | None:
    locale = said.locale
    count = match.value("count", 1)
    if match.rule == "quantity.spelled":
        spelled = locale.data["spelled_units"]
        unit = spelled.get(f"{match.word('spelled')} {match.word('spelled2')}")
        if unit is None:
            return None
    elif match.rule == "quantity.supply":
        unit = {"D": "day", "W": "week", "MO": "month", "Y": "year"}.get(
            locale.value("unit", match.word("unit")), ""
        )
        if not unit:
            return None
    else:
        unit = locale.value("qunit", match.word("unit"))
    if match.rule == "quantity.half":
        count = count + _HALF if match.has_word("and") else _HALF
    return f"{plain(count)} {unit}", count, unit
