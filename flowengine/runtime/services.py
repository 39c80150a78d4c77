"""What a process gives its sessions to work with: models, extractors, people, the world outside."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from flowengine.errors import FlowError, did_you_mean
from flowengine.extract.turn_extractor import TurnExtractor, spec_of
from flowengine.flow.functions import Functions
from flowengine.flow.index import Index
from flowengine.flow.model import Flow
from flowengine.flow.names import extraction_names
from flowengine.inputs import Json
from flowengine.runtime.hooks import Hooks
from flowengine.tools.confirm import Confirm
from flowengine.transcript import Turn

if TYPE_CHECKING:
    from flowengine.decide import Decider
    from flowengine.extract.models import Providers
    from flowengine.llm import ChatProvider
    from flowengine.sources.outside import Outside

Extract: TypeAlias = Callable[[tuple[Turn, ...], Mapping[str, Json]], Awaitable[Any] | Any]
"""An extractor as a function: (window of turns, what is known) -> the fields it found."""
Extractors: TypeAlias = Mapping[str, Extract | TurnExtractor] | Iterable[TurnExtractor]
BeforeResponse: TypeAlias = Callable[[str, Json], Awaitable[Any] | Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Shared by every session that is given it; what it learns, such as a model's quirks, stays.

    Without `llm` every model is Gemini, with the key of the environment.
    """

    llm: Providers | ChatProvider | Mapping[str, ChatProvider] | None = None
    extractors: Extractors = ()
    """They answer the flow's `extract` entries by name; others join the flow."""
    decider: Decider | None = None
    """Answers the decisions that no rule answers; a model if absent."""
    confirm: Confirm | None = None
    outside: Outside | None = None
    before_response: tuple[BeforeResponse, ...] = ()
    """Each sees (tool, response) and returns what the model and State get instead."""
    made: dict[Any, Any] = field(default_factory=dict[Any, Any], repr=False, compare=False)
    """What was made of a flow's data, such as its model extractors: each once."""

    def once(self, key: object, make: Callable[[], Any]) -> Any:
        found = self.made.get(key)
        if found is None:
            found = self.made[key] = make()
        return found

    @property
    def providers(self) -> Providers:
        def make() -> Providers:
            # Imported when a model is first needed: most tests and tools need none.
            from flowengine.extract.models import Providers

            return Providers.of(self.llm)

        return self.once("providers", make)

    @property
    def world(self) -> Outside:
        def make() -> Outside:
            from flowengine.sources.outside import Outside  # it brings an HTTP client with it

            return Outside()

        return self.outside if self.outside is not None else self.once("outside", make)

    async def warm(self, flow: Flow, functions: Functions | None = None) -> None:
        """Open a connection to each model that the flow will ask, and see that the key and the
        model are good: before the first caller pays for the one or meets the other.

        Raises:
            NotReady: models that cannot be asked; all of them are named.
        """
        from flowengine.runtime.warming import warm_models  # it brings clients of models with it

        await warm_models(flow, self, functions)

    def by_name(self) -> Mapping[str, Extract | TurnExtractor]:
        if isinstance(self.extractors, Mapping):
            return cast("Mapping[str, Extract | TurnExtractor]", self.extractors)
        named: dict[str, Extract | TurnExtractor] = {}
        for extractor in self.extractors:
            name = _name_of(extractor)
            if name in named:
                raise FlowError(f"two extractors are called {name!r}: rename one of them")
            named[name] = extractor
        return named


def _name_of(extractor: Any) -> str:
    """Raises FlowError for what cannot be called by a name."""
    if isinstance(extractor, type):
        raise FlowError(f"{extractor.__name__} is a class: give an extractor made of it")
    if inspect.isroutine(extractor):
        raise FlowError("a function has no name as an extractor: write `extractors={name: it}`")
    name = getattr(extractor, "name", None)
    if not isinstance(name, str):
        raise FlowError(f"extractor {type(extractor).__name__} has no `name`")
    return name


TOLD = 64
_log = logging.getLogger("flowengine")
_told: dict[tuple[int, int], tuple[Flow, Functions]] = {}
"""By identity; an entry keeps both alive, so that their ids are not used again."""

