"""Answers to typed questions by a recognizer, from the caller's newest words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flowengine.extract.recognizers import Context, recognizer, utterance
from flowengine.inputs import Json
from flowengine.transcript import Turn


def recognized(
    kind: str, turns: Sequence[Turn], options: Mapping[str, str], *, locale: str = "en-US"
) -> Json:
    """The answer with its probability, or None where the newest caller turn holds none.

    `yes_no` answers a boolean; `one_of` a choice among `options`. Two answers that are offered
    together, "the first or the second", are none.
    """
    newest = next((turn for turn in reversed(turns) if turn.user), None)
    if newest is None or (kind == "one_of" and not options):
        return None
    reader = recognizer(kind, list(options)) if kind == "one_of" else recognizer(kind)
    others = tuple(utterance(other, locale) for other in newest.alternatives)
    context = Context(asked=kind, focus=True, locale=locale, alternatives=others)
    found = reader.recognize(utterance(newest.user, locale), context)
    if not found or (kind == "one_of" and found[0].ambiguous):
        return None
    best = found[0]
    if kind == "yes_no":
        sure = best.confidence if best.value else 1 - best.confidence
        return {"probability": round(sure, 3)}
    return {"option": best.value, "probability": best.confidence}
