"""Questions that nobody asks about, and answers that no question gives."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.decide.expectations import impossible
from flowengine.decide.spec import DecisionSpec
from flowengine.errors import near_miss
from flowengine.flow.diagnostic import Finding, Patch, Path, pointer, warning
from flowengine.flow.index import Index
from flowengine.flow.uses import reads
from flowengine.guards import Decided, Guard, atoms_of
from flowengine.state.keys import bare


def impossible_expectations(index: Index) -> Iterator[Finding]:
    """Every answer that a guard waits for is one that its question can have."""
    for path, guard in index.guards:
        for leaf in atoms_of(guard):
            spec = index.flow.decisions.get(leaf.id) if isinstance(leaf, Decided) else None
            if isinstance(leaf, Decided) and spec is not None and (why := impossible(spec, leaf)):
                yield Finding(
                    "impossible_expectation", why, path, fix=_fix(guard, leaf, spec, path),
                    word=str(leaf),
                )  # fmt: skip


def _fix(guard: Guard, leaf: Decided, spec: DecisionSpec, path: Path) -> Patch:
    """The option that was meant, where one is nearly spelled so."""
    guess = near_miss(leaf.answer, spec.options) if isinstance(leaf.answer, str) else None
    if guess is None:
        return ()
    cured = str(guard).replace(str(leaf), str(Decided(leaf.id, guess)))
    return ({"op": "replace", "path": pointer(path), "value": cured},)


def unused_questions(index: Index) -> Iterator[Finding]:
    """What a question finds out is asked for by a guard, or its key is read."""
    asked = {question.name for question in index.questions if question.kind == "decision"}
    read = {bare(use.key) for use in reads(index)}
    roots = read | {key.partition(".")[0] for key in read}
    for id, spec in index.flow.decisions.items():
        if id not in asked and not {f"decision:{id}", bare(spec.writes or "")} & roots:
            message = f"no guard asks for decision {id!r}, so it is never asked"
            yield warning("unused_question", message, ("decisions", id), on_key=True)
