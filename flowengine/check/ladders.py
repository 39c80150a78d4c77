"""Steps of ladders and spoken words of phases that lack what they need."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.flow.diagnostic import Finding, pointer, warning
from flowengine.flow.index import Index

SILENCE = "10s"
"""How long a step without `after` waits."""


def silent_steps(index: Index) -> Iterator[Finding]:
    """A step of a `no_input` ladder says after how long a silence it is taken."""
    for place in index.phases:
        for at, rung in enumerate(place.phase.no_input):
            path = (*place.path, "no_input", at)
            if rung.after is None:
                yield warning(
                    "no_after",
                    f"a step for silence does not say how long it waits; it waits {SILENCE}",
                    path,
                    suggestion=f"write `after: {SILENCE}`, or another time",
                    fix=({"op": "add", "path": pointer((*path, "after")), "value": SILENCE},),
                )


def timed_turns(index: Index) -> Iterator[Finding]:
    """A step of a `no_match` ladder is taken turn by turn, not by the clock."""
    for place in index.phases:
        for at, rung in enumerate(place.phase.no_match):
            if rung.after is not None:
                yield warning(
                    "unused_after",
                    "`after` says nothing here: steps of `no_match` are taken turn by turn",
                    (*place.path, "no_match", at, "after"),
                    suggestion="leave it out, or write the step under `no_input`",
                    on_key=True,
                )


def verbatim_without_words(index: Index) -> Iterator[Finding]:
    """What is compared word for word has words to be compared with."""
    for place in index.phases:
        if place.phase.verbatim is not None and not place.phase.say:
            yield Finding(
                "verbatim_without_say",
                f"phase {place.name!r} has nothing to be spoken word for word",
                (*place.path, "verbatim"),
                suggestion="give it `say`, the words that must be spoken",
                on_key=True,
            )
