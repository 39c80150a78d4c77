"""The base of everything a flow is made of: frozen, strict about unknown keys, plain data."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from flowengine.clock import duration_ms


class Data(BaseModel):
    """A frozen model; equal data are equal, unknown keys are errors."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, use_attribute_docstrings=True
    )


def _duration(text: str) -> str:
    duration_ms(text)
    return text


Duration = Annotated[str, AfterValidator(_duration), Field(examples=["30s", "1m30s"])]
"""A span of time as a flow writes it: `500ms`, `30s`, `1m30s`, `2h`, `1d`."""
