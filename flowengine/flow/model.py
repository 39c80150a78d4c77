"""What a conversation is: phases, transitions, keys and everything around them, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from flowengine.data import Data, Duration
from flowengine.decide.spec import DecisionSpec
from flowengine.extract.spec import ExtractSpec, Records
from flowengine.flow.action import Actions, Text
from flowengine.flow.fragment import Fragment
from flowengine.flow.reaction import Computed, Pattern, Watch
from flowengine.flow.trouble import Repair, Rung, Timing
from flowengine.guards import Guard
from flowengine.inputs import Json
from flowengine.resolve.spec import Resolver
from flowengine.tools.spec import Tool

KeyType: TypeAlias = Literal[
    "boolean", "integer", "number", "string", "decimal", "date", "time", "datetime", "duration",
    "object", "array",
]  # fmt: skip


class Key(Data):
    """A declared key of State; `disclosure_given: boolean` is short for the type alone."""

    type: KeyType
    description: str = ""
    enum: tuple[Json, ...] | None = None
    default: Json = None
    pii: bool = False
    """Masked in facts and for every reader outside the process."""
    writers: tuple[str, ...] = ()
    """Who alone may write it, such as `tool:verify_identity`."""
    trusted: bool = False
    """No model extractor or decision may write it."""
    merge: Literal["last", "append", "union", "max", "conflict"] = "last"
    """How several writes of one batch combine."""
    depends_on: tuple[str, ...] = ()
    """Keys whose correction clears this one, such as what a confirmation confirmed."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        return {"type": data} if isinstance(data, str) else data


class Transition(Data):
    """An edge to another phase; without `on` it is eventless: tested whenever State has settled."""

    to: str
    when: Guard | None = None
    on: str | None = None
    """The event that it waits for."""
    after: Duration | None = None
    """Time in the phase before it may fire."""
    description: str = ""
    """Shown to the model in navigation, and on the drawing."""
    do: Actions = ()
    immediately: bool = False
    """Without `when` an edge waits until the caller has spoken; this drops the wait."""
    external: bool = False
    """A self transition that leaves and enters again."""
    history: Literal["shallow", "deep"] | None = None
    """Enter the target where it was left."""


class ToolRule(Data):
    """Which tools the model may call in a phase; an empty `allow` allows none."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()


class Note(Data):
    """Text that joins the instruction while its guard holds."""

    when: Guard
    text: Text


class Using(Data):
    """What stands for phases may take them from a fragment; a loaded flow has them in place."""

    use: str | Fragment | None = None
    """A fragment of the flow, of its files, or one that flowengine brings."""
    with_: dict[str, Any] = Field(default_factory=dict, alias="with")
    """Parameter -> value."""
    exits: dict[str, str] = Field(default_factory=dict)
    """Exit of the fragment -> the phase it leads to."""


class Phase(Using):
    """A state of the conversation: what the model is told, what is needed, where it may lead."""

    initial: bool = False
    final: bool = False
    title: str = ""
    description: str = ""
    instruction: Text = ""
    say: Text = ""
    """Words to be spoken exactly, on entry."""
    context: Text = ""
    """Known facts for the model, filled from State on every turn."""
    show: tuple[str, ...] = ()
    """Keys listed with the instruction while they hold something."""
    notes: tuple[Note, ...] = ()
    prompt_on_enter: bool = False
    enter_prompt: Text = ""
    """A bridging line for the model on entry; state intent, never assert facts."""
    needs: tuple[str, ...] = ()
    """Keys that the model should ask for; shown as unmet until they hold something."""
    collect: tuple[str, ...] = ()
    """Records whose fields this phase asks for."""
    entry: Guard | None = None
    """Must hold for any edge into this phase."""
    done: Guard | None = None
    transitions: tuple[Transition, ...] = ()
    on_enter: Actions = ()
    on_exit: Actions = ()
    tools: ToolRule | None = None
    repair: Repair | None = None
    no_input: tuple[Rung, ...] = ()
    """What is done when nobody speaks, step by step; the caller's words start it again."""
    no_match: tuple[Rung, ...] = ()
    """What is done when a turn brings nothing that the phase needs, turn by turn."""
    verbatim: float | None = Field(default=None, gt=0, le=1)
    """How alike the model's words must be to `say` for `verbatim:{phase}` to become true."""
    timing: Timing | None = None
    phases: dict[str, Phase] = Field(default_factory=dict)
    """Children; one of them is active while this phase is."""
    regions: dict[str, Region] = Field(default_factory=dict)
    """Parallel regions; all of them are active while this phase is."""

    @field_validator("tools", mode="before")
    @classmethod
    def _tool_list(cls, value: Any) -> Any:
        return value if isinstance(value, dict | ToolRule | None) else {"allow": value}  # pyright: ignore[reportUnknownVariableType]

    @model_validator(mode="after")
    def _is_one_shape(self) -> Phase:
        if self.phases and self.regions:
            raise ValueError("a phase has either `phases` or `regions`, not both")
        if self.final and (self.phases or self.regions or self.transitions):
            raise ValueError("a final phase has no transitions and no phases in it")
        return self

    def is_leaf(self) -> bool:
        return not self.phases and not self.regions


def _some(phases: dict[str, Phase], info: ValidationInfo) -> dict[str, Phase]:
    if phases or info.data.get("use"):
        return phases
    raise PydanticCustomError("too_short", "`phases` needs at least one entry")


Phases: TypeAlias = Annotated[dict[str, Phase], AfterValidator(_some)]


class Region(Using):
    """One of several phase sets that are active side by side."""

    phases: Phases = Field(default_factory=dict, validate_default=True)


