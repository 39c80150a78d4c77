"""A fragment: part of a flow under a name, with parameters and exits, to be spliced by `use`."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator

from flowengine.data import Data
from flowengine.inputs import Json

ParameterType: TypeAlias = Literal[
    "key", "keys", "phase", "tool", "tools", "record", "records", "resolver", "decision", "event",
    "guard", "text", "string", "boolean", "integer", "number", "duration", "list", "object", "any",
]  # fmt: skip


class Parameter(Data):
    """What a use may or must give; `tool: tool` is short for the type alone."""

    type: ParameterType = "any"
    description: str = ""
    default: Json = None
    """Without one the parameter must be given; with null, what names it is left out."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        return {"type": data} if isinstance(data, str) else data

    @property
    def required(self) -> bool:
        return "default" not in self.model_fields_set


class Exit(Data):
    """A way out, which a use leads to a phase of its flow; a text is its description."""

    description: str = ""
    optional: bool = False
    """A use may leave it out; the transitions to it are left out too."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        return {"description": data or ""} if isinstance(data, str | None) else data


class Fragment(Data):
    """Phases and what belongs to them, written once.

    In its sections `$name` stands for what a use gives for a parameter, `here` for the phase that
    uses it. Names that it declares are its own: a use `identify` makes `ask` into `identify.ask`.
    """

    description: str = ""
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    exits: dict[str, Exit] = Field(default_factory=dict)
    """Names that its transitions lead to like phases; a list is short for names alone."""
    phase: Any = None
    """What the phase that uses it gets: instruction, needs, transitions and so on."""
    digression: Any = None
    """The same where a digression uses it."""
    phases: Any = None
    """They go into the phase, digression or region that uses it."""
    state: Any = None
    records: Any = None
    extract: Any = None
    computed: Any = None
    watch: Any = None
    patterns: Any = None
    resolvers: Any = None
    tools: Any = None
    decisions: Any = None
    constraints: Any = None
    global_transitions: Any = None
    fallback_transitions: Any = None
    digressions: Any = None
    monitors: Any = None

    @field_validator("exits", mode="before")
    @classmethod
    def _exit_list(cls, value: Any) -> Any:
        return dict.fromkeys(value) if isinstance(value, list | tuple) else value  # pyright: ignore
