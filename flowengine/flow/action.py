"""One thing that a flow does, as data: a write, an event, a resolver, words."""

from __future__ import annotations

from typing import TypeAlias

from pydantic import Field, model_validator

from flowengine.data import Data
from flowengine.inputs import Json


class TextFunction(Data):
    """Text from a registered function of State."""

    run: str


Text: TypeAlias = str | TextFunction
"""A template (`{key}`, `{key?yes:no}`) or a registered function that returns text."""


class Action(Data):
    """One thing to do, as data: exactly one of these."""

    set: dict[str, Json] | None = None
    copy_: dict[str, str] | None = Field(default=None, alias="copy")
    """Target key -> source key."""
    clear: tuple[str, ...] | None = None
    raise_: str | None = Field(default=None, alias="raise")
    """Offer an event once State has settled."""
    reset: tuple[str, ...] | None = None
    """Take back that these phases are done."""
    resolve: str | None = None
    """Launch a resolver; its result lands in `{name}:result`."""
    run: str | None = None
    """Run a registered function: a pure watcher now, an async one as an effect."""
    say: Text | None = None
    """Words to be spoken exactly."""
    context: Text | None = None
    """Something the model should know; it does not have to answer."""
    prompt: Text | None = None
    """Something the model must answer now."""

    @model_validator(mode="after")
    def _is_one_thing(self) -> Action:
        if len(self.model_fields_set) != 1:
            options = ", ".join(f.alias or name for name, f in type(self).model_fields.items())
            raise ValueError(f"an action does exactly one thing: one of {options}")
        return self


Actions: TypeAlias = tuple[Action, ...]
