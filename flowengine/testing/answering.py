"""Who answers an effect in a test: the step's script, what holds for all steps, the flow itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from flowengine.effects import (
    AskConfirmation,
    Decide,
    Resolve,
    RunExtractor,
    RunTool,
)
from flowengine.errors import FlowError, did_you_mean
from flowengine.extract.answer import recognized
from flowengine.inputs import Json
from flowengine.kernel import CompiledFlow
from flowengine.testing.answers import (
    PENDING,
    Agreement,
    Answer,
    Decisions,
    Extract,
    Failure,
    Fields,
    Pending,
    Task,
    call,
    registered,
    rule,
)
from flowengine.transcript import Turn

Ruling: TypeAlias = Callable[[tuple[Turn, ...]], Json]
"""Answers a question from the turns."""
Lookup: TypeAlias = Callable[[Mapping[str, Json]], Json]
"""Answers a resolver from its arguments."""


@dataclass(slots=True)
class Script:
    """Answers that a step gives: extractions must be used in it, decisions in its caller turn."""

    extract: dict[str, Fields] = field(default_factory=dict[str, Fields])
    decide: Decisions = field(default_factory=dict[str, Json])

    @classmethod
    def of(cls, extract: Mapping[str, Fields] | None, decide: Decisions | None) -> Script:
        return cls(dict(extract or {}), {} if decide is None else decide)


@dataclass(frozen=True, slots=True)
class Standing:
    """Answers that hold for every step which says nothing else."""

    extractions: Mapping[str, Fields | Extract] = field(default_factory=dict[str, Fields | Extract])
    decisions: Mapping[str, Json | Ruling] = field(default_factory=dict[str, Json | Ruling])
    resolutions: Mapping[str, Answer | Lookup] = field(default_factory=dict[str, Answer | Lookup])
    confirm: Agreement | None = None
    run_functions: bool = False


class Answering:
    """Finds the answer to each effect of one call; PENDING if nobody gives one yet."""

    def __init__(self, compiled: CompiledFlow, standing: Standing) -> None:
        self._flow, self._functions, self._standing = compiled.flow, compiled.functions, standing
        self.results: dict[str, Answer] = {}
        """Call id -> how its run ends."""
        self.agreements: dict[str, Agreement | Pending] = {}
        """Call id -> what is said when its confirmation is asked for."""
        self._decide: dict[str, Json] = {}
        """What this caller turn is about, by question."""
        self._unasked: set[str] = set()
        self._asked: dict[str, None] = {}
        """The questions that were asked so far."""
        self._check("extractor", self._extractors, standing.extractions)
        self._check("decision", self._flow.decisions, standing.decisions)

    def begin(self, script: Script, *, new_turn: bool) -> None:
        """Take what a step scripts.

        Raises:
            FlowError: a name that the flow does not have, or an answer that was never asked for.
        """
        self._check("extractor", self._extractors, script.extract)
        if isinstance(script.decide, Mapping):
            self._check("decision", self._flow.decisions, script.decide)
        if new_turn:
            self.check_asked()
            self._decide.clear()
        if isinstance(script.decide, Mapping):
            self._decide.update(script.decide)
            self._unasked |= script.decide.keys()

    def check_asked(self) -> None:
        """Raises FlowError for an answer about the turn so far that no question has asked for."""
        unasked, self._unasked = sorted(self._unasked), set()
        if unasked:
            names = ", ".join(map(repr, unasked))
            was = "was" if len(unasked) == 1 else "were"
            raise FlowError(
                f"decision {names} {was} not asked about its turn, so the answer was not used; "
                f"asked were {', '.join(self._asked) or 'none'}"
            )

    def answer(self, task: Task, script: Script) -> Any:
        match task:
            case RunTool():
                return self._tool(task)
            case AskConfirmation(_, call):
                agreement = self.agreements.pop(call, self._standing.confirm)
                return PENDING if agreement is None else agreement
            case Decide():
                return self._decisions(task, script)
            case RunExtractor(_, name) if name in script.extract:
                return script.extract.pop(name)
            case _:
                return self._otherwise(task)

    def _otherwise(self, task: Task) -> Any:
        standing = self._standing
        match task:
            case RunExtractor(_, name, _, window, known) if name in standing.extractions:
                always = standing.extractions[name]
                return always(window, known) if callable(always) else always
            case Resolve(_, name, args, place) if {name, place} & standing.resolutions.keys():
                found = standing.resolutions.get(place) or standing.resolutions.get(name)
                return found(args) if callable(found) else found
            case _:
                own = registered(self._functions, self._flow, task)
        if own is not None and standing.run_functions:
            return call(own)
        return {} if isinstance(task, RunExtractor) else PENDING

    def _tool(self, task: RunTool) -> Answer:
        if task.call in self.results:
            return self.results.pop(task.call)
        spec, own = self._flow.tools[task.tool], registered(self._functions, self._flow, task)
        if spec.background:
            return PENDING
        if own is None and spec.respond is None:
            raise FlowError(
                f"the call of tool {task.tool!r} was admitted, and there is neither a synchronous "
                "function nor `respond` to run: pass `result=` or `error=` (`result=PENDING` "
                "leaves it running)"
            )
        return call(own) if own is not None else spec.respond

    def _decisions(self, task: Decide, script: Script) -> Decisions:
        self._asked.update(dict.fromkeys(task.questions))
        if not isinstance(script.decide, Mapping):
            ended, script.decide = script.decide, {}
            return ended
        self._unasked -= {*task.questions}
        found = ((question, self._decision(task, question)) for question in task.questions)
        return {question: answer for question, answer in found if answer is not None}

    def _decision(self, task: Decide, question: str) -> Json:
        standing, spec = self._standing, self._flow.decisions[question]
        if question in self._decide:
            return self._decide[question]
        if question in standing.decisions:
            always = standing.decisions[question]
            return always(task.window) if callable(always) else always
        if spec.recognize is not None:
            return recognized(spec.recognize, task.window, task.options[question])
        own = rule(self._functions, self._flow, question, task) if standing.run_functions else None
        ruled = call(own) if own is not None else None
        return None if isinstance(ruled, Failure) or ruled is PENDING else ruled

    @property
    def _extractors(self) -> list[str]:
        return [spec.name for spec in self._flow.extract]

    def _check(self, what: str, known: Iterable[str], names: Iterable[str]) -> None:
        for name in names:
            if name not in known:
                raise FlowError(f"the flow has no {what} {name!r}.{did_you_mean(name, known)}")
