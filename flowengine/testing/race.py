"""Two orders of the same inputs beside each other: what they end in, and where they part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from flowengine.effects import Decide, RunTool
from flowengine.facts import Fact, as_json, canonical_json
from flowengine.inputs import (
    Admin,
    Generated,
    Heard,
    Input,
    Outcome,
    Said,
    Timer,
    ToolCalled,
    TurnEnded,
)
from flowengine.testing.answers import Task
from flowengine.testing.ends import Ended, differences
from flowengine.testing.recording import Recording, key_of, tasks_of

_PASSING = ("at", "run", "input", "timer", "runs", "turn", "span")
"""Fields of facts that tell when something happened."""


class Happened(NamedTuple):
    """One input of an order, and what it led to."""

    label: str
    facts: tuple[str, ...]


def race_text(recording: Recording, written: Ended, other: Ended, inputs: Sequence[Input]) -> str:
    """For people: the inputs of both orders, the difference of their ends, and its beginning."""
    ours, theirs = _told(recording, recording.inputs), _told(recording, inputs)
    rows = zip_longest((each.label for each in ours), (each.label for each in theirs), fillvalue="")
    table = [("as recorded", "in another order"), *rows]
    ends = [("at the end", "as recorded", "then"), *differences(written, other)]
    marked = [row if row[0] == row[1] or n == 0 else (row[0], f"> {row[1]}")
              for n, row in enumerate(table)]  # fmt: skip
    parts = ["another order ends in another way", _columns(marked), _columns(ends)]
    return "\n".join([*parts, *_first_difference(ours, theirs)])


def _told(recording: Recording, inputs: Iterable[Input]) -> list[Happened]:
    snapshot = recording.first.snapshot
    tasks = {task.id: task for task in tasks_of(recording.first.effects)}
    told: list[Happened] = []
    for input in inputs:
        turn = snapshot.transcript.current.number
        label = _label(input, turn, snapshot.at, tasks)
        step = recording.kernel.step(snapshot, input)
        snapshot = step.snapshot
        tasks |= {task.id: task for task in tasks_of(step.effects)}
        told.append(Happened(label, tuple(map(_written, step.facts))))
    return told


def _label(input: Input, turn: int, now: int, tasks: dict[str, Task]) -> str:
    """The input in a few words, none of them the caller's."""
    match input:
        case Heard():
            return f"the caller speaks, turn {turn}"
        case Said(_, _, _, True):
            return "the caller interrupts"
        case Said():
            return f"the model speaks, turn {turn}"
        case Generated():
            return f"the model's words are complete, turn {turn}"
        case TurnEnded():
            return f"turn {turn} ends"
        case ToolCalled(_, _, _, tool):
            return f"{tool} is called"
        case Timer(_, at):
            return f"a timer rings after {(at - now) / 1000:g} s"
        case Admin(_, _, values, _, event):
            return f"event {event}" if event else f"{', '.join(values)} set"
        case Outcome(_, _, effect, status):
            ends = "answers" if status == "ok" else status.replace("_", " ")
            return f"{_name(tasks.get(effect))} {ends}"


def _name(task: Task | None) -> str:
    match task:
        case None:
            return "what is not open"
        case RunTool(_, _, tool):
            return tool
        case Decide(_, questions, turn):
            return f"{', '.join(questions)} for turn {turn}"
        case _:
            kind, name, *about = key_of(task)
            return f"{name} for turn {about[0]}" if kind == "extractor" else name


def _first_difference(ours: list[Happened], theirs: list[Happened]) -> Iterator[str]:
    """The first input of the other order that led to other facts than it did as recorded."""
    left = list(ours)
    for happened in theirs:
        same = next((each for each in left if each.label == happened.label), None)
        if same is not None:
            left.remove(same)
        before = same.facts if same is not None else ()
        if sorted(before) != sorted(happened.facts):
            yield f"the first difference, when {happened.label}:"
            yield from (f"  - {fact}" for fact in before if fact not in happened.facts)
            yield from (f"  + {fact}" for fact in happened.facts if fact not in before)
            return


def _written(fact: Fact) -> str:
    told = {name: value for name, value in as_json(fact).items() if name not in _PASSING}
    kind = told.pop("fact")
    return f"{kind} {canonical_json(told)}"


def _columns(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  "
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
