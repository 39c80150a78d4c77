"""Which provider serves a model: what was registered first, then Gemini by its own name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cached_property

from flowengine.errors import FlowError, did_you_mean
from flowengine.llm.gemini import GeminiProvider
from flowengine.llm.provider import ChatProvider, ServedModel

ENVIRONMENT = "GEMINI_TEXT_MODEL"
DEFAULT_MODEL = "gemini-flash-latest"
"""A rolling alias: what serves it, and how fast, changes; name a model for anything that lasts."""

_GEMINI = ("gemini-", "models/gemini-")
_KNOWN = (DEFAULT_MODEL, "gemini-3.5-flash", "gemini-3.5-flash-lite", "gemini-3.1-flash-lite")


def default_model(environment: Mapping[str, str] = os.environ) -> str:
    """The model where none is named: `GEMINI_TEXT_MODEL`, else `gemini-flash-latest`."""
    return environment.get(ENVIRONMENT, "").strip() or DEFAULT_MODEL


class Providers:
    """Providers by model name or pattern (`{"llama-*": local}`); an exact name wins.

    `otherwise` serves every name that is not registered, and entries that name no model. Without
    it `gemini-*` runs on one `GeminiProvider`, so that what it learns of a model's thinking is
    learned once; its key is asked for at the first call.
    """

    def __init__(
        self,
        registered: Mapping[str, ChatProvider] | None = None,
        *,
        otherwise: ChatProvider | None = None,
    ) -> None:
        self._registered = dict(registered or {})
        self._otherwise = otherwise

    @classmethod
    def of(cls, given: Providers | ChatProvider | Mapping[str, ChatProvider] | None) -> Providers:
        """What a session's `llm=` may be: nothing, one provider for all, or providers by name."""
        if isinstance(given, Providers):
            return given
        if given is None or isinstance(given, Mapping):
            return cls(given)
        return cls(otherwise=given)

    def serving(self, model: str | None = None) -> ServedModel:
        """The model, or the default one for None, with its provider.

        Raises:
            FlowError: nobody serves a model of this name.
        """
        name = model or default_model()
        provider = self._named(name) or self._otherwise
        if provider is None and name.startswith(_GEMINI):
            provider = self._gemini
        if provider is None:
            guess = did_you_mean(name, (*self._registered, *_KNOWN))
            raise FlowError(
                f"no provider serves the model {name!r}: register one with "
                f"`Providers({{{name!r}: provider}})`, or name a gemini-* model.{guess}"
            )
        return ServedModel(name, provider)

    async def aclose(self) -> None:
        """Close the connections of the Gemini provider made here; others are their owners'."""
        if "_gemini" in self.__dict__:
            await self._gemini.aclose()

    def _named(self, name: str) -> ChatProvider | None:
        if name in self._registered:
            return self._registered[name]
        fits = (p for pattern, p in self._registered.items() if fnmatchcase(name, pattern))
        return next(fits, None)

    @cached_property
    def _gemini(self) -> GeminiProvider:
        return GeminiProvider()
