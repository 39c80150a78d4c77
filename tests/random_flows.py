"""Random flows over boolean keys: the same seed, the same flow and the same walk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from flowengine.flow.action import Action
from flowengine.flow.model import Digression, Flow, Phase, Region, Transition
from flowengine.guards import AllOf, AnyOf, Atom, Guard, Not, is_true

KEYS = ("a", "b", "c", "d", "e")
EVENTS = ("ready", "a")
RETURN = "return"
"""The input that ends a digression."""
CORRECT = "correct"
"""The input that leads back to the last phase of the body, from elsewhere."""

ODD_NAMES = (
    "end", "default", "model", "state", "send", "class", "付款", 'the "q"', "x[y]", "a:b", "<b>",
    "two words", "s1", "deep3", "root", "body", "main ", "ready", "digression:0",
)  # fmt: skip


@dataclass(frozen=True)
class Input:
    writes: Mapping[str, bool]
    event: str | None


def random_flow(seed: int) -> Flow:
    """Nested and parallel phases, digressions, monitors; edges of every kind."""
    return _Author(Random(seed)).flow()


def random_walk(seed: int, length: int) -> list[Input]:
    rng = Random(f"walk {seed}")
    return [
        Input(
            writes={key: rng.random() < 0.5 for key in rng.sample(KEYS, rng.randint(0, 3))},
            event=rng.choice((None, RETURN, RETURN, CORRECT, *EVENTS, *EVENTS)),
        )
        for _ in range(length)
    ]


def holds(guard: Guard | None, store: Mapping[str, bool]) -> bool:
    """Whether a guard made of `is_true`, `&`, `|`, `~` is true; an absent one is."""
    match guard:
        case None:
            return True
        case Atom("is_true", (key,)):
            return store.get(key, False)
        case AllOf(guards):
            return all(holds(part, store) for part in guards)
        case AnyOf(guards):
            return any(holds(part, store) for part in guards)
        case Not(part):
            return not holds(part, store)
    raise AssertionError(f"random flows have no {guard!r}")


class _Author:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.names = [*rng.sample(ODD_NAMES, 5), *(f"p{n}" for n in range(200))]

    def flow(self) -> Flow:
        body = self.outline(self.rng.choice((2, 3, 3, 4)), depth=0)
        detours = {name: self.outline(self.rng.randint(1, 2), depth=2) for name in self.detours()}
        monitors = {
            f"m{n}": self.outline(self.rng.randint(1, 2), depth=2)
            for n in range(self.rng.choice((0, 0, 0, 1, 1, 2)))
        }
        targets = _names(body)
        return Flow(
            flow="random",
            phases=self.phases(body, targets),
            digressions={
                name: Digression(
                    phases=self.phases(outline, _names(outline) * 3 + targets[:2]),
                    when=self.guard(),
                    on=self.event(),
                    resume=self.rng.choice(("previous", "previous", "restart", "terminate")),
                )
                for name, outline in detours.items()
            },
            monitors={
                name: Region(phases=self.phases(outline, _names(outline)))
                for name, outline in monitors.items()
            },
            global_transitions=self.transitions(targets, at_most=2),
            fallback_transitions=self.transitions(targets, at_most=2),
        )

    def detours(self) -> list[str]:
        return ["d0", "p1", "end"][: self.rng.choice((0, 0, 1, 1, 2, 3))]

    def outline(self, size: int, depth: int) -> dict[str, Any]:
        """Name -> None for a leaf, an outline for a compound, a list of outlines if parallel."""
        return {self.names.pop(0): self.inside(depth) for _ in range(size)}

    def inside(self, depth: int) -> Any:
        shape = self.rng.random()
        if depth >= 3 or shape < (0.5, 0.75, 0.9)[depth]:
            return None
        if shape < 0.8:
            return self.outline(self.rng.choice((1, 2, 2, 3)), depth + 1)
        return [self.outline(self.rng.randint(1, 2), depth + 1) for _ in range(2)]

    def phases(self, outline: dict[str, Any], targets: list[str]) -> dict[str, Phase]:
        marked = self.rng.choice([None, *outline])
        return {
            name: self.phase(name, inside, targets, initial=name == marked)
            for name, inside in outline.items()
        }

    def phase(self, name: str, inside: Any, targets: list[str], *, initial: bool) -> Phase:
        final = inside is None and self.rng.random() < 0.15
        near = [*targets, name]
        return Phase(
            initial=initial,
            final=final,
            entry=self.guard() if self.rng.random() < 0.15 else None,
            on_enter=self.actions(),
            on_exit=self.actions(),
            transitions=() if final else self.transitions(near, at_most=2),
            phases=self.phases(inside, targets) if isinstance(inside, dict) else {},
            regions={
                f"r{n}": Region(phases=self.phases(part, targets)) for n, part in enumerate(inside)
            }
            if isinstance(inside, list)
            else {},
        )

    def transitions(self, targets: list[str], at_most: int) -> tuple[Transition, ...]:
        return tuple(
            Transition(
                to=self.rng.choice(targets),
                when=self.guard(),
                on=self.event(),
                do=self.actions(),
                immediately=True,
                external=self.rng.random() < 0.5,
                history=self.rng.choice((None, None, "shallow", "deep")),
            )
            for _ in range(self.rng.randint(0, at_most))
        )

    def event(self) -> str | None:
        return self.rng.choice((None, None, *EVENTS, *EVENTS))

    def guard(self) -> Guard:
        one, other = (is_true(key) for key in self.rng.sample(KEYS, 2))
        return self.rng.choice((one, ~one, one & other, one | ~other, one & ~other))

    def actions(self) -> tuple[Action, ...]:
        if self.rng.random() < 0.6:
            return ()
        return (Action(set={self.rng.choice(KEYS): self.rng.random() < 0.5}),)


def _names(outline: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for name, inside in outline.items():
        found.append(name)
        for part in inside if isinstance(inside, list) else [inside] if inside else []:
            found += _names(part)
    return found
