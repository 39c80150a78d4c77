"""Words that must be spoken as they stand: how close the model's own came to them."""

from __future__ import annotations

import re

from rapidfuzz.distance import Levenshtein

from flowengine.facts import VerbatimChecked
from flowengine.kernel.work import Work

_WORDS = re.compile(r"\w+")


def check_verbatim(work: Work, spoken: str) -> None:
    """Compare the model's turn with what each active phase has it say; once close, always close."""
    for name in work.place.active:
        compiled = work.flow.phases[name]
        least, key = compiled.phase.verbatim, f"verbatim:{name}"
        if least is None or work.values.get(key) is True:
            continue
        alike = likeness(compiled.say(work.find), spoken)
        work.facts.append(VerbatimChecked(name, round(alike, 3), alike >= least))
        if alike >= least:
            work.note(key, True)


def likeness(wanted: str, spoken: str) -> float:
    """1 for the same words, 0 for none of them; case and punctuation do not count."""
    return Levenshtein.normalized_similarity(_plain(wanted), _plain(spoken))


def _plain(text: str) -> list[str]:
    return _WORDS.findall(text.casefold())
