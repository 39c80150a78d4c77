"""What is known of Gemini models by name; only a first guess, which the service may correct."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class ModelProfile:
    """`least` is the smallest budget besides 0; `can_stop`: 0 turns thinking off.

    `off_budget` is the first budget tried when no thinking is wanted; None sends nothing.
    """

    thinking: Literal["none", "budget", "level"] = "level"
    least: int = 1
    most: int = 32_768
    can_stop: bool = True
    off_budget: int | None = 0
    structured_output: bool = True
    tool_calls: bool = True
    tools_with_schema: bool = True

    @staticmethod
    def for_model(name: str) -> ModelProfile:
        """The profile of the first pattern that fits; a new model is taken for a current one."""
        bare = name.removeprefix("models/")
        return next(profile for pattern, profile in _PROFILES if re.match(pattern, bare))


_BUDGET = ModelProfile(thinking="budget", most=24_576, tools_with_schema=False)

_PROFILES: tuple[tuple[str, ModelProfile], ...] = (
    (r"gemma", ModelProfile(thinking="none", structured_output=False, tool_calls=False)),
    (r"gemini-[12]\.[0-4]", ModelProfile(thinking="none", tools_with_schema=False)),
    (
        r"gemini-2\.5-pro",
        ModelProfile(
            thinking="budget", least=128, can_stop=False, off_budget=128, tools_with_schema=False
        ),
    ),
    (
        r"gemini-2\.5-flash-lite",
        ModelProfile(thinking="budget", least=512, most=24_576, tools_with_schema=False),
    ),
    (r"gemini-2\.5", _BUDGET),
    (r"gemini-3\.5-flash-lite", ModelProfile(can_stop=False, off_budget=64)),
    (r"", ModelProfile()),
)
