"""Flows to draw."""

from __future__ import annotations

import pytest

from flowengine.flow.model import Digression, Flow, Phase, Region, Transition
from flowengine.guards import Guard


def edge(to: str, when: str | None = None, **fields: object) -> Transition:
    guard = Guard.parse(when) if when is not None else None
    return Transition.model_validate({"to": to, "when": guard, **fields})


@pytest.fixture
def debt() -> Flow:
    """Two groups in a row, an exit from each, one edge from anywhere."""
    verify = Phase(
        description="2 of 3 identifiers",
        transitions=(
            edge("verify", "attempts < 3", on="id_failed"),
            edge("negotiation", "is_true(right_party) and is_true(id_verified)"),
            edge("wrong_party", "is_true(wrong_number)"),
        ),
    )
    promise = Phase(
        transitions=(
            edge("recap", "captured([ptp_date, ptp_amount])"),
            edge("plan", "is_true(changed_mind)"),
        )
    )
    return Flow(
        flow="debt",
        global_transitions=(
            edge("closed", "is_true(cease)", description="caller asks us to stop"),
        ),
        fallback_transitions=(edge("callback", "is_true(busy)"),),
        phases={
            "opening": Phase(
                initial=True,
                phases={
                    "greeting": Phase(transitions=(edge("verify", "is_true(answered)"),)),
                    "verify": verify,
                },
            ),
            "negotiation": Phase(
                entry=Guard.parse("is_true(id_verified)"),
                transitions=(edge("dispute", "is_true(disputed)"),),
                phases={
                    "plan": Phase(transitions=(edge("promise", after="30s"),)),
                    "promise": promise,
                },
            ),
            "recap": Phase(transitions=(edge("closed"),)),
            "dispute": Phase(transitions=(edge("closed"),)),
            "callback": Phase(transitions=(edge("closed"),)),
            "wrong_party": Phase(final=True),
            "closed": Phase(final=True),
        },
    )


@pytest.fixture
def clinic() -> Flow:
    """Regions, history, digressions of every kind and a monitor."""
    day = Phase(transitions=(edge("hour", "captured(day)"),))
    return Flow(
        flow="clinic",
        phases={
            "hello": Phase(initial=True, transitions=(edge("visit"),)),
            "visit": Phase(
                transitions=(edge("book", "done(visit)"), edge("visit", on="again", external=True)),
                regions={
                    "details": Region(
                        phases={
                            "reason": Phase(transitions=(edge("time", "captured(reason)"),)),
                            "time": Phase(phases={"day": day, "hour": Phase()}),
                        }
                    ),
                    "insurance": Region(phases={"card": Phase()}),
                },
            ),
            "book": Phase(
                transitions=(
                    edge("visit", "is_true(change)", history="deep"),
                    edge("time", "is_true(other_time)", history="shallow"),
                )
            ),
        },
        digressions={
            "hours": Digression(on="hours", phases={"tell": Phase()}),
            "language": Digression(
                on="language", resume="restart", phases={"ask": Phase(), "switch": Phase()}
            ),
            "abuse": Digression(
                when=Guard.parse("is_true(abusive)"),
                resume="terminate",
                phases={"warn": Phase()},
            ),
        },
        monitors={
            "mood": Region(
                phases={"calm": Phase(transitions=(edge("upset", on="shout"),)), "upset": Phase()}
            )
        },
    )
