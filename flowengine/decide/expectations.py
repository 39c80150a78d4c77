"""Which expectations of a guard no answer to a question can ever meet."""

from __future__ import annotations

from flowengine.decide.judge import NONE
from flowengine.decide.spec import DecisionSpec
from flowengine.errors import did_you_mean
from flowengine.guards.atoms import Decided


def impossible(spec: DecisionSpec, expectation: Decided) -> str | None:
    """Why the guard can never hold, with the cure; None where it may."""
    if expectation.at_least is not None or expectation.at_most is not None:
        return _bounds(spec, expectation)
    if spec.type == "boolean":
        return _of_boolean(expectation)
    return _of_choice(spec, expectation) if spec.type == "choice" else _of_score(spec, expectation)


def _bounds(spec: DecisionSpec, expectation: Decided) -> str | None:
    id, low, high = expectation.id, expectation.at_least, expectation.at_most
    if spec.type != "score":
        cure = f"decided({id})" if spec.type == "boolean" else f"decided({id}, option)"
        return f"{id} is a {spec.type}, which has no at_least or at_most: write `{cure}`"
    top = len(spec.levels) - 1
    if low is not None and low > top:
        return f"the levels of {id} are 0 to {top}: at_least={low:g} is never reached"
    if high is not None and high < 0:
        return f"the levels of {id} are 0 to {top}: at_most={high:g} is never met"
    if low is not None and high is not None and low > high:
        return f"no level of {id} is at least {low:g} and at most {high:g}"
    return None


def _of_boolean(expectation: Decided) -> str | None:
    if not isinstance(expectation.answer, str):
        return None
    id = expectation.id
    return (
        f"{id} is answered yes or no, never {expectation.answer!r}: write `decided({id})` for yes, "
        f"`decided({id}, false)` for no"
    )


def _of_choice(spec: DecisionSpec, expectation: Decided) -> str | None:
    id, answer = expectation.id, expectation.answer
    if answer is False:
        return None if spec.none else f"{id} always takes an option: give it `none: true`"
    if not isinstance(answer, str) or answer in spec.options:
        return None
    if answer == NONE and spec.none:
        return f"none of the options of {id} is `decided({id}, false)`, not an option called none"
    if spec.options_from is not None:
        return None
    known = ", ".join(spec.options)
    return f"{id} has no option {answer!r}: it has {known}.{did_you_mean(answer, spec.options)}"


def _of_score(spec: DecisionSpec, expectation: Decided) -> str | None:
    id, answer = expectation.id, expectation.answer
    if isinstance(answer, str):
        level = spec.levels.index(answer) if answer in spec.levels else 0
        return f"{id} is a score, never {answer!r}: write `decided({id}, at_least={level})`"
    if answer is False:
        return f"{id} is a score, never no: write `decided({id}, at_most=0)`"
    return None
