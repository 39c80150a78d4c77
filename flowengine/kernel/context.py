"""What the model is told after a step: one context, worked out only when somebody reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from flowengine.flow.functions import Functions
from flowengine.flow.model import Flow, Note, Phase
from flowengine.flow.text import Find, shown
from flowengine.guards import CompiledGuard, Guard
from flowengine.guards.lookup import look_up
from flowengine.inputs import Json
from flowengine.kernel.actions import compile_text

RECENT = 3
"""Earlier phases that navigation names."""

Words: TypeAlias = Callable[[Find], str]


@dataclass(frozen=True, slots=True)
class Context:
    """Everything that a model needs to know for its next words."""

    instruction: str
    """What to do in the present phase, with the flow's standing text before it."""
    known: Mapping[str, Json]
    """Keys that the active phases show, as far as they hold something."""
    facts: str
    """The phases' context templates, filled."""
    navigation: str
    """Where the conversation is, where it was, what is needed, where it may go."""
    unmet: tuple[str, ...]
    """Keys that the active phases still need."""
    tools: tuple[str, ...]
    """Tools that may be called now."""

    def text(self) -> str:
        """All of it as one block for a model's instructions."""
        known = "\n".join(f"- {_plain(key)}: {shown(value)}" for key, value in self.known.items())
        parts = (self.instruction, known and f"Known so far:\n{known}", self.facts, self.navigation)
        return "\n\n".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class PhaseTexts:
    """A phase's texts, compiled; the flow's defaults come first."""

    instruction: Words
    contexts: tuple[Words, ...]
    notes: tuple[tuple[CompiledGuard, Words], ...]
    show: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Texts:
    """Every text of a flow that a context is made of."""

    standing: Words
    replacement: Words
    amendment: Words
    phases: Mapping[str, PhaseTexts]


def compile_texts(
    flow: Flow, functions: Functions, guard: Callable[[Guard, str | None], CompiledGuard]
) -> Texts:
    """Compile the texts of a flow and its phases."""
    return Texts(
        standing=compile_text(flow.instruction, functions),
        replacement=compile_text(flow.instruction_template, functions),
        amendment=compile_text(flow.amendment, functions),
        phases={
            name: _texts(flow, name, phase, functions, guard) for name, phase, _ in flow.walk()
        },
    )


def _texts(
    flow: Flow,
    name: str,
    phase: Phase,
    functions: Functions,
    guard: Callable[[Guard, str | None], CompiledGuard],
) -> PhaseTexts:
    defaults = flow.phase_defaults

    def compiled(note: Note) -> tuple[CompiledGuard, Words]:
        return guard(note.when, name), compile_text(note.text, functions)

    texts = (defaults.context, phase.context)
    return PhaseTexts(
        instruction=compile_text(phase.instruction, functions),
        contexts=tuple(compile_text(text, functions) for text in texts if text),
        notes=tuple(compiled(note) for note in (*defaults.notes, *phase.notes)),
        show=tuple(dict.fromkeys((*defaults.show, *phase.show))),
    )


def context_of(work: Any, tools: tuple[str, ...], unmet: tuple[str, ...], moved: bool) -> Context:
    """The context of a session at rest; `work` is a step over its snapshot."""
    texts: Texts = work.flow.texts
    active = [texts.phases[name] for name in work.place.active]
    find = work.find
    replaced = texts.replacement(find)
    shown_keys = dict.fromkeys(key for phase in active for key in phase.show)
    return Context(
        instruction=replaced or _instruction(work, texts, active, moved),
        known={key: value for key in shown_keys if (value := look_up(key, find)) is not None},
        facts=_joined(words(find) for phase in active for words in phase.contexts),
        navigation=navigation(work, unmet),
        unmet=unmet,
        tools=tools,
    )


def _instruction(work: Any, texts: Texts, active: list[PhaseTexts], moved: bool) -> str:
    find = work.find
    lines = [texts.standing(find), *(phase.instruction(find) for phase in active)]
    lines += [words(find) for phase in active for guard, words in phase.notes if guard.test(work)]
    lines.append("" if moved else texts.amendment(find))
    return _joined(lines)


def navigation(work: Any, unmet: tuple[str, ...]) -> str:
    """Present phase, the last three before it, what is still needed, and where it may lead."""
    texts: Texts = work.flow.texts
    leaf = work.main_leaf()
    goal = _first_sentence(texts.phases[leaf].instruction(work.find))
    lines = [f"Now in: {leaf}" + (f" - {goal}" if goal else "")]
    before = [f"{name} (turn {turn})" for name, turn in work.place.trail[-RECENT:]]
    if before:
        lines.append(f"Before: {', '.join(before)}")
    if unmet:
        lines.append(f"Still needed: {', '.join(map(_plain, unmet))}")
    if work.place.ended:
        lines.append("This is the final phase.")
    lines += _ways_on(work, leaf)
    return "\n".join(lines)


def _ways_on(work: Any, leaf: str) -> list[str]:
    found: dict[str, str] = {}
    for edge in work.flow.chart.candidates(leaf):
        if edge.target is not None and edge.transition is not None and edge.target != leaf:
            found.setdefault(edge.target, edge.transition.description)
    return [f"May lead to: {to}" + (f" - {why}" if why else "") for to, why in found.items()]


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0]


def _joined(lines: Any) -> str:
    return "\n".join(line for line in lines if line)


def _plain(key: str) -> str:
    """A key as people read it: without its prefix."""
    return key.rpartition(":")[2].replace("_", " ")
