"""Extraction by a language model: one request over a window, and the fields that can be trusted.

Output that is not JSON is mended where only its syntax is off; nothing is asked twice but what a
passing fault of the service lost. A field that does not fit is dropped, the rest lands.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypedDict, Unpack

from flowengine.errors import FlowError
from flowengine.extract.models import Providers, default_model
from flowengine.extract.request import ask, asked_schema
from flowengine.extract.spec import QUOTE, ExtractSpec, OnFailure, Promotion, Trigger
from flowengine.extract.turn_extractor import (
    ExtractionFailed,
    TurnExtractor,
    Window,
    known_by_field,
)
from flowengine.extract.typed import TypedFields
from flowengine.inputs import NOTHING, Json
from flowengine.llm.data import Schema, compact
from flowengine.llm.errors import ExtractFailure, FlowLLMError, ProviderError
from flowengine.llm.extractor import Extractor
from flowengine.llm.hooks import Hooks
from flowengine.llm.metadata import ExtractionMetadata
from flowengine.llm.provider import ChatProvider, ServedModel
from flowengine.llm.retry import RetryingProvider, RetryPolicy
from flowengine.llm.schema import NoSchema, target

# The turn waits, so a provider's own hint, which may be half a minute, is not waited for.
ONCE_AGAIN = RetryPolicy(max_attempts=2, base=0.3, jitter=0.0, honour_retry_after=False)


class Answer(NamedTuple):
    """One run: the fields that hold something, the faults that cost a field, and the record.

    A fault names a place of the schema and a kind, such as `score (schema)`, never a value.
    """

    fields: dict[str, Json]
    dropped: tuple[str, ...]
    metadata: ExtractionMetadata


class Options(TypedDict, total=False):
    """What every extractor takes besides what is asked; see `LlmExtractor`."""

    trigger: Trigger
    promotions: tuple[Promotion, ...]
    model: str | None
    thinking_budget: int | None
    timeout: str
    on_failure: OnFailure
    hooks: Hooks | None
    sleep: Callable[[float], Awaitable[None]]


@dataclass(frozen=True, eq=False)
class LlmExtractor(TurnExtractor):
    """Fills the fields of a `schema`, or of a `type`, from what was said.

    `thinking_budget`: tokens, 0 for none, None for the model's default. A transient fault is
    retried once after 300 ms, unless the provider is a `RetryingProvider` with rules of its own.
    Without `model` the environment names it.
    """

    name: str
    provider: ChatProvider = field(repr=False)
    instruction: str = field(repr=False)
    window: int = 3
    _: KW_ONLY
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    type: Any = None
    min_words: int = 0
    trigger: Trigger = "every_turn"
    promotions: tuple[Promotion, ...] = ()
    model: str | None = None
    thinking_budget: int | None = 0
    timeout: str = "5s"
    on_failure: OnFailure = "continue"
    hooks: Hooks | None = field(default=None, repr=False)
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)
    dropped: Counter[str] = field(default_factory=Counter[str], init=False, repr=False)
    """How often each fault has cost a field, over all runs."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", _schema(self.name, self.schema, self.type))

    def should_extract(self, window: Window) -> bool:
        """At every turn's end a turn without caller words brings nothing new to read."""
        if self.trigger != "every_turn":
            return bool(window)
        heard = [bool(turn.user) for turn in window]
        return bool(heard) and (heard[-1] or not any(heard))

    async def extract(self, window: Window, known: Mapping[str, Json] = NOTHING) -> dict[str, Json]:
        return (await self.ask(window, known)).fields

    async def ask(self, window: Window, known: Mapping[str, Json] = NOTHING) -> Answer:
        """As `extract`, with the record of how it went. Raises `ExtractionFailed`."""
        held = known_by_field(self.schema, self.promotions, known)
        request = ask(
            self.model or default_model(), self.instruction, window, held,
            quoted=bool(self._quoted), thinking=self.thinking_budget,
        )  # fmt: skip
        try:
            result = await self._extractor.extract(self._provider, request, self._asked)
        except FlowLLMError as error:
            raise _failure(self.name, error) from error
        fields, faults = self._good(result.value)
        # Their kind says nothing here: it is the union with null that did not fit.
        misfits = (f"{issue.rpartition(' (')[0]} (schema)" for issue in result.issues)
        dropped = (*misfits, *faults)
        self.dropped.update(dropped)
        return Answer(fields, dropped, result.metadata)

    def asked_models(self) -> tuple[ServedModel, ...]:
        return (ServedModel(self.model or default_model(), self._provider),)

    @property
    def _fields(self) -> Mapping[str, Any]:
        return self.schema["properties"]

    @cached_property
    def _quoted(self) -> frozenset[str]:
        rules = (rule.field for rule in self.promotions if getattr(rule, "quote", False))
        return frozenset(rules)

    @cached_property
    def _asked(self) -> Schema:
        return asked_schema(self.name, dict(self.schema), self._quoted)

    @cached_property
    def _typed(self) -> TypedFields | None:
        return None if self.type is None else TypedFields(self.type)

    @cached_property
    def _provider(self) -> ChatProvider:
        if isinstance(self.provider, RetryingProvider):
            return self.provider
        return RetryingProvider(self.provider, ONCE_AGAIN, self.sleep)

    @cached_property
    def _extractor(self) -> Extractor:
        # A model without structured output is asked in words: each field is checked here anyway.
        return Extractor(
            repair=True, retries=0, undeclared="ignore", on_exhausted="partial",
            allow_prompted=True, hooks=self.hooks,
        )  # fmt: skip

    def _good(self, value: Mapping[str, Json]) -> tuple[dict[str, Json], list[str]]:
        """The declared fields that hold something, each with its quote if it has one."""
        said = {name: item for name, item in value.items() if item is not None}
        given = {name: item for name, item in said.items() if not _is_broken(item)}
        fields = {name: given[name] for name in self._fields if name in given}
        quotes = {
            name + QUOTE: given[name + QUOTE] for name in self._quoted if name + QUOTE in given
        }
        faults = [
            f"{name} (unicode)" for name in self._fields if name in said.keys() - given.keys()
        ]
        faults += ["* (undeclared)"] * len(given.keys() - fields.keys() - quotes.keys())
        if self._typed is not None:
            fields, misfits = self._typed.check(fields)
            faults += misfits
        kept = {name: quote for name, quote in quotes.items() if name.removesuffix(QUOTE) in fields}
        return {**fields, **kept}, faults


