"""A turn extractor turns a window of turns into fields: what it promises, and one run of it."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, get_args, runtime_checkable

from pydantic import ValidationError

from flowengine.errors import FlowEngineError, FlowError, WrongTypeError, did_you_mean
from flowengine.extract.spec import ExtractSpec, Moment, OnFailure, Promotion, Trigger
from flowengine.inputs import NOTHING, Json
from flowengine.state.keys import json_value
from flowengine.transcript import Turn

if TYPE_CHECKING:
    from flowengine.llm.provider import ServedModel

Window: TypeAlias = Sequence[Turn]
"""Closed turns, oldest first; a tool call that waits also shows the turn in progress."""
Fields: TypeAlias = Mapping[str, Json]


@runtime_checkable
class TurnExtractor(Protocol):
    """Subclass it, give it a name and an `extract`; everything else has a default.

    ```python
    class OrderNumber(TurnExtractor):
        name = "order_info"
        window = 5

        async def extract(self, window):
            words = " ".join(turn.user for turn in window)
            found = re.search(r"order\\s+#?(\\d+)", words)
            return {"order_number": found[1]} if found else {}
    ```
    """

    name: str
    window: int = 3
    """How many turns are read; more after a run that failed, whose turns the next one covers."""
    trigger: Trigger = "every_turn"
    promotions: tuple[Promotion, ...] = ()
    """With these only they write; without, every field becomes `derived:{field}`."""
    on_failure: OnFailure = "continue"
    min_words: int = 0
    """Words that the newest caller utterance must have."""
    timeout: str = "5s"
    schema: Mapping[str, Any] = NOTHING
    """The JSON Schema of its fields, if known: without promotions the gate reads from it which
    keys this extractor may write."""

    def should_extract(self, window: Window) -> bool:
        """Asked before anything is sent or awaited; False: this turn has nothing to read."""
        return True

    @abstractmethod
    def extract(self, *args: Any, **kwargs: Any) -> Awaitable[Fields | None] | Fields | None:
        """`extract(window)` or `extract(window, known)`, async or plain: the fields that it found.

        `known` is a read-only view of what the keys of its fields hold. Null says nothing.
        """
        raise NotImplementedError


@runtime_checkable
class AsksModels(Protocol):
    """An extractor that tells which models it asks, so that they are made ready before a call."""

    def asked_models(self) -> Sequence[ServedModel]: ...


class ExtractionFailed(FlowEngineError):
    """A run that brought no fields: `code` says why and `place` where; nobody's words are in it."""

    def __init__(self, place: str, code: str, detail: str = "") -> None:
        super().__init__(f"{place}: {code}" + (f" ({detail})" if detail else ""))
        self.place = place
        self.code = code


def spec_of(extractor: TurnExtractor) -> ExtractSpec:
    """The extractor as a flow's data, which is all that the kernel knows of it.

    Raises:
        FlowError: an attribute has a wrong type or value; all of them are named.
    """
    given: dict[str, Any] = {
        "name": getattr(extractor, "name", None),
        "schema": dict(extractor.schema),
        "window": extractor.window,
        "trigger": extractor.trigger,
        "min_words": extractor.min_words,
        "promote": extractor.promotions,
        "timeout": extractor.timeout,
        "on_failure": extractor.on_failure,
    }
    # What only an extractor with a model has.
    asked = ("instruction", "model", "thinking_budget")
    given |= {name: getattr(extractor, name) for name in asked if hasattr(extractor, name)}
    try:
        return ExtractSpec.model_validate(given)
    except ValidationError as error:
        raise FlowError(f"extractor {type(extractor).__name__}: {_wrong(error, given)}") from None


async def run_turn_extractor(
    extractor: TurnExtractor, window: Window, known: Mapping[str, Json]
) -> dict[str, Json] | None:
    """The fields of one run; None if the extractor skips this turn and nothing was asked.

    Raises:
        ExtractionFailed: the run failed. What else an extractor of one's own raises is passed on.
    """
    if not _has_words(window, extractor.min_words) or not extractor.should_extract(window):
        return None
    arguments = (window, MappingProxyType(dict(known))) if _reads_known(extractor) else (window,)
    found: Any = extractor.extract(*arguments)
    if inspect.isawaitable(found):
        found = await found
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise ExtractionFailed(extractor.name, "not_an_object", f"a {type(found).__name__}")
    fields = cast("Mapping[object, Any]", found)
    return {str(name): _json(extractor.name, str(name), value) for name, value in fields.items()}


def _wrong(error: ValidationError, given: Mapping[str, Any]) -> str:
    """Each attribute that does not fit, once."""
    told: dict[str, str] = {}
    for found in error.errors(include_url=False, include_input=False):
        name, *rest = (str(part) for part in found["loc"])
        if name in _FORMS:
            forms, value = _FORMS[name], given[name]
            told[name] = f"`{name}` takes {', '.join(forms)}, not {value!r}." + (
                did_you_mean(value, forms) if isinstance(value, str) else ""
            )
        else:
            place = ".".join([_ATTRIBUTES.get(name, name), *rest])
            told[place] = f"`{place}`: {found['msg']}"
    return "; ".join(told.values())


_ATTRIBUTES = {"promote": "promotions"}
"""What a class calls otherwise than a file."""
_FORMS: Mapping[str, tuple[str, ...]] = {
    "trigger": (*get_args(Moment), "Interval(interval=n)"),
    "on_failure": ("continue", "hold", "Raise(raise_='event')"),
}


def known_by_field(
    schema: Mapping[str, Any], promotions: Sequence[Promotion], known: Mapping[str, Json]
) -> dict[str, Json]:
    """What is known, by field of the schema: State knows it by the key it is promoted to."""
    keys = {rule.field: rule.to or rule.field for rule in reversed(promotions)}
    fields: Mapping[str, Any] = schema.get("properties", {})
    held = {field: known.get(keys.get(field, field)) for field in fields}
    return {field: value for field, value in held.items() if value is not None}


def _has_words(window: Window, least: int) -> bool:
    """Whether the newest utterance is long enough; without any, transcription may be off."""
    newest = next((turn.user for turn in reversed(window) if turn.user), None)
    return newest is None or len(newest.split()) >= least


def _reads_known(extractor: TurnExtractor) -> bool:
    parameters = inspect.signature(extractor.extract).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1 or any(p.kind is p.VAR_POSITIONAL for p in parameters)


def _json(name: str, field: str, value: Any) -> Json:
    try:
        return json_value(field, value)
    except WrongTypeError as error:
        raise ExtractionFailed(f"{name}.{field}", "not_json") from error
