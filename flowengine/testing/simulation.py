"""A call without a model, a network or a loop: inputs go straight to the kernel, time stands still.

It runs the same kernel as a live session, and gives its inputs the same ids, so what holds here
holds there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self

from flowengine.clock import ManualClock, duration_ms
from flowengine.facts import Fact, canonical_json
from flowengine.flow.functions import Functions
from flowengine.flow.model import Flow
from flowengine.inputs import Admin, Generated, Heard, Input, Json, Said, ToolCalled, TurnEnded
from flowengine.kernel import Context, Explanation, Kernel, Snapshot, WhyNot
from flowengine.kernel import from_json as snapshot_from_json
from flowengine.kernel import to_json as snapshot_to_json
from flowengine.runtime.outcome import ToolOutcome
from flowengine.runtime.result import TurnResult
from flowengine.state.view import StateView
from flowengine.testing.answering import Lookup, Ruling, Script, Standing
from flowengine.testing.answers import (
    Agreement,
    Answer,
    Decisions,
    Extract,
    Fields,
    Pending,
    failure,
)
from flowengine.testing.driver import Driver

UNHEARD = "…"
"""Words of a caller turn that is only about what they decide."""


class Simulation:
    """One call on a flow, driven by hand.

    ```python
    call = Simulation(flow, phase="negotiate", state={"identity_verified": True})
    call.turn("I can pay two hundred", "By when?", extract={"DebtorState": {"mood": "calm"}})
    assert call.phase == "negotiate" and call.why_not("confirm").missing == ("ptp_date",)
    ```

    What a step asks for is answered by what the step scripts (`extract=`, `decide=`, `result=`,
    `confirm=`), else by what holds for all steps: `extractions` (fields, a Failure, or a function
    of window and known keys), `decisions` (an answer, or a function of the turns), `resolutions`
    (a value, a Failure, or a function of the arguments) and `confirm`. Else extractors have found
    nothing and decisions are unsure, while resolvers, confirmations and background tools stay open
    until they are answered. With `run_functions` the flow's own synchronous resolvers, watchers,
    extractors and rules of decisions answer for themselves.
    """

    def __init__(
        self,
        flow: Flow,
        *,
        functions: Functions | None = None,
        state: Mapping[str, Any] | None = None,
        phase: str | None = None,
        clock: ManualClock | None = None,
        extractions: Mapping[str, Fields | Extract] | None = None,
        decisions: Mapping[str, Json | Ruling] | None = None,
        resolutions: Mapping[str, Answer | Lookup] | None = None,
        confirm: Agreement | None = None,
        run_functions: bool = False,
    ) -> None:
        self.clock = clock or ManualClock()
        kernel = Kernel(flow, functions)
        first = kernel.start(self.clock.now(), state, phase)
        standing = Standing(
            extractions or {}, decisions or {}, resolutions or {}, confirm, run_functions
        )
        self._driver = Driver(kernel, self.clock, first, standing)
        self._ids = 0

    # -- what goes in -------------------------------------------------------------------------

    def turn(
        self,
        user: str = "",
        model: str = "",
        *,
        values: Mapping[str, Json] | None = None,
        extract: Mapping[str, Fields] | None = None,
        decide: Decisions | None = None,
    ) -> TurnResult:
        """A whole turn: what was heard, what was said, its end, and the answers about it.

        Raises:
            TurnFailed: an input's consequences were rolled back; the call goes on.
            FlowError: `extract` scripts a run that this turn did not ask for, or `decide` of the
                turn before a question that was never asked about it.
        """
        now = self.clock.now()
        inputs: list[Input] = []
        if user:
            inputs.append(Heard(self._id(), now, user))
        if model:
            inputs.append(Said(self._id(), now, model))
        inputs.append(TurnEnded(self._id(), now, values or {}))
        return self._driver.do(inputs, Script.of(extract, decide))

    def hear(
        self,
        words: str,
        *,
        alternatives: tuple[str, ...] = (),
        extract: Mapping[str, Fields] | None = None,
        decide: Decisions | None = None,
    ) -> TurnResult:
        """Caller words; the turn goes on."""
        heard = Heard(self._id(), self.clock.now(), words, alternatives)
        return self._driver.do([heard], Script.of(extract, decide))

    def generate(self, words: str, *, extract: Mapping[str, Fields] | None = None) -> TurnResult:
        """The model's words are complete, and the caller is still to hear them; then `say` them."""
        generated = Generated(self._id(), self.clock.now(), words)
        return self._driver.do([generated], Script.of(extract, None))

    def say(self, words: str, *, interrupted: bool = False) -> TurnResult:
        """Model words, as far as the caller heard them; an interruption stops running tools."""
        return self._driver.do([Said(self._id(), self.clock.now(), words, interrupted)])

    def end_turn(
        self,
        *,
        values: Mapping[str, Json] | None = None,
        extract: Mapping[str, Fields] | None = None,
        decide: Decisions | None = None,
    ) -> TurnResult:
        ended = TurnEnded(self._id(), self.clock.now(), values or {})
        return self._driver.do([ended], Script.of(extract, decide))

    def decide(self, answers: Decisions) -> TurnResult:
        """Answer the questions that wait for it; if none does, in a caller turn of its own."""
        if self._driver.is_open("decision"):
            given = dict(answers) if isinstance(answers, Mapping) else answers
            return self._driver.answer(("decision",), "decision", given)
        return self.turn(UNHEARD, decide=answers)

    def set(self, key: str, value: Json, *, by: str = "admin") -> TurnResult:
        """Write a key from outside the conversation; None removes it."""
        return self._driver.do([Admin(self._id(), self.clock.now(), {key: value}, by=by)])

    def event(self, name: str) -> TurnResult:
        """Offer an event."""
        return self._driver.do([Admin(self._id(), self.clock.now(), event=name)])

    def tool(
        self,
        name: str,
        args: Mapping[str, Json] | None = None,
        *,
        result: Answer = None,
        error: str | None = None,
        respond: bool = False,
        confirm: Agreement | Pending | None = None,
        call: str | None = None,
        extract: Mapping[str, Fields] | None = None,
        decide: Decisions | None = None,
    ) -> ToolOutcome | None:
        """Ask for a tool as the model would; None while the call waits (see `outcomes`).

        An admitted call ends with `error` (a code; `timed_out` and `cancelled` are ends of their
        own), or with `result`, or with the tool's own `respond`, or with what its registered
        function returns: the first of these that there is. One in the background is answered at
        once and ends when `resolve` answers it, unless its end is given here.

        Raises:
            FlowError: the call was admitted, and there is nothing to answer it with.
        """
        id = self._id()
        call = call or f"call-{id}"
        answer: Answer = result if error is None else failure(error)
        if respond and answer is None and (spec := self._driver.flow.tools.get(name)):
            answer = spec.respond
        answering = self._driver.answering
        if answer is not None:
            answering.results[call] = answer
        if confirm is not None:
            answering.agreements[call] = confirm
        called = ToolCalled(id, self.clock.now(), call, name, args or {})
        try:
            self._driver.do([called], Script.of(extract, decide))
        finally:
            if self.has_ended(call):
                answering.results.pop(call, None)
                answering.agreements.pop(call, None)
        return self.outcomes.get(call)

    def has_ended(self, call: str) -> bool:
        """Whether the call has its answer and, if in the background, its result too."""
        return call in self.outcomes and call not in self.snapshot.wait.calls

    def check_asked(self) -> None:
        """Raises FlowError if `decide` has answered what was not asked about its turn."""
        self._driver.answering.check_asked()

    def confirm(self, answer: Agreement = True) -> TurnResult:
        """Agree to the call that has waited longest for it; a text declines and says why."""
        return self._driver.answer(("confirmation",), None, answer)

    def resolve(self, name: str, value: Json = None, *, error: str | None = None) -> TurnResult:
        """Answer the oldest open run of a resolver, a field, an async function or a tool."""
        kinds = ("resolver", "field", "function", "complete", "tool", "compensation")
        return self._driver.answer(kinds, name, value if error is None else failure(error))

    def extracted(self, name: str, fields: Fields) -> TurnResult:
        """Answer the oldest open run of an extractor that was left PENDING."""
        answer = dict(fields) if isinstance(fields, Mapping) else fields
        return self._driver.answer(("extractor",), name, answer)

    def advance(self, span: str) -> TurnResult:
        """Move the clock by `30s`, `1m30s`...; timers ring in order, each at its own instant."""
        return self._driver.advance(duration_ms(span))

    def restore(self) -> Self:
        """Go on from the snapshot's JSON, as another process would."""
        text = canonical_json(snapshot_to_json(self._driver.snapshot))
        self._driver.snapshot = snapshot_from_json(json.loads(text))
        return self

    # -- what can be seen ---------------------------------------------------------------------

    @property
    def latest(self) -> TurnResult:
        """What the last call of a method led to; after the start, its opening words and facts."""
        return self._driver.latest

    @property
    def phase(self) -> str:
        """The present phase of the main region."""
        return self.latest.phase

    @property
    def phases(self) -> tuple[str, ...]:
        """Every active phase in document order."""
        return self._driver.snapshot.place.active

    @property
    def state(self) -> StateView:
        return self.latest.state

    @property
    def context(self) -> Context:
        """What the model would be told now."""
        return self.latest.context

    @property
    def said(self) -> tuple[str, ...]:
        """Words to be spoken exactly, since the last call of a method."""
        return self.latest.said

    @property
    def ended(self) -> bool:
        return self._driver.snapshot.place.ended

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Everything that has happened."""
        return tuple(self._driver.facts)

    @property
    def lines(self) -> tuple[str, ...]:
        """The facts as canonical JSON lines, each with its id."""
        return tuple(self._driver.lines)

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Everything that went in; fed to a kernel again, it gives the same facts."""
        return tuple(self._driver.inputs)

    @property
    def running(self) -> tuple[str, ...]:
        """What has been asked for and has not answered, oldest first, by name."""
        return self._driver.running

    @property
    def outcomes(self) -> Mapping[str, ToolOutcome]:
        """How each tool call ended, by call id."""
        return self._driver.outcomes

    @property
    def driver(self) -> Driver:
        """What carries the call; for tools that look at a call as a whole."""
        return self._driver

    @property
    def snapshot(self) -> Snapshot:
        return self._driver.snapshot

    def explain(self) -> Explanation:
        return self._driver.kernel.explain(self._driver.snapshot)

    def why_not(self, phase: str) -> WhyNot:
        """For each edge that leads to `phase`, what keeps it shut."""
        return self.explain().why_not(phase)

    def _id(self) -> str:
        self._ids += 1
        return str(self._ids)