def extract_turns(
    wanted: type[Any],
    provider: ChatProvider,
    instruction: str,
    *,
    window: int = 3,
    min_words: int = 3,
    **options: Unpack[Options],
) -> LlmExtractor:
    """An extractor of a pydantic model, TypedDict or dataclass, which has the type's name.

    Each field is checked by itself, by its own validators too; a rule over several is not asked.
    """
    name = getattr(wanted, "__name__", "")
    return LlmExtractor(
        name, provider, instruction, window, type=wanted, min_words=min_words, **options
    )


def from_spec(
    spec: ExtractSpec,
    served: ChatProvider | Providers,
    *,
    model: str | None = None,
    thinking_budget: int | None = None,
    hooks: Hooks | None = None,
) -> LlmExtractor:
    """The extractor of a flow's `extract` entry, whose own model and budget win over the flow's.

    `served` is who serves models, or the one provider of all. Where neither names a budget it is
    0; one of null, written out in the entry, is the model's default.
    """
    chosen = spec.model or model
    budget = thinking_budget or 0
    if "thinking_budget" in spec.model_fields_set:
        budget = spec.thinking_budget
    provider = served.serving(chosen).provider if isinstance(served, Providers) else served
    return LlmExtractor(
        spec.name, provider, spec.instruction, spec.window,
        schema=spec.schema_, min_words=spec.min_words, trigger=spec.trigger,
        promotions=spec.promote, timeout=spec.timeout, on_failure=spec.on_failure, model=chosen,
        thinking_budget=budget, hooks=hooks,
    )  # fmt: skip


def _schema(name: str, schema: Mapping[str, Any], wanted: Any) -> Schema:
    """The schema of an object with fields; what was given of the two."""
    if (wanted is None) == (not schema):
        raise FlowError(
            f"extractor {name!r} takes a schema with properties, or a type: one of them"
        )
    try:
        found = target(schema if wanted is None else wanted)
    except NoSchema as error:
        raise FlowError(f"extractor {name!r}: {error}") from None
    if found.wrapped or not found.schema.get("properties"):
        raise FlowError(
            f"extractor {name!r} has no fields: give an object's schema with `properties`, or a "
            "pydantic model, TypedDict or dataclass"
        )
    return found.schema


def _failure(name: str, error: FlowLLMError) -> ExtractionFailed:
    """The fault as a code: the provider's kind of error, or why the answer was no value."""
    match error:
        case ProviderError():
            return ExtractionFailed(name, error.kind)
        case ExtractFailure():
            code = getattr(error.error, "code", error.code)
            return ExtractionFailed(name, code, error.error.summary())
        case _:
            return ExtractionFailed(name, error.code)


def _is_broken(value: Json) -> bool:
    """Half of a surrogate pair: JSON can spell it, but nothing can store or send it."""
    try:
        compact(value).encode()
    except UnicodeEncodeError:
        return True
    return False
