"""Public holidays of a country by name, from the optional package `holidays`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

from flowengine.extract.recognizers.base import RecognizerError
from flowengine.extract.recognizers.days import Day
from flowengine.extract.recognizers.fragments import Fragment, Reading
from flowengine.extract.recognizers.phrases import Phrases
from flowengine.extract.recognizers.text import Utterance, utterance

_RULE = "date.public_holiday"
_NOT_SAID = frozenset({"jr"})
"""Words of official names that callers leave out."""


@dataclass(frozen=True)
class Feasts:
    """The holidays of a country, or of a part of it: "US", "CA-ON", "GB-SCT"."""

    place: str

    def __post_init__(self) -> None:
        try:
            _dates(self.place, 2000)
        except NotImplementedError:
            raise RecognizerError(
                f"datetime: holidays is a country code such as US, GB or CA-ON, not {self.place!r}."
            ) from None

    def fragments(self, said: Utterance, reading: Reading) -> list[Fragment]:
        """The named days in an utterance, with "the day after" and "the day before" them."""
        if reading.now is None:
            return []
        today = reading.now.date()
        names = _names(self.place, today.year)
        if names.starts.isdisjoint(said.vocabulary):
            return []
        found: list[Fragment] = []
        for name in names.find(said.words):
            shift = _shift(said, name.first, reading)
            days = [one for one in self._days(name.label, today) if one]
            day = _nearest(days, today, reading.past)
            if day:
                first = name.first - 2 if shift else name.first
                moved = Day(day).plus(shift)
                found.append(Fragment("date", first, name.last, _RULE, day=moved))
        return found

    def _days(self, name: str, today: date) -> Iterator[date | None]:
        for year in range(today.year - 1, today.year + 2):
            yield _dates(self.place, year).get(name)


def _nearest(days: list[date], today: date, past: bool) -> date | None:
    if past:
        return max((day for day in days if day <= today), default=None)
    return min((day for day in days if day >= today), default=None)


def _shift(said: Utterance, first: int, reading: Reading) -> int:
    """1 for "the day after", -1 for "the day before"."""
    classes, words = reading.locale.classes, said.words
    if first < 2 or classes["unit"].get(words[first - 2]) != "D":
        return 0
    return (
        1 if words[first - 1] in classes["past"] else -1 if words[first - 1] in classes["to"] else 0
    )


@lru_cache(maxsize=64)
def _dates(place: str, year: int) -> dict[str, date]:
    """Name -> day in one year; where two days have one name, the earlier."""
    country, _, part = place.upper().partition("-")
    options: dict[str, Any] = {"years": [year], "language": "en_US"}
    if part:
        options["subdiv"] = part
    found: dict[str, date] = {}
    for day, names in sorted(_library().country_holidays(country, **options).items()):
        for name in names.split("; "):
            if name.endswith("(observed)"):
                continue  # the day off, not the day
            words = [word for word in utterance(name).words if word not in _NOT_SAID]
            found.setdefault(" ".join(words), day)
    return found


@lru_cache(maxsize=64)
def _names(place: str, year: int) -> Phrases[str]:
    names = {name for near in (year - 1, year, year + 1) for name in _dates(place, near)}
    short = {name.removesuffix(" day"): name for name in sorted(names) if name.count(" ") > 1}
    return Phrases([*((name, name) for name in sorted(names)), *short.items()])


def _library() -> Any:
    try:
        import holidays  # lazy: an optional extra with much data
    except ImportError:
        raise RecognizerError(
            "datetime: holidays need the package holidays: pip install 'flowengine[holidays]'."
        ) from None
    return holidays
