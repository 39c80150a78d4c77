"""What a process gives its sessions to work with: models, extractors, people, the world outside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from flowengine.errors import FlowError, did_you_mean
from flowengine.extract.turn_extractor import TurnExtractor, spec_of
from flowengine.flow.model import Flow
from flowengine.inputs import Json
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

    def by_name(self) -> Mapping[str, Extract | TurnExtractor]:
        if isinstance(self.extractors, Mapping):
            return cast("Mapping[str, Extract | TurnExtractor]", self.extractors)
        return {extractor.name: extractor for extractor in self.extractors}


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
    specs = (*flow.extract, *map(spec_of, fresh))
    # The flow is kept with its extension, so that its id is not used again.
    made = services.once(
        ("flow", id(flow)), lambda: (flow, flow.model_copy(update={"extract": specs}))
    )
    return made[1]


def given(services: Services | None, **own: Any) -> Services:
    """What was passed for one session alone, over what is shared."""
    passed = {name: value for name, value in own.items() if value is not None}
    if services is None:
        return Services(**passed) if passed else NONE
    return replace(services, made={}, **passed) if passed else services


def check(services: Services, flow: Flow) -> None:
    """A wrong name would be found only when it is first missed, in the middle of a call.

    Raises:
        FlowError: an extractor that the flow does not have, or nobody to confirm what must be.
    """
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
