"""Keys that are read although nothing writes them, and keys that look misspelt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain

from flowengine.errors import near_miss, slip_of
from flowengine.extract.spec import OnComplete
from flowengine.flow.action import Action
from flowengine.flow.diagnostic import Finding, Patch, pointer, warning
from flowengine.flow.index import Index
from flowengine.flow.uses import Use, is_runtime, mentions, reads, root_of, writes
from flowengine.guards import Compare, Constant, Guard, Read, atoms_of, rename
from flowengine.guards.lookup import roots
from flowengine.state.keys import bare


def unknown_keys(index: Index) -> Iterator[Finding]:
    """Every key that is read, cleared or rested on is declared, or written by something."""
    declared = {bare(name) for name in index.flow.state}
    known = declared | {bare(use.key) for use in writes(index)}
    guards = dict(index.guards)
    for use in _each_once(chain(reads(index), mentions(index))):
        if is_runtime(use.key) or root_of(use.key, known) is not None:
            continue
        if use.path in guards and (meant := _as_text(index, use, guards[use.path])):
            yield meant
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


def _as_text(index: Index, use: Use, guard: Guard) -> Finding | None:
    """`hardship == job`, where the text "job" was meant: a word without quotes is a key."""
    leaves = [leaf for leaf in atoms_of(guard) if isinstance(leaf, Compare)]
    word = Read("key", use.key)
    compared = next((leaf for leaf in leaves if word in leaf.terms[1:] and "==" in leaf.ops), None)
    if compared is None:
        return None
    text = Constant(json.dumps(use.key))
    cured = Compare(tuple(text if t == word else t for t in compared.terms), compared.ops)
    value = str(guard).replace(str(compared), str(cured))
    keys = [index.flow.state.get(bare(t.name)) for t in compared.terms if isinstance(t, Read)]
    certain = any(key is not None and use.key in (key.enum or ()) for key in keys)
    return Finding(
        "unknown_state_key",
        f"nothing declares or writes key {use.key!r}",
        use.path,
        suggestion=f"text is quoted: {text}",
        fix=({"op": "replace", "path": pointer(use.path), "value": value},) if certain else (),
        word=use.key,
    )


def misspelt_keys(index: Index) -> Iterator[Finding]:
    """A key that only one place names, by writing it, and that is nearly another one."""
    named = {root for use in reads(index) for root in roots(use.key)}
    named |= {bare(name) for name in index.flow.state}
    written = [use for use in writes(index) if _names_its_key(use)]
    others = named | {bare(use.key) for use in writes(index) if use not in written}
    for use in written:
        guess = slip_of(bare(use.key), others) if root_of(use.key, others) is None else None
        if guess is not None:
            yield warning(
                "misspelt_key",
                f"key {use.key!r} is written here, and nothing else names it",
                use.path,
                suggestion=f"did you mean {guess!r}?",
                fix=_respelt(use, guess),
                on_key=use.path[-1] == use.key,
                word=use.key,
            )


def _names_its_key(use: Use) -> bool:
    """Whether the key was written out here, and is not merely the name of a field."""
    return use.by == "action" or use.by.startswith("tool:") or use.path[-1:] == ("to",)


def _respelt(use: Use, guess: str) -> Patch:
    if use.path[-1] == use.key:
        to = pointer((*use.path[:-1], guess))
        return ({"op": "move", "from": pointer(use.path), "path": to},)
    return ({"op": "replace", "path": pointer(use.path), "value": guess},)


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
