"""What an answer amounts to: sure enough to count, or unsure.

A boolean is answered by the probability of yes, a choice by an option, a score by a level that may
lie between two; each may come bare, from a rule, or as an object with its certainty, from a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

from flowengine.decide.spec import DecisionSpec
from flowengine.guards.lookup import look_up
from flowengine.inputs import Json

NONE = "none"
"""The answer of a choice that takes none of its options."""


class Judgement(NamedTuple):
    """Outcome yes, no, chosen, none, scored or unsure; `confidence` is that of the answer given."""

    outcome: str
    value: Json = None
    confidence: float = 0.0


UNSURE = Judgement("unsure")


def judge(spec: DecisionSpec, raw: Json, options: Mapping[str, str]) -> Judgement:
    """Hold an answer against the certainty that its question asks for; nonsense is unsure."""
    if raw is None:
        return UNSURE
    given: Mapping[str, Json] = raw if isinstance(raw, dict) else {_BARE[spec.type]: raw}
    return _JUDGES[spec.type](spec, given, options)


def options_of(spec: DecisionSpec, find: Callable[[str], Json]) -> dict[str, str]:
    """The options of this moment with what they mean; of objects the `id`, `value` or `name`."""
    if spec.options_from is None:
        return dict(spec.options)
    found = look_up(spec.options_from, find)
    items = found if isinstance(found, list) else []
    named = (_option(item) for item in items)
    return dict(option for option in named if option is not None)


def _option(item: Json) -> tuple[str, str] | None:
    if isinstance(item, dict):
        name = next((item[key] for key in ("id", "value", "name") if item.get(key) is not None), "")
        rest = item.get("description", item.get("name", ""))
        return (str(name), str(rest)) if name != "" else None
    return (str(item), "") if isinstance(item, str | int | float) else None


_BARE = {"boolean": "probability", "choice": "option", "score": "level"}


def _boolean(spec: DecisionSpec, given: Mapping[str, Json], _: Mapping[str, str]) -> Judgement:
    yes = _chance(given.get("probability"))
    if yes is None:
        return UNSURE
    if yes >= spec.sure:
        return Judgement("yes", True, yes)
    if 1 - yes >= spec.sure:
        return Judgement("no", False, 1 - yes)
    return UNSURE._replace(confidence=max(yes, 1 - yes))


def _choice(spec: DecisionSpec, given: Mapping[str, Json], options: Mapping[str, str]) -> Judgement:
    option, sure = given.get("option"), _certainty(given)
    if sure < spec.sure:
        return UNSURE._replace(confidence=sure)
    if option == NONE and spec.none and NONE not in options:
        return Judgement("none", None, sure)
    if option not in options:
        return UNSURE
    return Judgement("chosen", option, sure)


def _score(spec: DecisionSpec, given: Mapping[str, Json], _: Mapping[str, str]) -> Judgement:
    chances = given.get("probabilities")
    level = given.get("level")
    if isinstance(chances, list) and chances:
        level, sure = _weighed(chances)
    else:
        sure = _certainty(given)
    if not isinstance(level, int | float) or isinstance(level, bool):
        return UNSURE
    if not 0 <= level <= len(spec.levels) - 1 or sure < spec.sure:
        return UNSURE._replace(confidence=sure)
    return Judgement("scored", level, sure)


def _weighed(chances: list[Json]) -> tuple[float, float]:
    """The likeliest level, or a point between it and its likelier neighbour; theirs together."""
    numbers = [_chance(chance) or 0.0 for chance in chances]
    best = max(range(len(numbers)), key=numbers.__getitem__)
    beside = [at for at in (best - 1, best + 1) if 0 <= at < len(numbers)]
    other = max(beside, key=numbers.__getitem__, default=best)
    together = numbers[best] + (numbers[other] if other != best else 0.0)
    if not together:
        return best, 0.0
    share = numbers[other] / together if other != best else 0.0
    return round(best + (other - best) * share, 3), min(together, 1.0)


def _certainty(given: Mapping[str, Json]) -> float:
    """What was reported, else the probability of what was chosen; a rule's bare answer is sure."""
    for name in ("confidence", "probability"):
        if name in given:
            return _chance(given[name]) or 0.0
    return 1.0


def _chance(value: Json) -> float | None:
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= 1:
        return float(value)
    return None


_Judge = Callable[[DecisionSpec, Mapping[str, Json], Mapping[str, str]], Judgement]
_JUDGES = cast("Mapping[str, _Judge]", {"boolean": _boolean, "choice": _choice, "score": _score})
