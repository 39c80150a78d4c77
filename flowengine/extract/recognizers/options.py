"""Options of recognizers, checked when a flow is loaded; every message names the cure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from flowengine.errors import did_you_mean
from flowengine.extract.recognizers.base import RecognizerError


def words_of(kind: str, name: str, given: Any) -> tuple[str, ...]:
    """A list of texts in lower case."""
    is_list = isinstance(given, Sequence)
    texts = cast("Sequence[Any]", (given,) if isinstance(given, str) else given)
    if not is_list or not all(isinstance(text, str) and text.strip() for text in texts):
        what = type(cast("object", given)).__name__
        raise RecognizerError(f"{kind}: {name} is a list of words, not {what}.")
    return tuple(" ".join(text.lower().split()) for text in texts)


def at_least_one(kind: str, name: str, given: Sequence[Any] | Mapping[str, Any]) -> None:
    if not given:
        raise RecognizerError(f"{kind} needs {name}: write `{{{kind}: [first, second]}}`.")


def one_from(kind: str, name: str, given: object, allowed: Iterable[str]) -> None:
    known = list(allowed)
    if given not in known:
        raise RecognizerError(
            f"{kind}: {name} is one of {', '.join(known)}, not {given!r}."
            + did_you_mean(str(given), known)
        )
