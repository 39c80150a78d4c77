"""Days written as something else: "11:00 May", "2019 March", "best of June"."""

from __future__ import annotations

from flowengine.extract.recognizers.grammar import Match
from flowengine.extract.recognizers.text import Utterance


def month_and_day(match: Match, said: Utterance) -> tuple[int, int]:
    """The month and the day of a match of the misheard rules; 0 for what stays unknown."""
    by_sound = said.locale.day_by_sound
    if match.rule == "birth.month_sound":
        return by_sound(match.word("heard")), int(match.value("day"))
    month = int(match.value("two"))
    if "month" in match:
        month = int(said.locale.value("month", match.word("month")))
    if match.rule == "birth.sound":
        return month, by_sound(match.word("heard"))
    if match.rule == "birth.heard":
        return month, _written_otherwise(match)
    if match.rule == "birth.split":
        tens, unit = (
            int(match.value("day")),
            said.locale.speller.homophones[match.word("homophone")],
        )
        return month, tens + int(unit) if tens in (20, 30) else 0
    return month, int(match.value("day"))


def _written_otherwise(match: Match) -> int:
    """ "11:00" and "1100" for eleven, "2019" for twenty-ninth, "40" for fourteenth."""
    number = match.number("heard_day")
    if number is None:
        hour, _, minute = match.word("heard_day").partition(":")
        return int(hour) if minute == "00" else 0
    value = int(number.value)
    if 2011 <= value <= 2019:
        return 20 + value % 10
    if value % 100 == 0:
        return value // 100
    return value // 10 + 10 if 40 <= value <= 90 and value % 10 == 0 else 0
