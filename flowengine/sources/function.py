"""A registered function as a source, and the JSON form of whatever it returns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from flowengine.errors import FlowEngineError, FunctionError, SourceError
from flowengine.inputs import Json
from flowengine.sources.arguments import Function, arguments_of
from flowengine.state.types import UNFIT, json_form


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """An async or plain function, called with arguments of the types that it asks for.

    A plain function runs on the event loop: it must not wait for anything.
    """

    name: str
    function: Function
    kind: str = "resolver"
    reads: tuple[str, ...] = ()

    async def fetch(self, args: Mapping[str, Json], state: Mapping[str, Any]) -> Json:
        bound = arguments_of(self.function).bind(args, f"{self.kind} {self.name!r}")
        return await called(self.kind, self.name, lambda: self.function(**bound))


async def called(kind: str, name: str, call: Callable[[], Any]) -> Json:
    """What a call of the user's code returns, awaited, as JSON.

    Raises:
        FunctionError: it raised; the cause is chained, its words are not repeated
        SourceError: `bad_result`; what it returns has no JSON form
    """
    try:
        value = call()
        if inspect.isawaitable(value):
            value = await value
    except FlowEngineError:
        raise
    except Exception as error:
        raise FunctionError(kind, name, error) from error
    return json_of(f"{kind} {name!r}", value)


def json_of(who: str, value: Any) -> Json:
    """A result as JSON: models, dataclasses, dates, decimals and sets too.

    Raises:
        SourceError: `bad_result`; names the type, never the value
    """
    try:
        return json_form(value)
    except UNFIT:
        pass
    except RecursionError:
        raise _no_json(who, value) from None
    try:
        return json_form(to_jsonable_python(value))
    except (PydanticSerializationError, RecursionError, *UNFIT):
        raise _no_json(who, value) from None


def _no_json(who: str, value: Any) -> SourceError:
    kind = type(value).__name__
    return SourceError(f"{who} returned {kind}, which has no JSON form", code="bad_result")
