"""What an answer amounts to: sure enough to count, or unsure.

A boolean is answered by the probability of yes, a choice by an option, a score by a level that may
lie between two; each may come bare, from a rule, or as an object with its certainty, from a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from flowengine.decide.spec import DecisionSpec
from flowengine.guards.view import Decision
from flowengine.inputs import Json

NONE = "none"
"""The answer of a choice that takes none of its options."""
UNSURE = Decision("unsure", None, 0.0)
_ROUNDING = 1e-9
_MOST_TOGETHER = 1.1
"""Probabilities that add up to more than this are no probabilities."""


def judge(spec: DecisionSpec, raw: Json, options: Mapping[str, str]) -> Decision:
    """Hold an answer against the certainty that its question asks for; nonsense is unsure.

    The confidence is that of the answer given; of an unsure one, of the answer it leaned to.
    """
    if raw is None:
        return UNSURE
    given: Mapping[str, Json] = raw if isinstance(raw, dict) else {_BARE[spec.type]: raw}
    return _JUDGES[spec.type](spec, given, options)


def probability(spec: DecisionSpec, raw: Json) -> float | None:
    """How probable the answer is: of a yes-or-no question, that it is yes; None of nonsense."""
    if raw is None:
        return None
    given: Mapping[str, Json] = raw if isinstance(raw, dict) else {_BARE[spec.type]: raw}
    return _chance(given.get("probability")) if spec.type == "boolean" else _certainty(given)


def unjudged(decision: Decision) -> Json:
    """The answer that is judged to be this decision."""
    match decision.outcome:
        case "yes":
            return {"probability": decision.confidence}
        case "no":
            return {"probability": round(1 - decision.confidence, 9)}
        case "scored":
            return {"level": decision.value, "confidence": decision.confidence}
        case "chosen" | "none":
            return {"option": decision.value or NONE, "confidence": decision.confidence}
        case _:
            return None


_BARE = {"boolean": "probability", "choice": "option", "score": "level"}


def _boolean(spec: DecisionSpec, given: Mapping[str, Json], _: Mapping[str, str]) -> Decision:
    yes = _chance(given.get("probability"))
    if yes is None:
        return UNSURE
    no = round(1 - yes, 9)
    if yes >= spec.sure - _ROUNDING:
        return Decision("yes", True, yes)
    if no >= spec.sure - _ROUNDING:
        return Decision("no", False, no)
    return UNSURE._replace(confidence=max(yes, no))


def _choice(spec: DecisionSpec, given: Mapping[str, Json], options: Mapping[str, str]) -> Decision:
    option = _name(given.get("option"))
    is_none = option == NONE and spec.none and NONE not in options
    if not options or not (is_none or option in options):
        return UNSURE
    sure = _certainty(given)
    if sure < spec.sure - _ROUNDING:
        return UNSURE._replace(confidence=sure)
    return Decision("none", None, sure) if is_none else Decision("chosen", option, sure)


def _name(option: Json) -> str | None:
    """An option as it is keyed: a rule may answer 5 where the options are "5" and "6"."""
    if isinstance(option, str):
        return option
    is_number = isinstance(option, int | float) and not isinstance(option, bool)
    return str(option) if is_number else None


def _score(spec: DecisionSpec, given: Mapping[str, Json], _: Mapping[str, str]) -> Decision:
    chances = _chances(given.get("probabilities"), len(spec.levels))
    if "probabilities" in given and chances is None:
        return UNSURE
    level = _number(given.get("level"))
    if level is None and chances is not None:
        level = _weighed(chances, spec.sure)
    if level is None or not 0 <= level <= len(spec.levels) - 1:
        return UNSURE
    sure = _certainty(given) if chances is None else _certainty_at(level, given, chances)
    if sure < spec.sure - _ROUNDING:
        return UNSURE._replace(confidence=sure)
    return Decision("scored", level, sure)


def _weighed(chances: Sequence[float], enough: float) -> float:
    """The likeliest level; where it is not sure enough, a point towards its likelier neighbour."""
    best = max(range(len(chances)), key=chances.__getitem__)
    if chances[best] >= enough:
        return best
    beside = [at for at in (best - 1, best + 1) if 0 <= at < len(chances)]
    other = max(beside, key=chances.__getitem__)
    together = chances[best] + chances[other]
    return round(best + (other - best) * chances[other] / together, 3) if together else best


def _certainty_at(level: float, given: Mapping[str, Json], chances: Sequence[float]) -> float:
    """What was reported, else the probability of the level; between two levels, of both."""
    if "confidence" in given:
        return _chance(given["confidence"]) or 0.0
    low, high = math.floor(level), math.ceil(level)
    together = chances[low] + (chances[high] if high != low else 0.0)
    return min(round(together, 9), 1.0)


def _certainty(given: Mapping[str, Json]) -> float:
    """What was reported, else the probability of what was chosen; a rule's bare answer is sure."""
    for name in ("confidence", "probability"):
        if name in given:
            return _chance(given[name]) or 0.0
    return 1.0


def _chances(given: Json, size: int) -> list[float] | None:
    """One probability for each level, or None for anything else."""
    if not isinstance(given, list) or len(given) != size:
        return None
    found = [_chance(one) for one in given if not isinstance(one, bool)]
    known = [one for one in found if one is not None]
    return known if len(known) == size and sum(known) <= _MOST_TOGETHER else None


def _chance(value: Json) -> float | None:
    """A probability; a rule may answer a yes-or-no question by True or False."""
    if isinstance(value, bool):
        return float(value)
    found = _number(value)
    return found if found is not None and 0 <= found <= 1 else None


def _number(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None


_Judge = Callable[[DecisionSpec, Mapping[str, Json], Mapping[str, str]], Decision]
_JUDGES = cast("Mapping[str, _Judge]", {"boolean": _boolean, "choice": _choice, "score": _score})
