"""What every recognizer shares: its result, the context it reads in, and its contract."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Literal, TypeAlias

from flowengine.errors import FlowError
from flowengine.extract.recognizers.text import Utterance

MOST_VALUES = 16
"""Values of one kind that are read from one utterance; nobody offers more in one breath."""
Span: TypeAlias = tuple[int, int]
Prefer: TypeAlias = Literal["future", "past"]
Value: TypeAlias = bool | int | float | Decimal | str | Mapping[str, Any]


class RecognizerError(FlowError, ValueError):
    """A kind or an option that does not exist or does not fit; raised when a flow is loaded."""

    code = "recognizer"


@dataclass(slots=True)
class Recognition:
    """One value found in a text; the best of several comes first.

    `span` counts characters of the text as given. `alternatives` are other canonical values the
    same words may mean; `superseded` are the values the caller took back in the same breath.
    """

    value: Any
    text: str
    span: Span
    confidence: float
    rule: str
    alternatives: tuple[Any, ...] = ()
    superseded: tuple[Any, ...] = ()
    ambiguous: bool = False
    approximate: bool = False
    grain: str | None = None
    bound: str | None = None
    unit: str | None = None
    parts: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What is known when the words are read; everything a recognizer may depend on besides them.

    `asked` is the kind (or the slot's name) of the question just put to the caller; `focus` says
    whether that question was about the very value being read: True, False or, with nothing
    known, None. `ref` is the reference time, `alternatives` the speech recognizer's other
    hypotheses of the same words.
    """

    asked: str | None = None
    focus: bool | None = None
    current: Any = None
    ref: datetime | None = None
    tz: str | None = None
    locale: str = "en-US"
    prefer: Prefer | None = None
    alternatives: tuple[Utterance, ...] = ()


class Recognizer(ABC):
    """A kind with its options, checked once; reads any number of utterances.

    Subclasses are frozen dataclasses whose fields are the options.
    """

    kind: ClassVar[str]
    positional: ClassVar[str | None] = None
    """The option that a bare argument sets: `{one_of: [pizza, salad]}`."""

    @abstractmethod
    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        """What this one hypothesis holds, best first."""

    def recognize(self, utterance: Utterance, context: Context) -> list[Recognition]:
        """What was said, best first; other hypotheses add alternatives, or answer in its place."""
        found = self.read(utterance, context)
        if len(found) > MOST_VALUES:
            found = found[:MOST_VALUES]
        if not context.alternatives:
            return found
        for rank, other in enumerate(context.alternatives, start=1):
            _add_hypothesis(found, self.read(other, context), rank, utterance)
        return found


def _add_hypothesis(
    found: list[Recognition], heard: Sequence[Recognition], rank: int, said: Utterance
) -> None:
    """Only the best reading of a hypothesis counts, and less the lower it was ranked."""
    if not heard:
        return
    best = heard[0]
    if not found:
        whole = (0, len(said.text))
        confidence = round(best.confidence * max(0.5, 0.9 - 0.05 * rank), 3)
        found.append(replace(best, span=whole, confidence=confidence, rule=f"{best.rule}@{rank}"))
        return
    first = found[0]
    if best.value != first.value and best.value not in first.alternatives:
        first.alternatives = (*first.alternatives, best.value)