NONE = Services()
"""What a session has that is given nothing."""


def with_extractors(flow: Flow, services: Services) -> Flow:
    """The flow with the extractors of code that it does not name itself.

    It is made once for a flow and its services, so that it is compiled once.
    """
    if not services.extractors or not isinstance(flow, Flow):  # pyright: ignore[reportUnnecessaryIsInstance]
        return flow
    named = {spec.name for spec in flow.extract}
    fresh = [
        extractor for name, extractor in services.by_name().items()
        if name not in named and isinstance(extractor, TurnExtractor)
    ]  # fmt: skip
    if not fresh:
        return flow
    # The flow is kept with its extension, so that its id is not used again.
    made = services.once(("flow", id(flow)), lambda: (flow, _extended(flow, fresh)))
    return made[1]


def _extended(flow: Flow, extractors: Iterable[TurnExtractor]) -> Flow:
    specs = (*flow.extract, *map(spec_of, extractors))
    extended = flow.model_copy(update={"extract": specs})
    for found in extraction_names(Index(extended)):
        if found.severity == "error":
            raise FlowError(f"{found.message}; {found.suggestion}")
    return extended


def given(services: Services | None, **own: Any) -> Services:
    """What was passed for one session alone, over what is shared."""
    passed = {name: value for name, value in own.items() if value is not None}
    if services is None:
        return Services(**passed) if passed else NONE
    return replace(services, made={}, **passed) if passed else services


def check(services: Services, flow: Flow, functions: Functions, hooks: object = None) -> None:
    """What is missing would be found only when it is first wanted, in the middle of a call.

    Raises:
        FlowError: an extractor that the flow does not have, nobody to confirm what must be, a
            service of another kind.
    """
    _check_kinds(services, hooks)
    if _told.get((id(flow), id(functions))) is None:
        if len(_told) >= TOLD:
            del _told[next(iter(_told))]
        _told[id(flow), id(functions)] = (flow, functions)
        _tell_missing(flow, functions)
    known = [spec.name for spec in flow.extract]
    for name in services.by_name():
        if name not in known:
            raise FlowError(f"the flow has no extractor {name!r}.{did_you_mean(name, known)}")
    asking = [name for name, tool in flow.tools.items() if tool.confirm]
    if asking and services.confirm is None:
        raise FlowError(
            f"{', '.join(asking)}: a confirmation is asked for, and nobody can give it; pass "
            "`confirm=`"
        )


def _check_kinds(services: Services, hooks: object) -> None:
    decider, confirm = services.decider, services.confirm
    if decider is not None and not callable(getattr(decider, "decide", None)):
        raise FlowError("`decider` takes an object with a method `decide`, such as an LlmDecider")
    if confirm is not None and not callable(confirm):
        raise FlowError(
            "`confirm` takes an async function (tool, args, question) -> yes or why not"
        )
    if hooks is not None and not isinstance(hooks, Hooks):
        raise FlowError("`hooks` takes Hooks(on_extracted=..., on_extraction_error=...)")


def _tell_missing(flow: Flow, functions: Functions) -> None:
    """Log what has nothing that runs; a call may go without it, so it is no error yet."""
    wanted = [
        ("tool", name, tool.run or name)
        for name, tool in flow.tools.items()
        if tool.http is None and tool.mcp is None and tool.respond is None
    ]
    wanted += [
        ("resolver", name, spec.run or name)
        for name, spec in flow.resolvers.items()
        if spec.http is None and spec.mcp is None and spec.prompt is None
    ]
    wanted += [("decision", id, spec.run) for id, spec in flow.decisions.items() if spec.run]
    for kind, name, run in wanted:
        known = functions.of(kind)
        if run not in known:
            name_of = "" if run.isidentifier() else f"(name={run!r})"
            cure = f"decorate it @functions.{kind}{name_of} and pass `functions=`"
            guess = did_you_mean(run, known)
            _log.warning("%s %r has no function %r: %s.%s", kind, name, run, cure, guess)
