"""Resolvers as a flow declares them: plain data, run elsewhere."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import model_validator

from flowengine.data import Data, Duration
from flowengine.sources.spec import HttpRequest, McpCall
from flowengine.sources.template import prompt_keys

Mode: TypeAlias = Literal["call", "dispatch", "background"]
"""`call`: the turn waits for it; `dispatch`: it lands whenever it is done; `background`: so too,
and the model is told."""


class Resolver(Data):
    """A named async source of a value; its result lands in `{name}:result`."""

    description: str = ""
    run: str | None = None
    """The registered function; the resolver's own name if absent."""
    http: HttpRequest | None = None
    mcp: McpCall | None = None
    prompt: str | None = None
    """A question for a language model, with `{key}` filled in; the answer's text is the result."""
    model: str | None = None
    """The model that answers the prompt; the flow's `models.extraction` if absent."""
    args: tuple[str, ...] = ()
    """Keys bound to the parameters of the same names."""
    mode: Mode = "dispatch"
    announce: str = ""
    """What the model is told when a background run has landed; `{result}` is filled in."""
    timeout: Duration = "5s"
    ttl: Duration | None = None
    """How long a result is reused for the same arguments, within one call."""
    error_ttl: Duration | None = None
    """How long a failure is reused for the same arguments, so that it is not asked in a loop."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Every name of State on which its value depends: arguments, then placeholders."""
        names = [*self.args, *(prompt_keys(self.prompt) if self.prompt else ())]
        names += [name for request in (self.http, self.mcp) if request for name in request.reads]
        return tuple(dict.fromkeys(names))

    @model_validator(mode="after")
    def _has_one_source(self) -> Resolver:
        given = [n for n in ("run", "http", "mcp", "prompt") if getattr(self, n) is not None]
        if len(given) > 1:
            raise ValueError(f"a resolver has one source; it has {' and '.join(given)}")
        return self