Phase.model_rebuild()


class Digression(Using):
    """A detour with phases of its own, taken from anywhere in the conversation."""

    when: Guard | None = None
    on: str | None = None
    description: str = ""
    phases: Phases = Field(default_factory=dict, validate_default=True)
    resume: Literal["previous", "restart", "terminate"] = "previous"
    """Go back to where it left, start over, or end the conversation."""

    @model_validator(mode="after")
    def _has_trigger(self) -> Digression:
        if self.when is None and self.on is None and self.use is None:
            raise ValueError("a digression needs a trigger: `when` or `on`")
        return self


class Models(Data):
    """Which models do what."""

    extraction: str | None = None
    extraction_thinking_budget: int | None = None
    decision: str | None = None
    """Answers the decisions; the extraction model if absent."""


class Constraint(Data):
    """A rule over the whole conversation, whatever phase it is in: exactly one of the five."""

    once: str | None = None
    """A tool that may succeed once."""
    before: tuple[str, str] | None = None
    """The first phase is done, or the first tool has run, before the second opens."""
    never: str | None = None
    """A tool that may not run until `until` holds."""
    until: Guard | None = None
    require: tuple[str, ...] = ()
    """Phases without which the conversation is not complete."""
    ambient: tuple[str, ...] = ()
    """Tools that are open in every phase."""
    mode: Literal["enforce", "observe"] = "enforce"
    """Deny what breaks the rule, or only record it."""
    description: str = ""

    @model_validator(mode="after")
    def _is_one_rule(self) -> Constraint:
        rules = [n for n in ("once", "before", "never", "require", "ambient") if getattr(self, n)]
        if len(rules) != 1:
            raise ValueError("write exactly one of once, before, never, require, ambient")
        if (self.never is None) != (self.until is None):
            raise ValueError("`never: tool` goes with `until: guard`")
        return self


class PhaseDefaults(Data):
    """What every phase starts from; a phase's own modifiers come after these."""

    show: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    context: Text = ""
    prompt_on_enter: bool = False


class Flow(Data):
    """A whole conversation. Build it here, or load it with `Flow.load(path)`."""

    flow: str
    """Its name."""
    version: int = Field(default=1, ge=1)
    description: str = ""
    locale: str = "en-US"
    timezone: str = "UTC"
    """The caller's, unless the call says otherwise; relative dates are read in it."""
    instruction: Text = ""
    """Standing text that comes before each phase's own."""
    instruction_template: Text = ""
    """If it yields text, that replaces the whole instruction."""
    amendment: Text = ""
    """Joins the instruction on turns that move no phase."""
    models: Models = Models()
    state: dict[str, Key] = Field(default_factory=dict)
    records: Records = Field(default_factory=dict)
    extract: tuple[ExtractSpec, ...] = ()
    computed: dict[str, Computed] = Field(default_factory=dict)
    watch: tuple[Watch, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    resolvers: dict[str, Resolver] = Field(default_factory=dict)
    tools: dict[str, Tool] = Field(default_factory=dict)
    decisions: dict[str, DecisionSpec] = Field(default_factory=dict)
    constraints: tuple[Constraint, ...] = ()
    global_transitions: tuple[Transition, ...] = ()
    fallback_transitions: tuple[Transition, ...] = ()
    digressions: dict[str, Digression] = Field(default_factory=dict)
    phase_defaults: PhaseDefaults = PhaseDefaults()
    phases: dict[str, Phase] = Field(min_length=1)
    monitors: dict[str, Region] = Field(default_factory=dict)
    """Regions that run beside the whole conversation, digressions included."""
    fragments: dict[str, Fragment] | tuple[str | dict[str, Fragment], ...] = Field(
        default_factory=dict
    )
    """What phases, digressions and regions `use`: by name, or files that hold more of them.

    Using them leaves plain phases, so that a loaded flow has none.
    """

    @model_validator(mode="after")
    def _in_place(self) -> Flow:
        """What uses fragments becomes plain; in a file they have done so before."""
        if self.fragments or _use_fragments(self.phases, self.digressions, self.monitors):
            from flowengine.flow.fragments import in_place  # it stands on the models of this file

            plain = Flow.model_validate(in_place(self))
            vars(self).update(vars(plain))
            self.model_fields_set.update(plain.model_fields_set)
        return self

    @classmethod
    def load(cls, path: str | Path) -> Flow:
        """Read a flow from its folder or its YAML or JSON file.

        Raises:
            FlowFileError: all that is wrong with it, each mistake with its place.
        """
        from flowengine.flow.load import load  # the loader builds Flows: it stands on this file

        return load(path)

    def walk(self) -> Iterator[tuple[str, Phase, str | None]]:
        """Every phase, its name and its parent's: the body, digressions, monitors."""
        yield from _walk(self.phases, None)
        for digression in self.digressions.values():
            yield from _walk(digression.phases, None)
        for monitor in self.monitors.values():
            yield from _walk(monitor.phases, None)

    def phase(self, name: str) -> Phase:
        return next(phase for known, phase, _ in self.walk() if known == name)


def _use_fragments(*places: Mapping[str, Phase | Region | Digression]) -> bool:
    return any(
        part.use is not None
        or _use_fragments(part.phases)
        or (isinstance(part, Phase) and _use_fragments(part.regions))
        for place in places
        for part in place.values()
    )


def _walk(phases: dict[str, Phase], parent: str | None) -> Iterator[tuple[str, Phase, str | None]]:
    for name, phase in phases.items():
        yield name, phase, parent
        yield from _walk(phase.phases, name)
        for region in phase.regions.values():
            yield from _walk(region.phases, name)
