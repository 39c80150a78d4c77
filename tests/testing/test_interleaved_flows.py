"""The flows' own scenarios end alike in every order in which their inputs may arrive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flowengine.testing import End, Interleave, interleave, load_scenarios

FLOWS = Path(__file__).parents[2] / "flows"
HOW = Interleave(behind=0, samples=20)
"""A turn's answers come before the next turn has ended, and in any order with all else."""

OUTCOMES: dict[str, tuple[End, ...]] = {
    "the caller speaks while the card is being charged": (
        End(
            because="the charge had been answered when the caller spoke: those were the last words",
            phase="close",
            calls={"process_payment": "ran"},
        ),
    ),
    "one promise is recorded once": (
        End(
            because="the promise was recorded before the caller named another day, which then "
            "answers the next question and corrects nothing",
            phase="confirm",
            keys={"ptp_date": "2026-03-15"},
            calls={"record_promise": ("ran", "denied", "denied")},
        ),
    ),
    "a check that ends after the medicine was changed says nothing of the new one": (
        End(
            because="the check had ended when the caller chose another medicine, which is the one "
            "change that is allowed after a check",
            phase="no_refills",
            keys={"rechecked": True},
        ),
    ),
    "14 six idle turns go to staff, and a check that ends later reopens nothing": (
        End(because="the check ended while the caller could still be helped", phase="confirm"),
        End(
            because="what the desk writes counts for longer than an extraction of an earlier turn",
            phase="handoff",
            keys={"medication": "the blue one"},
        ),
    ),
    "16 who asks for a person in the middle gets the transfer, once, and nothing else": (
        End(
            because="the caller had agreed, and nobody had understood yet that they want a person",
            calls={"submit_refill": "ran"},
        ),
    ),
    "21 a name that is put right late does not strand the call": (
        End(
            because="the caller had agreed, and nobody had understood yet that the name is another",
            calls={"submit_refill": ("ran", "denied")},
        ),
    ),
}


def scenarios() -> Iterator[Any]:
    for path in sorted(FLOWS.glob("*/scenarios/*.scenario.yaml")):
        file, flow, functions = load_scenarios(path)
        for scenario in file.scenarios:
            id = f"{path.parents[1].name}: {scenario.name}"
            yield pytest.param(scenario, flow, functions, id=id)


@pytest.mark.parametrize(("scenario", "flow", "functions"), list(scenarios()))
def test_a_scenario_ends_alike_in_every_order(scenario: Any, flow: Any, functions: Any) -> None:
    outcomes = scenario.outcomes or OUTCOMES.get(scenario.name, ())
    how = scenario.interleave if isinstance(scenario.interleave, Interleave) else HOW
    tried = interleave(scenario, flow, functions, outcomes=outcomes, how=how)
    assert tried.passed, str(tried)
