"""Keys that are read although nothing writes them."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.errors import near_miss
from flowengine.extract.spec import OnComplete
from flowengine.flow.action import Action
from flowengine.flow.diagnostic import Finding, Patch, pointer, warning
from flowengine.flow.index import Index
from flowengine.flow.uses import Use, is_runtime, reads, root_of, writes
from flowengine.guards import Guard, rename
from flowengine.state.keys import bare


def unknown_keys(index: Index) -> Iterator[Finding]:
    """Every key that is read is declared, or written by something."""
    declared = {bare(name) for name in index.flow.state}
    known = declared | {bare(use.key) for use in writes(index)}
    guards = dict(index.guards)
    for use in _each_once(reads(index)):
        if is_runtime(use.key) or root_of(use.key, known) is not None:
            continue
        guess = near_miss(bare(use.key), sorted(known))
        yield Finding(
            "unknown_state_key",
            f"nothing declares or writes key {use.key!r}",
            use.path,
            suggestion=f"did you mean {guess!r}?"
            if guess
            else "declare it under `state` if it comes from outside",
            fix=_fix(use, guess, guards.get(use.path)),
            word=use.key,
        )


def unwritten_keys(index: Index) -> Iterator[Finding]:
    """A declared key that is read gets a value from somewhere."""
    if _has_functions_that_write(index):
        return
    written = {bare(use.key) for use in writes(index)}
    given = {
        bare(n) for n, key in index.flow.state.items() if key.default is not None or key.writers
    }
    for use in _each_once(reads(index)):
        declared = root_of(use.key, {bare(name) for name in index.flow.state})
        if declared is not None and root_of(use.key, written | given) is None:
            yield warning(
                "unwritten_key",
                f"key {use.key!r} is read, but nothing in the flow writes it",
                use.path,
                suggestion="if it comes from outside, say so: `writers: [channel]`",
                word=use.key,
            )


def _each_once(uses: Iterator[Use]) -> Iterator[Use]:
    """The first place where each key is read: one mistake, one finding."""
    seen: set[str] = set()
    for use in uses:
        if bare(use.key) not in seen:
            seen.add(bare(use.key))
            yield use


def _fix(use: Use, guess: str | None, guard: Guard | None) -> Patch:
    """The near miss in place of the key, where the whole value is a key or a guard."""
    if guess is None:
        return ()
    if guard is not None:
        value = str(rename(guard, {bare(use.key): guess}))
    elif use.path[-1] in ("of", "key") or isinstance(use.path[-1], int):
        value = guess
    else:
        return ()
    return ({"op": "replace", "path": pointer(use.path), "value": value},)


def _has_functions_that_write(index: Index) -> bool:
    return any(
        part.run is not None for _, part in index.parts if isinstance(part, Action | OnComplete)
    )
