"""Extraction that runs on whatever model the environment happens to name."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.flow.diagnostic import Finding, Patch, pointer, warning
from flowengine.flow.functions import Declared
from flowengine.flow.index import Index

MODEL = "gemini-3.5-flash-lite"
BUDGET = 64
"""The smallest thinking budget that this model accepts; it keeps thinking off."""


def unpinned_extraction_model(index: Index, functions: Declared | None) -> Iterator[Finding]:
    """Every extraction by a model names it, itself or by `models.extraction`."""
    if index.flow.models.extraction is not None:
        return
    coded = (functions or {}).get("extractor", ())
    unpinned = [e.name for e in index.flow.extract if e.model is None and e.name not in coded]
    if unpinned:
        names = ", ".join(unpinned)
        yield warning(
            "unpinned_extraction_model",
            f"no model is named for {names}: what answers, and how fast, changes without notice",
            ("extract",),
            suggestion=f"name one under `models.extraction`, such as {MODEL} with "
            f"`extraction_thinking_budget: {BUDGET}`",
            fix=_pinned(index),
            on_key=True,
        )


def _pinned(index: Index) -> Patch:
    flow = index.flow
    wanted = {"extraction": MODEL, "extraction_thinking_budget": BUDGET}
    if "models" not in flow.model_fields_set:
        return ({"op": "add", "path": "/models", "value": {**wanted}},)
    if flow.models.extraction_thinking_budget is not None:
        del wanted["extraction_thinking_budget"]
    return tuple(
        {"op": "add", "path": pointer(("models", name)), "value": value}
        for name, value in wanted.items()
    )
