"""Every error flowengine raises, split by who can cure it.

FlowEngineError
├── FlowError             the author of a flow: a file or a model that is wrong
│   └── GuardError        one guard expression that cannot be read
├── StateError            the caller of State
│   ├── UnknownKeyError   a strict read of a key that holds nothing
│   ├── WrongTypeError    a value that does not fit its key
│   ├── OwnershipError    a writer that may not write this key
│   ├── ConflictError     two writes of one batch that a `conflict` key forbids
│   ├── CycleError        computed keys that depend on each other
│   └── UnsettledError    watchers or transitions that never come to rest
├── FunctionError         a registered function of the user's that raised
├── SourceError           something outside: a request, a server, a call that gave no value
├── TurnFailed            an input whose consequences were rolled back
├── SessionClosed         an input to a session that has ended
│   └── NotRecorded       it has ended because what happened in it could not be recorded
├── ModelError            a language model or its provider
│   └── NotReady          models that a flow would ask, and that cannot be asked
└── StoreError            a place that keeps sessions
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

if TYPE_CHECKING:
    from flowengine.facts import InputFailed


class FlowEngineError(Exception):
    """The root; `code` is stable and safe to log."""

    code = "error"


class FlowError(FlowEngineError):
    """A flow that cannot be used as it is written."""

    code = "flow"


class GuardError(FlowError):
    """A guard expression that cannot be read; `offset` is where, in characters."""

    code = "guard"

    def __init__(self, message: str, *, text: str = "", offset: int = 0, length: int = 1) -> None:
        super().__init__(message)
        self.text = text
        self.offset = offset
        self.length = length


class StateError(FlowEngineError):
    """State was asked for something it cannot do; nothing was written."""

    code = "state"


class UnknownKeyError(StateError):
    code = "unknown_key"


class WrongTypeError(StateError):
    code = "wrong_type"


class OwnershipError(StateError):
    code = "ownership"


class ConflictError(StateError):
    code = "conflict"


class CycleError(StateError):
    code = "cycle"


class UnsettledError(StateError):
    code = "unsettled"


class FunctionError(FlowEngineError):
    """A function registered by the flow's author raised; the cause is chained, never printed."""

    code = "function_failed"

    def __init__(self, kind: str, name: str, cause: Exception) -> None:
        super().__init__(f"{kind} {name!r} raised {type(cause).__name__}")
        self.kind = kind
        self.name = name


class SourceError(FlowEngineError):
    """Something outside gave no value; `code` says what kind of failure, such as `http_503`."""

    code = "source"

    def __init__(self, message: str, *, code: str = "source") -> None:
        super().__init__(message)
        self.code = code


class TurnFailed(FlowEngineError):
    """An input failed: what was said is kept, what would have followed is rolled back."""

    code = "turn_failed"

    def __init__(self, fact: InputFailed, cause: FlowEngineError | None = None) -> None:
        why = f": {cause}" if cause is not None else ""
        super().__init__(
            f"input failed ({fact.code}) at {fact.place}{why}; the words are kept, its "
            "consequences were rolled back, and the session takes the next input"
        )
        self.fact = fact


class SessionClosed(FlowEngineError):
    code = "session_closed"


class NotRecorded(SessionClosed):
    """The recorder raised: what it did not take has not happened, and the session has stopped."""

    code = "not_recorded"


class ModelError(FlowEngineError):
    """The world of models: providers, networks, answers that do not fit."""

    code = "model"


class NotReady(ModelError):
    """Found before a call, by `Services.warm`."""

    code = "not_ready"


class StoreError(FlowEngineError):
    code = "store"


def near_miss(name: str, known: Iterable[str]) -> str | None:
    """The one known name that `name` was probably meant to be, or None."""
    if len(name) < 3:
        return None
    best = process.extractOne(name, list(known), scorer=fuzz.ratio, score_cutoff=75)
    return best[0] if best else None


def slip_of(name: str, known: Iterable[str]) -> str | None:
    """The one known name of which `name` is a slip of the pen, or None: stricter than near.

    A letter or two are wrong, and no digit is: `line_1` is not meant to be `line_2`, nor one date
    several dates.
    """
    if len(name) < 3:
        return None
    most = 1 if len(name) < 6 else 2
    best = process.extractOne(name, list(known), scorer=OSA.distance, score_cutoff=most)
    if best is None or re.findall(r"\d", best[0]) != re.findall(r"\d", name):
        return None
    return None if best[0] + "s" == name or name + "s" == best[0] else best[0]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence to end an error message with; empty when nothing is near."""
    guess = near_miss(name, known)
    return f" Did you mean {guess!r}?" if guess else ""
