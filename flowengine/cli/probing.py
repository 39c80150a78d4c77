"""A flow's extraction fixtures asked of one model, as often as wanted: how fast, and how right."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

from flowengine.cli.fixtures import Fixture, faults
from flowengine.clock import duration_ms
from flowengine.extract import (
    ExtractionFailed,
    LlmExtractor,
    Providers,
    from_spec,
)
from flowengine.flow.model import Flow

Progress: TypeAlias = Callable[[], object]
PERCENTILES = (50, 90, 99)


class Asked(NamedTuple):
    """A model, and its thinking budget if it is not to be the flow's."""

    model: str
    budget: int | None = None

    def __str__(self) -> str:
        return self.model if self.budget is None else f"{self.model}, budget {self.budget}"


@dataclass(slots=True)
class Probed:
    """What a model did; a turn is right if every extractor answered and no field differs.

    A turn lasts until the slowest of its extractors, which run at once.
    """

    asked: Asked
    seconds: list[float] = field(default_factory=list[float])
    right: int = 0
    late: int = 0
    """Extractions that took longer than the flow would wait for them."""
    wrong: Counter[str] = field(default_factory=Counter[str])
    failed: Counter[str] = field(default_factory=Counter[str])
    """Extractions that brought nothing, by error code."""

    @property
    def turns(self) -> int:
        return len(self.seconds)

    def percentile(self, share: int) -> float:
        """The least time within which so many of a hundred turns were done."""
        ordered = sorted(self.seconds)
        return ordered[max(math.ceil(len(ordered) * share / 100), 1) - 1]

    def to_json(self) -> dict[str, Any]:
        times = {f"p{share}": round(self.percentile(share), 3) for share in PERCENTILES}
        return {
            "model": self.asked.model,
            "thinking_budget": self.asked.budget,
            "turns": self.turns,
            "seconds": {**times, "max": round(max(self.seconds), 3)},
            "right": self.right,
            "late": self.late,
            "wrong": dict(self.wrong.most_common()),
            "failed": dict(self.failed.most_common()),
        }


class Probe:
    """Asks a flow's extractors of one model.

    Times are measured here; nothing but fields, counts and codes is kept of what was answered.
    """

    def __init__(self, flow: Flow, asked: Asked, providers: Providers) -> None:
        self.probed = Probed(asked)
        self._flow, self._providers = flow, providers
        self._extractors: dict[str, LlmExtractor] = {}

    async def run(
        self, fixtures: Sequence[Fixture], runs: int, concurrency: int, progress: Progress
    ) -> Probed:
        """Every fixture `runs` times, `concurrency` turns at a time."""
        places = asyncio.Semaphore(concurrency)

        async def turn(fixture: Fixture) -> None:
            async with places:
                await self._turn(fixture)
            progress()

        await asyncio.gather(*(turn(fixture) for _ in range(runs) for fixture in fixtures))
        return self.probed

    async def _turn(self, fixture: Fixture) -> None:
        began = perf_counter()
        answered = await asyncio.gather(*(self._ask(fixture, name) for name in fixture.expect))
        self.probed.seconds.append(perf_counter() - began)
        self.probed.right += all(answered)

    async def _ask(self, fixture: Fixture, name: str) -> bool:
        """Whether the extractor found what it should."""
        extractor, began = self._extractor(name), perf_counter()
        try:
            answer = await extractor.ask(fixture.window(extractor.window), fixture.known)
        except ExtractionFailed as error:
            self.probed.failed[error.code] += 1
            return False
        finally:
            took = (perf_counter() - began) * 1000
            self.probed.late += took > duration_ms(extractor.timeout)
        differing = faults(fixture.expect[name], answer.fields, self._flow.locale)
        self.probed.wrong.update({f"{name}.{fault}": n for fault, n in differing.items()})
        return not differing

    def _extractor(self, name: str) -> LlmExtractor:
        """One for all turns: what it learns of the model's thinking is learned once."""
        if name not in self._extractors:
            spec = next(spec for spec in self._flow.extract if spec.name == name)
            changed: dict[str, Any] = {"model": self.probed.asked.model}
            if self.probed.asked.budget is not None:
                changed["thinking_budget"] = self.probed.asked.budget
            self._extractors[name] = from_spec(
                spec.model_copy(update=changed),
                self._providers,
                thinking_budget=self._flow.models.extraction_thinking_budget,
            )
        return self._extractors[name]
