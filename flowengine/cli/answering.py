"""Who answers what a chat asks for: a script, the flow's async functions, or real models."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Mapping
from typing import Any

from typing_extensions import TypeIs

from flowengine.cli.fake import Fake, Spoken
from flowengine.clock import Clock
from flowengine.decide import options_of
from flowengine.effects import Decide, Effect, Resolve, RunExtractor, RunFunction, RunTool
from flowengine.flow.functions import Functions
from flowengine.flow.model import Flow
from flowengine.guards.lookup import look_up
from flowengine.inputs import Json
from flowengine.kernel import Kernel
from flowengine.runtime import Services
from flowengine.runtime.effects import Runnable, Runner
from flowengine.state.state import State
from flowengine.state.view import StateView
from flowengine.testing import PENDING, Failure, Simulation
from flowengine.testing.answering import Lookup, Ruling
from flowengine.testing.answers import Answer, Extract, Fields
from flowengine.transcript import Turn

KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")


def has_key() -> bool:
    """Whether Gemini can be asked."""
    return any(os.environ.get(name) for name in KEYS)


class Answering:
    """Answers for one chat. Without a script, what needs a model is asked of it, if `models`.

    What the script does not name is answered by the flow's own functions. A model is asked one
    thing after the other here; a session asks all at once.
    """

    def __init__(
        self,
        flow: Flow,
        functions: Functions,
        clock: Clock,
        fake: Fake | None = None,
        models: bool = False,
    ) -> None:
        self._flow, self._functions, self._fake = flow, functions, fake
        self._models = models and fake is None
        self._loop = asyncio.Runner()
        self._services = Services()
        self._compiled = Kernel(flow, functions).compiled
        self._runner = Runner(self._compiled, self._services, clock)
        self._call: Simulation | None = None
        self.spoken = Spoken()
        self._extracted: dict[str, Fields] = {}
        self._decided: dict[str, Json] = {}
        self.resolved: dict[str, Json] = {}
        """The last value of each resolver."""

    def close(self) -> None:
        """Close what models were asked by."""
        if self._models:
            self._loop.run(self._services.providers.aclose())
        self._loop.close()

    def bind(self, call: Simulation) -> None:
        """The call whose State is read; before there is one, State is empty."""
        self._call = call

    def taken(self) -> tuple[dict[str, Fields], dict[str, Json]]:
        """What extractors and questions have been answered since this was last asked."""
        found = self._extracted, self._decided
        self._extracted, self._decided = {}, {}
        return found

    # -- who answers ------------------------------------------------------------------------------

    @property
    def by_model(self) -> list[str]:
        """Extractors and questions that nobody but a model can answer."""
        coded, ruled = self._functions.of("extractor"), self._functions.of("decision")
        extractors = [spec.name for spec in self._flow.extract if spec.name not in coded]
        questions = [
            id for id, spec in self._flow.decisions.items()
            if not (spec.run or spec.recognize or id in ruled)
        ]  # fmt: skip
        return extractors + questions

    def extractions(self) -> dict[str, Extract]:
        """As a simulation takes them."""
        scripted = self._fake.names("extract") if self._fake else set[str]()
        mine = scripted | self._async("extractor")
        asked = self.by_model if self._models else ()
        names = [spec.name for spec in self._flow.extract if spec.name in {*mine, *asked}]
        return {name: self._extraction(name, name in scripted) for name in names}

    def decisions(self) -> dict[str, Ruling]:
        scripted = self._fake.names("decide") if self._fake else set[str]()
        ruled = self._async("decision")
        mine = {id for id, spec in self._flow.decisions.items() if (spec.run or id) in ruled}
        asked = self.by_model if self._models else ()
        names = [id for id in self._flow.decisions if id in scripted | mine or id in asked]
        return {id: self._decision(id, id in scripted) for id in names}

    def resolutions(self) -> dict[str, Lookup]:
        scripted = self._fake.names("resolve") if self._fake else set[str]()
        own, functions = self._flow.resolvers, self._async("resolver")
        mine = {name for name, spec in own.items() if (spec.run or name) in functions}
        names = scripted | mine | functions
        return {name: self._resolution(name, name in scripted) for name in names}

    def tool(self, name: str) -> Answer:
        """How its run ends; None: by what the flow itself has for it, PENDING: later."""
        if self._fake is not None and name in self._fake.names("tools"):
            return self._fake.find("tools", name, self.spoken)
        spec = self._flow.tools.get(name)
        if spec is None or (spec.respond is not None and not self._takes_time(name)):
            return None
        is_plain = (spec.run or name) in self._functions.of("tool") and not self._takes_time(name)
        return None if is_plain else PENDING

    def _takes_time(self, tool: str) -> bool:
        return (self._flow.tools[tool].run or tool) in self._async("tool")

    def confirmation(self, name: str) -> bool | str | None:
        """Whether a call is confirmed; None if nobody says."""
        found = self._fake.find("confirm", name, self.spoken) if self._fake else None
        return found if isinstance(found, bool | str) else None

    def runs(self, effect: Effect) -> TypeIs[RunTool | RunFunction]:
        """Whether the effect is an async function of the flow, which `run` runs."""
        match effect:
            case RunTool(_, _, name):
                return self.tool(name) is PENDING and self._takes_time(name)
            case RunFunction(_, name):
                return name in self._async("watcher")
            case _:
                return False

    def run(self, effect: RunTool | RunFunction) -> Json | Failure:
        """The outcome of an effect that `runs`."""
        return self._outcome(effect)

    # -- one answer -------------------------------------------------------------------------------

    def _extraction(self, name: str, is_scripted: bool) -> Extract:
        def extract(window: tuple[Turn, ...], known: Mapping[str, Json]) -> Any:
            if is_scripted and self._fake is not None:
                found = self._fake.find("extract", name, self.spoken)
            else:
                turn = window[-1].number if window else 0
                found = self._outcome(RunExtractor("", name, turn, window, known))
            fields = found if isinstance(found, dict | Failure) else {}
            self._extracted[name] = fields
            return fields

        return extract

    def _decision(self, id: str, is_scripted: bool) -> Ruling:
        def decide(turns: tuple[Turn, ...]) -> Json:
            if is_scripted and self._fake is not None:
                found = self._fake.find("decide", id, self.spoken)
            else:
                found = self._judged(id, turns)
            if not isinstance(found, Failure) and found is not None:
                self._decided[id] = found
                return found
            return None

        return decide

    def _resolution(self, name: str, is_scripted: bool) -> Lookup:
        def resolve(args: Mapping[str, Json]) -> Any:
            if is_scripted and self._fake is not None:
                found = self._fake.find("resolve", name, self.spoken)
            else:
                found = self._outcome(Resolve("", name, args))
            if not isinstance(found, Failure):
                self.resolved[name] = found
            return found

        return resolve

    def _judged(self, id: str, turns: tuple[Turn, ...]) -> Json | Failure:
        """One question of a round, by the flow's function or by a model."""
        options = options_of(self._flow.decisions[id], self._state().get)
        found = self._outcome(Decide("", (id,), 0, turns, {id: options}, self._context()))
        return found.get(id) if isinstance(found, dict) else None

    def _context(self) -> dict[str, Json]:
        """Where the call stands, as a session tells whoever decides."""
        if self._call is None:
            return {}
        state, texts = self._call.state, self._compiled.texts.phases
        shown = {key: look_up(key, state.get) for p in self._call.phases for key in texts[p].show}
        known: dict[str, Json] = {key: value for key, value in shown.items() if value is not None}
        return {"phase": self._call.phase, "known": known}

    # -- running it -------------------------------------------------------------------------------

    def _async(self, kind: str) -> set[str]:
        """The flow's functions of this kind that take time."""
        found = self._functions.of(kind).items()
        return {name for name, function in found if inspect.iscoroutinefunction(function)}

    def _outcome(self, effect: Runnable) -> Json | Failure:
        status, value, error = self._loop.run(self._runner.run(effect, self._state()))
        if status == "ok":
            return value
        ended = "timed_out" if status == "timed_out" else "failed"
        return Failure(ended, error or status)

    def _state(self) -> StateView:
        if self._call is not None:
            return self._call.state
        return StateView(State.over({}, {}, self._compiled.keys))
