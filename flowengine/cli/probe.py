"""`flowengine probe`: a flow's extraction fixtures against real models, as a table of latencies."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from flowengine.check.models import MODEL
from flowengine.cli.answering import KEYS, has_key
from flowengine.cli.fixtures import Fixture, load_fixtures
from flowengine.cli.misuse import Misuse
from flowengine.cli.probing import PERCENTILES, Asked, Probe, Probed
from flowengine.extract import Providers
from flowengine.flow.load import load
from flowengine.flow.model import Flow
from flowengine.llm import GeminiProvider, OpenAIProvider

PATIENCE_S = 120.0
"""How long an answer may take: the tail is what is to be seen."""


Service: TypeAlias = tuple[str, str | None]
"""`gemini`, or `openai` for whatever speaks that protocol; and its address if it is another."""


def probe_models(
    path: Path,
    models: Sequence[str],
    service: Service,
    as_json: bool = False,
    *,
    runs: int = 20,
    concurrency: int = 6,
    fixtures: Path | None = None,
) -> int:
    """Ask every model and print; 1 if one failed or found anything but what was expected."""
    flow = load(path)
    asked = [_asked(model) for model in models]
    given = load_fixtures(path, flow, fixtures)
    provider = _provider(service)
    probed = asyncio.run(_probe_all(flow, given, asked, provider, runs, concurrency))
    if as_json:
        whole = {"flow": flow.flow, "runs": runs, "concurrency": concurrency}
        print(json.dumps({**whole, "models": [one.to_json() for one in probed]}))
    else:
        _print(probed)
    return int(any(one.right < one.turns for one in probed))


def _asked(text: str) -> Asked:
    name, sign, budget = text.partition("=")
    if not name or (sign and not budget.isdecimal()):
        raise Misuse(f"{text!r} names no model: write NAME, or NAME=BUDGET such as {MODEL}=64")
    return Asked(name, int(budget) if sign else None)


def _provider(service: Service) -> GeminiProvider | OpenAIProvider:
    """Raises Misuse: there is no key, without which no model answers."""
    kind, base_url = service
    if kind == "gemini":
        if not has_key():
            raise Misuse(f"real models need a key: set {' or '.join(KEYS)}")
        return GeminiProvider(base_url=base_url, timeout_s=PATIENCE_S)
    key = os.environ.get("OPENAI_API_KEY")
    if base_url is None and not key:
        raise Misuse("OpenAI needs a key: set OPENAI_API_KEY, or name another service --base-url")
    return OpenAIProvider(
        base_url=base_url or "https://api.openai.com/v1", api_key=key, timeout_s=PATIENCE_S
    )


async def _probe_all(
    flow: Flow,
    fixtures: Sequence[Fixture],
    models: Sequence[Asked],
    provider: GeminiProvider | OpenAIProvider,
    runs: int,
    concurrency: int,
) -> list[Probed]:
    """One model after the other, so that none waits for another's answers."""
    probed: list[Probed] = []
    try:
        messages = Console(stderr=True)
        quiet = not messages.is_terminal
        with Progress(console=messages, transient=True, disable=quiet) as progress:
            for model in models:
                task = progress.add_task(str(model), total=runs * len(fixtures))
                probe = Probe(flow, model, Providers(otherwise=provider))
                advance = partial(progress.advance, task)
                probed.append(await probe.run(fixtures, runs, concurrency, advance))
    finally:
        await provider.aclose()
    return probed


def _print(probed: Sequence[Probed]) -> None:
    console = Console(soft_wrap=True, highlight=False)
    times = " / ".join(f"p{share}" for share in PERCENTILES)
    table = Table("model", f"turn {times} / max", "right", "late", box=None, pad_edge=False)
    for one in probed:
        seconds = [one.percentile(share) for share in PERCENTILES] + [max(one.seconds)]
        shown = " / ".join(f"{second:.2f}" for second in seconds) + " s"
        table.add_row(Text(str(one.asked)), shown, f"{one.right}/{one.turns}", str(one.late or ""))
    console.print(table)
    for one in probed:
        for what, count in one.wrong.most_common():
            console.print(Text(f"{one.asked}: {what}: {count} of {one.turns}"))
        for code, count in one.failed.most_common():
            console.print(Text(f"{one.asked}: failed ({code}): {count}"))
