"""The settings of an extractor, and what user validators see."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from flowengine.errors import did_you_mean
from flowengine.llm.grounding import GroundingPolicy
from flowengine.llm.hooks import Hooks
from flowengine.llm.limits import UsageLimits
from flowengine.llm.reask import ReaskBuilder, reask
from flowengine.llm.vocabulary import ExtractionMode, RepairLevel


class AskAgain(Exception):
    """Raised by a validator: the value will not do, and this is what to tell the model."""


@dataclass(frozen=True, slots=True)
class ValidatorContext:
    """`attempt` starts at 1; `last`: no retry is left. Partial values are never validated."""

    attempt: int
    last: bool
    values: Mapping[str, Any] = field(repr=False)
    partial: bool = False


Validator: TypeAlias = Callable[[Any, ValidatorContext], Awaitable[None] | None]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to extract; the defaults make exactly one call, parse strictly and mend nothing.

    `retries`: further calls after an output that could not be used. `validators` reject a value
    by raising `AskAgain` or `ValueError`. `context` reaches pydantic validators together with
    `extraction`, a `ValidatorContext`. `truncation="grow"` doubles max_output_tokens on a retry.
    `on_exhausted="partial"` accepts a value without the fields that did not fit, if that is one.
    """

    repair: bool | RepairLevel = False
    retries: int = 0
    mode: ExtractionMode = ExtractionMode.AUTO
    undeclared: Literal["reject", "ignore"] = "reject"
    validators: tuple[Validator, ...] = ()
    context: Mapping[str, Any] | None = field(default=None, repr=False)
    limits: UsageLimits | None = None
    hooks: Hooks | None = None
    reask: ReaskBuilder = reask
    truncation: Literal["fail", "grow"] = "fail"
    schema_ladder: bool = True
    on_exhausted: Literal["raise", "partial"] = "raise"
    evidence: GroundingPolicy | None = None
    allow_prompted: bool = False
    allow_prefill: bool = False
    on_item_error: Literal["raise", "drop"] = "raise"
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        """Raises `ValueError` for a setting that cannot be meant."""
        if self.retries < 0:
            raise ValueError(f"retries is a count of further calls, not {self.retries}")
        object.__setattr__(self, "mode", ExtractionMode(self.mode))
        if not isinstance(self.repair, bool):
            _choose("repair", self.repair, [level.value for level in RepairLevel])
        for name, words in _CHOICES.items():
            _choose(name, getattr(self, name), words)

    @property
    def repair_level(self) -> RepairLevel:
        if isinstance(self.repair, bool):
            return RepairLevel.SYNTAX if self.repair else RepairLevel.OFF
        return RepairLevel(self.repair)


_CHOICES = {
    "undeclared": ("reject", "ignore"),
    "truncation": ("fail", "grow"),
    "on_exhausted": ("raise", "partial"),
    "on_item_error": ("raise", "drop"),
}


def _choose(name: str, given: str, words: Sequence[str]) -> None:
    if given not in words:
        hint = did_you_mean(given, words)
        raise ValueError(f"{name} is one of {', '.join(words)}, not {given!r}.{hint}")
